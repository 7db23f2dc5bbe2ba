"""MountainCar-v0 by DQN: ez-adeu beside epsilon-greedy, where only the hill pays, and with -1 for every step."""

from __future__ import annotations

import adeu
from adeu.core.contract import Distribution
from adeu.experiments import control
from adeu.experiments.control import ControlSetting
from adeu.experiments.ended import read_on
from adeu.experiments.experiment import Experiment

OPTIONS, SINGLE = adeu.Options(1.5), adeu.Bernoulli()


def setting(D: Distribution, task: str) -> ControlSetting:
    return ControlSetting(adeu.Constant(0.2), adeu.Identity(), D, task)


EXPERIMENT = Experiment(
    name="mountain-car",
    title="MountainCar-v0 by DQN: options of repeated actions beside single ones",
    lesson="Solved: 95 of 100 greedy episodes climbed the hill; with a cost for each step, a mean of -110 or more.",
    cases={
        "ez-adeu": setting(OPTIONS, "MountainCar-v0, sparse"),
        "eps-greedy": setting(SINGLE, "MountainCar-v0, sparse"),
        "ez-adeu-step-cost": setting(OPTIONS, "MountainCar-v0"),
        "eps-greedy-step-cost": setting(SINGLE, "MountainCar-v0"),
    },
    metrics=control.METRICS,
    draw=control.draw,
    read=read_on,
    seeds=range(10),
)
