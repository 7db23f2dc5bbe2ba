"""CartPole-v1 by DQN whose coin is as uncertain as random network distillation says, beside a constant coin."""

from __future__ import annotations

import adeu
from adeu.core.contract import Mechanism, Normalizer
from adeu.experiments import control
from adeu.experiments.control import ControlSetting
from adeu.experiments.ended import read_on
from adeu.experiments.experiment import Experiment


def setting(f: Mechanism, g: Normalizer) -> ControlSetting:
    return ControlSetting(
        f,
        g,
        adeu.Bernoulli(),
        "CartPole-v1",
        steps=150_000,
        update_every=1,
        target_every=200,
        evaluate_every=1_000,
    )


EXPERIMENT = Experiment(
    name="cart-pole",
    title="CartPole-v1 by DQN, exploring where random network distillation is surprised",
    lesson="Solved: at some evaluation the mean of 100 greedy episodes was at least 475.",
    cases={
        "rnd": setting(adeu.Rnd(scale=30.0), adeu.Saturating(0.2)),
        "eps-greedy": setting(adeu.Constant(0.05), adeu.Identity()),
    },
    metrics=control.METRICS,
    draw=control.draw_returns,
    read=read_on,
    reference="eps-greedy",
)
