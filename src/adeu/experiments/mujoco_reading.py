"""Infers the paper's horizon and random start from its f = c row."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu.core import files, npz
from adeu.experiments import mujoco
from adeu.experiments.lib import nearest_reading
from adeu.experiments.lib.experiment import Experiment, Family
from adeu.experiments.lib.training_setting import TrainingSetting, read_run
from adeu.runs.folder import KEPT, stored_whole
from adeu.runs.statistics import Curves

ENVIRONMENTS = ("Hopper-v5", "Walker2d-v5", "Swimmer-v5")
STEPS, WARMUPS, SINGLE_EVERY = 300_000, (1_000, 25_000), 100
PAPER = {env: mujoco.PAPER[env][mujoco.ROWS.index("constant")] for env in ENVIRONMENTS}


def cases(env: str) -> dict[str, TrainingSetting]:
    """Return a case for each number of random steps; each run contains all shorter horizons."""
    constant = mujoco.explored_by(env, "paper", adeu.Constant(mujoco.C))
    longest = dataclasses.replace(constant, steps=STEPS, single_every=SINGLE_EVERY)
    return {f"warmup-{warmup}": dataclasses.replace(longest, warmup=warmup) for warmup in WARMUPS}


def read_singles(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's metrics with steps and returns of its single greedy episodes, padded with NaN."""
    columns, kept = read_run(folder), npz.unpack(files.read(folder / KEPT, folder, files.largest_arrays()))
    if "singles" not in kept:
        return columns
    # An episode has at least one step.
    most = stored_whole(folder, "steps") // stored_whole(folder, "single_every") + 1
    singles = np.full((3, most), np.nan)
    singles[:, : len(kept["singles"])] = np.asarray(kept["singles"], float).T
    return columns | {"single_step": singles[1], "single_return": singles[2]}


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the curves of all domains, and the distance of each reading."""
    return mujoco.draw_all(members, folder) + nearest_reading.draw(PAPER, members, folder)


EXPERIMENT = Family(
    name="mujoco-reading",
    title="the main table's f = c row over 300,000 steps, after 1,000 or 25,000 random steps",
    members=tuple(
        Experiment(
            name=f"mujoco-reading/{env}",
            title=f"TD3 with a constant spread of 0.2 on {env}",
            takes="an hour for a run on one core",
            lesson="Compares horizons and numbers of random steps by their distance from the paper's figures.",
            cases=cases(env),
            metrics=mujoco.METRICS,
            draw=mujoco.draw_one,
            seeds=(1000, 1001),
            read=read_singles,
        )
        for env in ENVIRONMENTS
    ),
    draw=draw_all,
    analysis=functools.partial(nearest_reading.show, PAPER),
)
