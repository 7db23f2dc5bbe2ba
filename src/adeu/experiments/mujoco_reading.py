"""How long the paper trained and how it began, told by its f = c row alone."""

from __future__ import annotations

import dataclasses

import adeu
from adeu.experiments import mujoco
from adeu.experiments.lib.experiment import Experiment, Family
from adeu.experiments.lib.training_setting import TrainingSetting, read_run

ENVIRONMENTS = ("Hopper-v5", "Walker2d-v5", "Swimmer-v5")
STEPS, WARMUPS = 300_000, (1_000, 25_000)


def cases(env: str) -> dict[str, TrainingSetting]:
    """A case for each number of random steps; each run holds all shorter ones as its beginning."""
    constant = mujoco.explored_by(env, "paper", adeu.Constant(mujoco.C))
    longest = dataclasses.replace(constant, steps=STEPS, single_every=100)
    return {f"warmup-{warmup}": dataclasses.replace(longest, warmup=warmup) for warmup in WARMUPS}


EXPERIMENT = Family(
    name="mujoco-reading",
    title="The main table's f = c row over 300,000 steps, with 1,000 and 25,000 random ones first",
    members=tuple(
        Experiment(
            name=f"mujoco-reading/{env}",
            title=f"TD3 with a constant spread of 0.2 on {env}",
            lesson="Which horizon and which random start bring the paper's mean and max of this row nearest.",
            cases=cases(env),
            metrics=mujoco.METRICS,
            draw=mujoco.draw_one,
            seeds=(1000, 1001),
            read=read_run,
        )
        for env in ENVIRONMENTS
    ),
    draw=mujoco.draw_all,
)
