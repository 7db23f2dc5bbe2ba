"""MountainCar-v0 by DQN: ez-adeu and epsilon-greedy, with a sparse reward and with -1 for every step."""

from __future__ import annotations

import adeu
from adeu.core.contract import Distribution
from adeu.experiments.lib import control_tasks
from adeu.experiments.lib.ended import read_extended
from adeu.experiments.lib.experiment import Experiment
from adeu.experiments.lib.jax_setting import JaxSetting

SPARSE, COSTLY = "MountainCar-v0, sparse", "MountainCar-v0"
EXPLORING = {"ez-adeu": adeu.Options(1.5), "eps-greedy": adeu.Bernoulli()}


def setting(D: Distribution, task: str, from_zero: bool = False) -> JaxSetting:
    agent = control_tasks.dqn(adeu.Explorer(adeu.Constant(0.2), adeu.Identity(), D), from_zero=from_zero)
    return JaxSetting(task, agent, steps=100_000, evaluate_every=2_500, evaluate_episodes=100)


EXPERIMENT = Experiment(
    name="mountain-car",
    title="MountainCar-v0 by DQN: repeated actions compared with single ones",
    takes="some minutes",
    lesson=(
        "Solved: 95 of 100 greedy episodes climbed the hill; with a cost for each step, a mean of -110 or more. "
        "If all values start at 0, only exploration can find the hill. Networks with the usual random weights prefer "
        "different actions in different states, which may be enough to swing the car."
    ),
    cases={
        **{name: setting(D, SPARSE, from_zero=True) for name, D in EXPLORING.items()},
        **{f"{name}-usual-init": setting(D, SPARSE) for name, D in EXPLORING.items()},
        **{f"{name}-step-cost": setting(D, COSTLY) for name, D in EXPLORING.items()},
    },
    metrics=control_tasks.METRICS,
    draw=control_tasks.draw_solved,
    read=read_extended,
    reference="eps-greedy",
    seeds=range(10),
)
