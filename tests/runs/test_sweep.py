"""Local sweeps: complete runs are skipped, interrupted ones resumed, and the number of workers does not matter."""

import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import adeu
from adeu.core.cores import cores
from adeu.envs import Lake
from adeu.experiments.lib.lake_setting import adeu_counts, epsilon_greedy
from adeu.runs.folder import Folder
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep
from adeu.runs.work import work
from tests.runs.keeping import Threads

SETTING = dataclasses.replace(adeu_counts(), lake=Lake(size=12), episodes=600, traced=(0.25,))
COIN = dataclasses.replace(epsilon_greedy(), lake=Lake(size=12), episodes=600)


def specs(seeds=(0, 1)):
    cases = {"adeu": SETTING, "coin": COIN}
    return [Spec("lake", case, seed, setting) for seed in seeds for case, setting in cases.items()]


def contents(out):
    """Return every file that must not depend on how the runs were executed."""
    return {
        str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*.csv")) + sorted(out.rglob("done.json"))
    }


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    out = tmp_path_factory.mktemp("one")
    assert sweep(specs(), out, jobs=1) == {}
    return out


def test_files_of_a_complete_run(one_worker):
    run = one_worker / "lake" / "adeu" / "seed-0"
    assert sorted(str(p.relative_to(run)) for p in run.rglob("*.*") if p.is_file()) == [
        "done.json",
        "metrics.csv",
        "spec.json",
        "traces/episode-150.csv",
    ]
    spec = json.loads((run / "spec.json").read_text())
    assert (spec["experiment"], spec["case"], spec["seed"]) == ("lake", "adeu", 0)
    assert spec["setting"]["episodes"] == 600
    assert "numba" in spec["versions"]
    assert len(spec["commit"] or "") in (0, 40)


def test_metrics_equal_the_results_of_training(one_worker):
    metrics = adeu.runs.load(one_worker)
    mine = (metrics["case"] == "adeu") & (metrics["seed"] == 1)
    result = adeu.tabular.run(SETTING.trainer(1).job)
    assert metrics["episode"][mine].tolist() == [100, 200, 300, 400, 500, 600]
    np.testing.assert_array_equal(metrics["return"][mine], result.returns)
    np.testing.assert_array_equal(metrics["step"][mine], result.steps.reshape(6, 100).sum(axis=1).cumsum())
    assert metrics["solved"][mine].tolist() == (result.returns >= 1e5).tolist()


def test_the_number_of_workers_does_not_change_files(one_worker, tmp_path):
    assert sweep(specs(), tmp_path, jobs=3) == {}
    assert contents(tmp_path) == contents(one_worker)


@pytest.mark.parametrize("jobs", [None, 1, 2])
@pytest.mark.parametrize("runs", [1, 3])
def test_the_number_of_runs_does_not_change_the_threads(jobs, runs, tmp_path):
    """Networks give other bytes with more threads, so the last run of a sweep must not get more."""
    assert sweep([Spec("threads", "record", seed, Threads()) for seed in range(runs)], tmp_path, jobs=jobs) == {}
    assert set(adeu.runs.load(tmp_path)["return"]) == {max(1, cores() // (jobs or cores()))}


def test_an_interrupted_run_resumes_from_its_checkpoint(one_worker, tmp_path):
    class StoppedError(Exception):
        pass

    class Stopping:
        """A trainer that is interrupted after some pieces."""

        def __init__(self, trainer, pieces):
            self.trainer, self.pieces = trainer, pieces

        def __getattr__(self, name):
            return getattr(self.trainer, name)

        def advance(self):
            if self.pieces == 0:
                raise StoppedError
            self.pieces -= 1
            return self.trainer.advance()

    (spec, *_) = specs()
    store = Folder(tmp_path)
    for _ in range(2):
        with pytest.raises(StoppedError):
            work(store, Stopping(SETTING.trainer(0), 2), lambda _: None, checkpoint_seconds=0)
    last = Stopping(SETTING.trainer(0), 2)
    work(store, last, lambda _: None)
    assert last.pieces == 0
    assert (tmp_path / "metrics.csv").read_bytes() == (one_worker / spec.name / "metrics.csv").read_bytes()
    assert not (tmp_path / "checkpoint" / "state.npz").exists()


def test_complete_runs_are_skipped(one_worker):
    before = {path: path.stat().st_mtime_ns for path in one_worker.rglob("*.*")}
    events = []
    assert sweep(specs(), one_worker, watch=events.append) == {}
    assert all(event.finished and not event.progress for event in events)
    assert {path: path.stat().st_mtime_ns for path in one_worker.rglob("*.*")} == before


def test_another_spec_in_the_folder_is_rejected(one_worker):
    other = Spec("lake", "adeu", 0, dataclasses.replace(SETTING, evaluate_every=50))
    with pytest.raises(
        ValueError, match=r"seed-0 holds another run: setting.evaluate_every is 100 there and 50 here"
    ):
        sweep([other], one_worker)


def test_a_run_of_another_version_is_rejected(tmp_path):
    (spec, *_) = specs()
    setting = spec.plain()["setting"]
    older = {"f": setting["agent"]["explorer"]["f"], "alpha": 0.5} | setting
    del older["agent"]
    path = tmp_path / spec.name / "spec.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(spec.plain() | {"setting": older | {"episodes": 7}}))
    message = (
        "seed-0 holds a run of another version of adeu, with different setting names: "
        "setting.agent is missing there; setting.f is unknown here; setting.alpha is unknown here. "
        "Choose another --out, or delete that folder"
    )
    with pytest.raises(ValueError, match=message):
        sweep([spec], tmp_path)
    assert [each.name for each in path.parent.iterdir()] == ["spec.json"]


def test_bad_settings_are_rejected_before_any_run(tmp_path):
    bad = Spec("lake", "bad", 0, dataclasses.replace(SETTING, episodes=50))
    with pytest.raises(ValueError, match="episodes takes at least evaluate_every=100, got 50"):
        sweep([*specs(), bad], tmp_path)
    assert list(tmp_path.iterdir()) == []


@dataclasses.dataclass(frozen=True)
class Failing:
    """A setting whose training raises an error in the worker."""

    goal: str = "no number"

    def trainer(self, seed):
        return dataclasses.replace(SETTING.trainer(seed), goal=self.goal)


def test_a_failed_run_does_not_affect_others(tmp_path):
    failing = Spec("lake", "failing", 0, Failing())
    failed = sweep([failing, *specs([0])], tmp_path, jobs=2)
    assert list(failed) == [failing]
    assert failed[failing].startswith("TypeError: '>=' not supported")
    assert (tmp_path / "lake" / "adeu" / "seed-0" / "done.json").exists()


def test_a_worker_does_not_import_jax():
    script = "import sys, adeu.runs.engines.worker, adeu.runs.trainers.tabular_trainer; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "False"


def test_load_rejects_an_empty_folder(tmp_path):
    with pytest.raises(ValueError, match="out takes a folder with complete runs"):
        adeu.runs.load(pathlib.Path(tmp_path))
