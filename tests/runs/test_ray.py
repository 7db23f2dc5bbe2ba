"""The Ray engine: even if a node is killed, it writes the same bytes as the local engine."""

import dataclasses
import functools
import os
import pickle
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import adeu
from adeu.core import npz
from adeu.envs import Lake
from adeu.experiments import mujoco
from adeu.experiments.lib.lake_setting import adeu_counts, epsilon_greedy
from adeu.runs.folder import CHECKPOINT, DONE, KEPT
from adeu.runs.load import read_metrics
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep
from tests.runs.processes import members, said, start, wait_until
from tests.runs.waiting import Waiting

LONG = {"lake": Lake(size=60), "episodes": 2_000, "traced": (0.075,)}
CASES = {
    "adeu": dataclasses.replace(adeu_counts(), **LONG),
    "coin": dataclasses.replace(epsilon_greedy(), **LONG),
}


@pytest.fixture(scope="module")
def specs():
    return [Spec("lake", case, seed, setting) for seed in range(2) for case, setting in CASES.items()]


@pytest.fixture(scope="module")
def local(specs, tmp_path_factory):
    out = tmp_path_factory.mktemp("local")
    assert sweep(specs, out) == {}
    return contents(out)


def contents(out):
    """Return every file except the specs and the lock, without the digests of specs."""
    files = (path for path in sorted(out.rglob("*.*")) if path.is_file() and path.name not in ("spec.json", ".lock"))
    return {str(path.relative_to(out)): re.sub(rb'"spec": "\w+"', b"", path.read_bytes()) for path in files}


@pytest.fixture
def cluster():
    """Start a head without processors and two nodes with one each."""
    pytest.importorskip("ray", reason="pip install 'adeu-rl[ray]'")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        cluster.nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        yield cluster
    finally:
        cluster.shutdown()


def written(out, spec):
    """Return the inode and time of the done.json of a run."""
    file = (out / spec.name / DONE).stat()
    return file.st_ino, file.st_mtime_ns


class Killer:
    """Record events; kill a node once both wait with checkpoints, then let the runs continue."""

    def __init__(self, cluster, out, gate):
        self.cluster, self.out, self.gate = cluster, out, gate
        self.events, self.done, self.killed = [], {}, False

    def __call__(self, event):
        self.events.append(event)
        if event.finished:
            self.done[event.spec] = written(self.out, event.spec)
        if not self.killed and len(list(self.out.rglob(CHECKPOINT))) == 2:
            self.killed = True
            self.cluster.remove_node(self.cluster.nodes[0], allow_graceful=False)
        if event.retried:  # not before, because the run of a killed node may continue for a moment
            self.gate.touch()

    def of(self, spec):
        return [event for event in self.events if event.spec == spec]


@pytest.mark.filterwarnings("ignore")
def test_a_killed_node_changes_no_result(cluster, specs, local, tmp_path, monkeypatch):
    monkeypatch.setenv("ADEU_CHECKPOINT_SECONDS", "0.2")
    out, gate = tmp_path / "out", tmp_path / "gate"
    waiting = [dataclasses.replace(spec, setting=Waiting(spec.setting, str(gate))) for spec in specs]
    killer = Killer(cluster, out, gate)
    assert sweep(waiting, out, watch=killer, engine="ray", address=cluster.address) == {}
    assert contents(out) == local
    assert killer.done == {spec: written(out, spec) for spec in waiting}
    for spec in waiting:
        assert [event.finished for event in killer.of(spec)].count(True) == 1
    (resumed,) = [spec for spec in waiting if any(event.retried for event in killer.of(spec))]
    events = killer.of(resumed)
    death = next(i for i, event in enumerate(events) if event.retried)
    assert "NodeDied" in events[death].retried or "Crashed" in events[death].retried
    after = next(event.progress for event in events[death:] if event.progress)
    assert 0 < after.done < after.total
    import ray

    assert not ray.is_initialized()


