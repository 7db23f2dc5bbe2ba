"""MountainCar-v0, whose reward says nothing before the hill is climbed: ez-adeu beside epsilon-greedy."""

from __future__ import annotations

import adeu
from adeu.experiments import control
from adeu.experiments.control import ControlSetting
from adeu.experiments.ended import read_on
from adeu.experiments.experiment import Experiment

TASK = "MountainCar-v0"
START = adeu.Constant(0.1)

EXPERIMENT = Experiment(
    name="mountain-car",
    title="MountainCar-v0 by DQN: options of repeated actions beside single ones",
    lesson="Solved: at some evaluation the mean of 100 greedy episodes was at least -110. Both explore with 0.1.",
    cases={
        "ez-adeu": ControlSetting(START, adeu.Identity(), adeu.Options(2.0), TASK),
        "eps-greedy": ControlSetting(START, adeu.Identity(), adeu.Bernoulli(), TASK),
    },
    metrics=control.METRICS,
    draw=control.draw,
    read=read_on,
    seeds=range(10),
)
