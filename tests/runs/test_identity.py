"""Checkpoints and done.json contain a digest of their spec: files of another run are rejected."""

import dataclasses
import json
import shutil

import pytest

import adeu
from adeu.runs import identity
from adeu.runs.folder import CHECKPOINT, DONE, METRICS, SPEC, digest
from adeu.runs.spec import Spec
from adeu.runs.sweep import is_complete, sweep
from tests.runs.failing import Grown, Inner

pytestmark = pytest.mark.usefixtures("in_process")
SPECS = [Spec("grown", "case", seed, Grown(0.01)) for seed in (0, 1)]


def interrupt(options, specs, out):
    """Interrupt each run after its next piece, of four."""
    options["stop"] = 1
    assert len(sweep(specs, out)) == len(specs)
    options["stop"] = None
    assert all((out / spec.name / CHECKPOINT).exists() for spec in specs)


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_checkpoint_of_another_seed_is_rejected_and_other_runs_complete(in_process, tmp_path):
    interrupt(in_process, SPECS, tmp_path)
    shutil.copy(tmp_path / SPECS[1].name / CHECKPOINT, tmp_path / SPECS[0].name / CHECKPOINT)
    (reason,) = (failed := sweep(SPECS, tmp_path)).values()
    assert list(failed) == [SPECS[0]]
    assert reason == (
        "UnusableError: checkpoint/state.npz does not belong to this run (it has another spec); "
        "delete it to restart this run"
    )
    assert is_complete(SPECS[1], tmp_path)
    (tmp_path / SPECS[0].name / CHECKPOINT).unlink()
    assert sweep(SPECS, tmp_path) == {}


def test_an_interrupted_run_without_its_spec_is_not_resumed(in_process, tmp_path):
    interrupt(in_process, SPECS[:1], tmp_path)
    folder = tmp_path / SPECS[0].name
    (folder / SPEC).unlink()
    before = contents(folder)
    other = dataclasses.replace(SPECS[0], setting=Grown(50.0))
    for spec in (other, SPECS[0]):
        for _ in range(2):
            failed = sweep([spec, SPECS[1]], tmp_path)
            assert list(failed) == [spec]
            assert (
                f"{folder}: checkpoint/state.npz belongs to an unknown run, because spec.json is missing"
                in failed[spec]
            )
    assert contents(folder) == before
    assert is_complete(SPECS[1], tmp_path)


def test_a_complete_run_without_its_spec_is_not_overwritten(tmp_path):
    assert sweep(SPECS, tmp_path) == {}
    folder = tmp_path / SPECS[0].name
    (folder / SPEC).unlink()
    before = contents(folder)
    failed = sweep(SPECS, tmp_path)
    assert list(failed) == [SPECS[0]]
    assert "done.json belongs to an unknown run, because spec.json is missing" in failed[SPECS[0]]
    assert contents(folder) == before


def test_the_results_of_another_seed_are_rejected(tmp_path):
    assert sweep(SPECS, tmp_path) == {}
    for name in (DONE, METRICS):
        shutil.copy(tmp_path / SPECS[1].name / name, tmp_path / SPECS[0].name / name)
    for attempt in (lambda: sweep(SPECS, tmp_path), lambda: adeu.runs.load(tmp_path)):
        with pytest.raises(ValueError, match=r"seed-0/done\.json does not belong to the run in spec\.json"):
            attempt()


def test_the_spec_records_every_version_and_commit(in_process, tmp_path, monkeypatch):
    codes = [{"versions": {"adeu-rl": f"{version}"}, "commit": f"{version:040}"} for version in range(3)]
    for code in (codes[0], codes[0], codes[1]):
        monkeypatch.setattr(identity, "provenance", lambda code=code: code)
        interrupt(in_process, SPECS[:1], tmp_path)
    before = json.loads((tmp_path / SPECS[0].name / SPEC).read_text())
    assert {name: before[name] for name in codes[0]} == codes[0]
    assert before["resumed"] == [codes[1]]
    for code in (codes[2], codes[1]):  # the second sweep finds a complete run
        monkeypatch.setattr(identity, "provenance", lambda code=code: code)
        assert sweep(SPECS[:1], tmp_path) == {}
    assert json.loads((tmp_path / SPECS[0].name / SPEC).read_text()) == before | {"resumed": codes[1:]}


def forget(path, *fields):
    """Remove fields from a spec.json, as if written by an earlier version."""
    spec = json.loads(path.read_text())
    for field in fields:
        owner = spec["setting"]
        *way, last = field.split(".")
        for name in way:
            owner = owner[int(name) if name.isdigit() else name]
        del owner[last]
    path.write_text(json.dumps(spec))


LATE = ("late", "made", "inner.late", "inner.size", "parts.0.beta", "parts.0.num_states")


def test_a_run_without_fields_that_were_added_later_is_resumed(in_process, tmp_path):
    folder = tmp_path / SPECS[0].name
    assert sweep(SPECS[1:], tmp_path) == {}
    in_process["stop"] = 0  # only spec.json is written
    sweep(SPECS[:1], tmp_path)
    forget(folder / SPEC, *LATE)
    interrupt(in_process, SPECS[:1], tmp_path)
    assert sweep(SPECS, tmp_path) == {}
    stored = json.loads((folder / SPEC).read_text())
    assert "late" not in stored["setting"]
    assert json.loads((folder / DONE).read_text())["spec"] == digest(stored)
    assert is_complete(SPECS[0], tmp_path)
    assert (folder / METRICS).read_bytes() == (tmp_path / SPECS[1].name / METRICS).read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"late": "other"}, 'setting.late is "default" there and "other" here'),
        ({"made": (3,)}, r"setting.made is \[1, 2\] there and \[3\] here"),
        ({"inner": Inner(late=1.0)}, "setting.inner.late is 0.5 there and 1.0 here"),
        ({"parts": (adeu.Counts(beta=0.5),)}, "setting.parts"),
        ({"beta": 50.0}, "setting.beta is 0.01 there and 50.0 here"),
    ],
)
def test_a_missing_field_stands_for_its_default(changes, message, tmp_path):
    assert sweep(SPECS[:1], tmp_path) == {}
    forget(tmp_path / SPECS[0].name / SPEC, *LATE)
    other = dataclasses.replace(SPECS[0], setting=dataclasses.replace(SPECS[0].setting, **changes))
    with pytest.raises(ValueError, match=f"holds another run: .*{message}"):
        sweep([other], tmp_path)


def test_a_missing_field_without_a_default_is_rejected(tmp_path):
    assert sweep(SPECS[:1], tmp_path) == {}
    forget(tmp_path / SPECS[0].name / SPEC, "beta")
    with pytest.raises(ValueError, match=r"holds a run of another version .*setting.beta is missing there"):
        sweep(SPECS[:1], tmp_path)