CONTROLLED = ("rnd", "rnd-mean-matched", "rnd-shuffled")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_controls_get_the_arrays_of_their_source(cluster, tmp_path):
    """The arrays kept by a run on one node reach the caller, and then the node that runs its control."""
    pytest.importorskip("mujoco", reason="pip install 'adeu-rl[mujoco]'")
    cases, short = mujoco.cases("InvertedPendulum-v5", "td3"), {"steps": 3_000, "warmup": 1_000}
    every = {"evaluate_every": 1_000, "evaluate_episodes": 1}
    agents = {case: dataclasses.replace(cases[case].agent, hidden=(8,), batch=8) for case in CONTROLLED}
    settings = {case: dataclasses.replace(cases[case], agent=agents[case], **short, **every) for case in CONTROLLED}
    specs = [Spec("controls", case, 1, setting) for case, setting in settings.items()]
    assert sweep(specs, tmp_path / "ray", engine="ray", address=cluster.address) == {}
    assert sweep(specs, tmp_path / "local", jobs=2) == {}
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    runs = {case: tmp_path / f"ray/controls/{case}/seed-1" for case in CONTROLLED}
    kept = npz.unpack((runs["rnd"] / KEPT).read_bytes())
    decided = kept["spread"][1_000:][kept["asked"][1_000:]]
    assert decided.std() > 0
    mean, shuffled = (read_metrics(runs[case] / "metrics.csv") for case in CONTROLLED[1:])
    for name in ("spread_p10", "spread_p90"):
        assert mean[name][2:] == pytest.approx(np.full(2, decided.mean()), rel=1e-5)
        assert ((decided.min() <= shuffled[name][2:]) & (shuffled[name][2:] <= decided.max())).all()
    assert (shuffled["spread_p10"][2:] < shuffled["spread_p90"][2:]).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_local_cluster_can_be_interrupted(tmp_path):
    """Ctrl-C prints a message, keeps the checkpoints and ends all processes."""
    pytest.importorskip("ray", reason="pip install 'adeu-rl[ray]'")
    out = tmp_path / "out"
    arguments = ["frozen-lake", "--set", "lake.size=60", "--set", "episodes=1000000", "--seeds", "0", "--jobs", "2"]
    process = start(*arguments, "--engine", "ray", out=out)
    wait_until(lambda: list(out.rglob(CHECKPOINT)), process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 130
    assert "Interrupted. Complete runs are kept; run the same command to resume." in said(out)
    assert "Traceback" not in said(out)
    wait_until(lambda: not members(process.pid))
    assert list(out.rglob(CHECKPOINT))


def test_a_tabular_run_imports_no_framework():
    pytest.importorskip("ray", reason="pip install 'adeu-rl[ray]'")
    trainer = pickle.dumps(dataclasses.replace(CASES["adeu"], episodes=100).trainer(0))
    for module in ("worker", "task"):
        script = (
            f"import sys, pickle, adeu.runs.engines.{module}; pickle.load(sys.stdin.buffer).advance(); "
            "print([name for name in ('jax', 'torch', 'matplotlib') if name in sys.modules])"
        )
        run = subprocess.run([sys.executable, "-c", script], input=trainer, capture_output=True, check=True)
        assert run.stdout.strip() == b"[]"


def test_a_missing_ray_is_reported(specs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "adeu.runs.engines.ray", raising=False)
    monkeypatch.delattr(adeu.runs.engines, "ray", raising=False)
    with pytest.raises(ValueError, match=r"needs Ray.*pip install 'adeu-rl\[ray\]'"):
        sweep(specs, tmp_path, engine="ray")


def test_bad_engines_are_rejected(specs, tmp_path):
    with pytest.raises(ValueError, match="engine takes 'local' or 'ray', got 'dask'"):
        sweep(specs, tmp_path, engine="dask")
    with pytest.raises(ValueError, match="address takes None unless the engine is 'ray', got 'auto'"):
        sweep(specs, tmp_path, address="auto")


@pytest.mark.filterwarnings("ignore")
def test_an_address_without_a_cluster_is_rejected(specs, tmp_path, monkeypatch):
    """Hide other clusters of this machine, such as that of a parallel test, which "auto" would find."""
    pytest.importorskip("ray", reason="pip install 'adeu-rl[ray]'")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(set))
    with pytest.raises(ValueError, match="--address takes the address of a running cluster, got 'auto'"):
        sweep(specs, tmp_path, engine="ray", address="auto")
