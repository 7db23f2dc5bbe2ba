"""CartPole-v1 by DQN whose coin is as uncertain as random network distillation says, beside a constant coin."""

from __future__ import annotations

import adeu
from adeu.experiments import control
from adeu.experiments.control import ControlSetting
from adeu.experiments.ended import read_on
from adeu.experiments.experiment import Experiment

TASK = "CartPole-v1"

EXPERIMENT = Experiment(
    name="cart-pole",
    title="CartPole-v1 by DQN, exploring where random network distillation is surprised",
    lesson="Solved: at some evaluation the mean of 100 greedy episodes was at least 475.",
    cases={
        "rnd": ControlSetting(adeu.Rnd(scale=10.0), adeu.Saturating(0.2), adeu.Bernoulli(), TASK),
        "eps-greedy": ControlSetting(adeu.Constant(0.05), adeu.Identity(), adeu.Bernoulli(), TASK),
    },
    metrics=control.METRICS,
    draw=control.draw,
    read=read_on,
)
