"""The stored results: their summaries and the tables of the docs agree with the single runs."""

import json
import pathlib
import shutil

import numpy as np
import pytest

from adeu.experiments import locate
from adeu.runs.folder import write_json
from adeu.runs.identity import to_data

pytest.importorskip("results.keep", reason="the source distribution has no results")
from results import keep, main_table

PAGES = list(main_table.pages())
WALKER = keep.RESULTS / "mujoco" / "Walker2d-v5"


def assert_close(ours, stored):
    assert ours.keys() == stored.keys()
    for name, value in ours.items():
        if isinstance(value, dict):
            assert_close(value, stored[name])
        elif isinstance(value, float):
            assert stored[name] == pytest.approx(value, rel=1e-6, abs=1e-9), name
        else:
            assert stored[name] == value, name


@pytest.mark.parametrize("folder", keep.folders(), ids=lambda folder: folder.relative_to(keep.RESULTS).as_posix())
def test_summaries_are_those_of_the_stored_runs(folder):
    stored = json.loads((folder / keep.SUMMARY).read_text())
    for ours, theirs in zip(keep.summary(folder), stored, strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("page", "name", "table"), list(main_table.pages()), ids=lambda value: getattr(value, "name", "")
)
def test_pages_have_the_tables_of_the_stored_runs(page, name, table):
    text = page.read_text()
    assert main_table.replaced(text, name, table) == text, "run `python -m results.main_table`"


def as_run(folder, case, seed, setting):
    """Write a stored run of Walker2d as a complete run of this case and seed."""
    run = folder / case / f"seed-{seed}"
    run.mkdir(parents=True)
    write_json(run / "spec.json", {"experiment": "mujoco/Walker2d-v5", "case": case, "setting": to_data(setting)})
    rows = [row for row in keep.read_runs(WALKER / keep.RUNS) if (row["case"], row["seed"]) == (case, "100")]
    lines = [",".join(value or "nan" for value in list(row.values())[2:]) for row in rows]
    (run / "metrics.csv").write_text("\n".join([",".join(list(rows[0])[2:]), *lines, ""]))
    (run / "done.json").write_text("{}")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A copy of the stored runs of Walker2d."""
    shutil.copytree(WALKER, tmp_path / "mujoco" / "Walker2d-v5")
    monkeypatch.setattr(keep, "RESULTS", tmp_path)
    return tmp_path / "mujoco" / "Walker2d-v5"


def test_runs_are_added_to_the_stored_ones(results, tmp_path):
    (walker,) = locate("mujoco/Walker2d-v5")
    before = keep.curves(results, walker)
    as_run(tmp_path / "runs", "rnd", 7, walker.cases["rnd"])
    keep.keep(tmp_path / "runs")
    after = keep.curves(results, walker)
    assert list(after) == list(before)
    assert after["rnd"]["seed"].tolist() == [7, *before["rnd"]["seed"]]
    assert np.array_equal(after["constant"]["return"], before["constant"]["return"])
    assert np.array_equal(after["rnd"]["return"][1:], before["rnd"]["return"])
    first = before["rnd"]["seed"].tolist().index(100)
    assert np.array_equal(after["rnd"]["return"][0], before["rnd"]["return"][first])
    rows = {(row["case"], row["metric"]): row for row in json.loads((results / keep.SUMMARY).read_text())}
    assert rows["rnd", "mean"]["seeds"] == len(after["rnd"]["seed"])
    text = (results / keep.RUNS).read_text()
    keep.keep(tmp_path / "runs")
    assert (results / keep.RUNS).read_text() == text  # the same run is stored once


def test_runs_with_other_settings_are_not_stored(results, tmp_path):
    (walker,) = locate("mujoco/Walker2d-v5")
    as_run(tmp_path / "runs", "rnd", 7, walker.cases["rnd-32"])
    text = (results / keep.RUNS).read_text()
    with pytest.raises(SystemExit, match="has other settings than mujoco/Walker2d-v5/rnd"):
        keep.keep(tmp_path / "runs")
    assert (results / keep.RUNS).read_text() == text
    with pytest.raises(SystemExit, match="has no complete run"):
        keep.keep(pathlib.Path(tmp_path / "elsewhere"))
