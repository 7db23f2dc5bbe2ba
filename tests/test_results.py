"""The stored results: their summaries and the tables of the docs agree with the single runs."""

import json
import pathlib
import shutil

import numpy as np
import pytest

from adeu.experiments import locate
from adeu.runs.folder import digest, done, to_csv, write_json
from adeu.runs.identity import to_data

pytest.importorskip("results.keep", reason="the source distribution has no results")
from results import keep, main_table

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


@pytest.mark.parametrize("name", main_table.PAGES)
def test_pages_have_the_tables_of_the_stored_runs(name):
    page, table = main_table.PAGES[name]
    text = page.read_text()
    assert main_table.replaced(text, name, table()) == text, "run `python -m results.main_table`"


def as_run(folder, case, seed, setting, shift=0.0, rows=51):
    """Write a stored run of Walker2d as a complete run of this case and seed, with other returns."""
    run = folder / case / f"seed-{seed}"
    run.mkdir(parents=True)
    spec = {"experiment": "mujoco/Walker2d-v5", "case": case, "seed": seed, "setting": to_data(setting)}
    write_json(run / "spec.json", spec)
    stored = [row for row in keep.read_runs(WALKER / keep.RUNS) if (row["case"], row["seed"]) == (case, "100")]
    names = [name for name in stored[0] if name not in keep.KEYS]
    columns = {name: [float(row[name] or "nan") for row in stored[:rows]] for name in names}
    columns["return"] = [value + shift for value in columns["return"]]
    text = to_csv(columns)
    (run / "metrics.csv").write_text(text)
    (run / "done.json").write_bytes(done(text, 250_000, spec=digest(spec)))


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
    as_run(tmp_path / "runs", "rnd", 100, walker.cases["rnd"], shift=1.0)  # replaces the stored one
    keep.keep(tmp_path / "runs")
    after = keep.curves(results, walker)
    assert list(after) == list(before)
    assert after["rnd"]["seed"].tolist() == [7, *before["rnd"]["seed"]]
    assert np.array_equal(after["constant"]["return"], before["constant"]["return"])
    old, new = (curves["rnd"]["return"][curves["rnd"]["seed"] == 100] for curves in (before, after))
    np.testing.assert_allclose(new, old + 1.0, rtol=1e-5)
    np.testing.assert_allclose(after["rnd"]["return"][0], old[0], rtol=1e-5)
    rows = {(row["case"], row["metric"]): row for row in json.loads((results / keep.SUMMARY).read_text())}
    assert rows["rnd", "mean"]["seeds"] == len(after["rnd"]["seed"])
    assert rows["rnd", "mean"]["runs"]["100"] == pytest.approx(np.mean(old) + 1.0)


def test_runs_of_another_length_are_not_summarised(results, tmp_path):
    (walker,) = locate("mujoco/Walker2d-v5")
    as_run(tmp_path / "runs", "rnd", 7, walker.cases["rnd"], rows=50)
    with (
        pytest.warns(UserWarning, match="left out: the runs of 'rnd' differ"),
        pytest.raises(SystemExit, match="the runs of rnd differ in length"),
    ):
        keep.keep(tmp_path / "runs")


def test_runs_with_other_settings_are_not_stored(results, tmp_path):
    (walker,) = locate("mujoco/Walker2d-v5")
    as_run(tmp_path / "runs", "rnd", 7, walker.cases["rnd-32"])
    text = (results / keep.RUNS).read_text()
    with pytest.raises(SystemExit, match="has other settings than mujoco/Walker2d-v5/rnd"):
        keep.keep(tmp_path / "runs")
    assert (results / keep.RUNS).read_text() == text
    with pytest.raises(SystemExit, match="has no complete run"):
        keep.keep(pathlib.Path(tmp_path / "elsewhere"))
