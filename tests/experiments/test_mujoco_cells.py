"""Train every cell of the main table from the command line, interrupt it and resume it."""

import json
import os
import signal

import numpy as np
import pytest

from adeu.experiments.mujoco import ENVIRONMENTS, ROWS
from adeu.runs.load import read_metrics
from tests.runs.processes import pause_at_checkpoint, said, start

SHORT = ("--steps", "1500", "--set", "warmup=500", "--set", "evaluate_every=500", "--set", "evaluate_episodes=1")


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_every_cell_runs(env, row, tmp_path):
    """Use the networks, batches and f of the table; the longest episodes have 1,000 steps."""
    pytest.importorskip("mujoco", reason="pip install 'adeu-rl[mujoco]'")
    out, command = tmp_path / "out", (f"mujoco/{env}/{row}", *SHORT, "--seeds", "0", "--jobs", "1")
    process = start(*command, out=out, checkpoint_seconds=1)
    assert pause_at_checkpoint(process, out), said(out)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 130
    assert start(*command, out=out, checkpoint_seconds=60).wait() == 0, said(out)
    name = f"{row}-steps=1500-warmup=500-evaluate_every=500-evaluate_episodes=1"
    columns = read_metrics(out / f"mujoco/{env}/{name}/seed-0/metrics.csv")
    assert columns["step"].tolist() == [0, 500, 1000, 1500]
    assert np.isfinite(columns["return"]).all()
    for name in columns.keys() - {"saturated", "spread_p10", "spread_p90"}:  # NaN if f was not asked
        assert np.isfinite(columns[name][1:]).all(), name
    figures = json.loads((out / f"mujoco/{env}/summary.json").read_text())
    assert {(figure["metric"], figure["value"] is None) for figure in figures} == {
        (name, False) for name in ("mean", "max", "iqm", "spread")
    }
