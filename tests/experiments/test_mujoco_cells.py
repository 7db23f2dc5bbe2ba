"""Every cell of the main table, from the command line: it trains for 5,000 steps, and no figure is lost."""

import json

import numpy as np
import pytest

from adeu.experiments.mujoco import ENVIRONMENTS, ROWS
from adeu.runs.load import read_metrics
from tests.runs.processes import said, start

SHORT = ("--steps", "5000", "--set", "warmup=2500", "--set", "evaluate_every=2500", "--set", "evaluate_episodes=1")


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_every_cell_runs(env, row, tmp_path):
    pytest.importorskip("mujoco", reason="pip install 'adeu-rl[mujoco]'")
    out = tmp_path / "out"
    process = start(f"mujoco/{env}/{row}", *SHORT, "--seeds", "0", "--jobs", "1", out=out, checkpoint_seconds=60)
    assert process.wait() == 0, said(out)
    columns = read_metrics(out / f"mujoco/{env}/{row}/seed-0/metrics.csv")
    assert columns["step"].tolist() == [0, 2500, 5000]
    assert np.isfinite(columns["return"]).all()
    for name in columns.keys() - {"saturated", "spread_p10", "spread_p90"}:  # which exist where f was asked
        assert np.isfinite(columns[name][1:]).all(), name
    figures = json.loads((out / f"mujoco/{env}/summary.json").read_text())
    assert {(figure["metric"], figure["value"] is None) for figure in figures} == {
        (name, False) for name in ("mean", "max", "iqm", "spread")
    }
