"""Event files: TensorBoard reads the values of metrics.csv from them."""

import dataclasses
import json
import sys

import numpy as np
import pytest

from adeu.envs import Lake
from adeu.experiments.lib.lake_setting import adeu_counts
from adeu.runs.load import read_metrics
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep
from adeu.runs.tensorboard import NAME, EventFiles
from tests.command import run_here

SPEC = Spec("lake", "adeu", 0, dataclasses.replace(adeu_counts(), lake=Lake(size=12), episodes=2000))


def scalars(folder):
    """Return steps and values by tag, as TensorBoard loads them; a corrupt file gives fewer."""
    pytest.importorskip("tensorboard", reason="pip install 'adeu-rl[tensorboard]'")
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    found = {}
    for path in sorted(folder.glob(f"{NAME}*")):
        for record in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(record)
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return {tag: np.array(rows).T for tag, rows in found.items()}


def check(folder):
    metrics, found = read_metrics(folder / "metrics.csv"), scalars(folder)
    steps = metrics.pop("step")
    assert found.keys() == metrics.keys() >= {"return", "episode"}
    for tag, column in metrics.items():
        known = ~np.isnan(column)  # the spread is NaN before the first step
        np.testing.assert_array_equal(found[tag][0], steps[known])
        np.testing.assert_allclose(found[tag][1], column[known], rtol=1e-6)


def test_event_files_have_every_column(tmp_path, monkeypatch):
    pytest.importorskip("tensorboard", reason="pip install 'adeu-rl[tensorboard]'")
    monkeypatch.setenv("ADEU_CHECKPOINT_SECONDS", "0")
    assert sweep([SPEC], tmp_path / "plain") == {}
    assert sweep([SPEC], tmp_path / "watched", watch=EventFiles(tmp_path / "watched")) == {}
    check(tmp_path / "watched" / SPEC.name)
    plain, watched = ((tmp_path / name / SPEC.name / "metrics.csv").read_bytes() for name in ("plain", "watched"))
    assert plain == watched


def test_a_command_writes_event_files_along_with_checkpoints(tmp_path, monkeypatch):
    """In one file or two, because the first row may be written before the last one exists."""
    pytest.importorskip("tensorboard", reason="pip install 'adeu-rl[tensorboard]'")
    small = ["--set", "evaluate_every=600", "--set", "hidden=[8]", "--set", "batch=8", "--steps", "600"]
    small += ["--set", "warmup=100", "--set", "evaluate_episodes=1", "--seeds", "0:1", "--jobs", "1"]
    monkeypatch.setenv("ADEU_CHECKPOINT_SECONDS", "0")
    run = run_here("train", "Pendulum-v1", *small, "--tensorboard", "--json", "--out", tmp_path)
    assert run.returncode == 0, run.stderr
    assert "corrupt" not in run.stderr
    assert "continue" not in run.stderr
    assert np.isfinite(json.loads(run.stdout)[0]["value"])
    (folder,) = {path.parent for path in tmp_path.rglob(f"{NAME}*")}
    check(folder)
    assert scalars(folder).keys() >= {"spread", "spread_p10", "spread_p90", "saturated", "deviation"}


def test_rows_are_appended_and_files_of_earlier_commands_replaced(tmp_path):
    pytest.importorskip("tensorboard", reason="pip install 'adeu-rl[tensorboard]'")
    from adeu.runs.engines.event import Event
    from adeu.runs.work import Progress

    folder = tmp_path / SPEC.name
    folder.mkdir(parents=True)
    (folder / f"{NAME}.000002").write_bytes(b"half a rec")
    files, progress = EventFiles(tmp_path), Event(SPEC, Progress(1, 2, 3, {}))
    files(progress)
    lines = ["step,return,gap", "10,1.5,", "20,-2.5,", "30,1e300,4.0"]
    for rows in (1, 3):
        (folder / "metrics.csv").write_text("\n".join(lines[: 1 + rows]) + "\n")
        files(progress)
        assert len(scalars(folder)["return"][0]) == rows
    np.testing.assert_allclose(scalars(folder)["return"], [[10, 20, 30], [1.5, -2.5, np.inf]])
    assert scalars(folder)["gap"].tolist() == [[30], [4]]
    before = sorted((path.name, path.read_bytes()) for path in folder.iterdir())
    assert len(before) == 3  # metrics.csv and two event files
    files(Event(SPEC, finished=True))
    assert sorted((path.name, path.read_bytes()) for path in folder.iterdir()) == before


def test_a_missing_tensorboard_is_reported(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ValueError, match=r"need TensorBoard.*pip install 'adeu-rl\[tensorboard\]'"):
        EventFiles(tmp_path)
