"""CartPole-v1 by DQN: epsilon from random network distillation, compared with a constant epsilon."""

from __future__ import annotations

import adeu
from adeu.core.contract import Mechanism, Normalizer
from adeu.experiments.lib import control_tasks
from adeu.experiments.lib.ended import read_extended
from adeu.experiments.lib.experiment import Experiment
from adeu.experiments.lib.jax_setting import JaxSetting


def setting(f: Mechanism, g: Normalizer) -> JaxSetting:
    agent = control_tasks.dqn(adeu.Explorer(f, g, adeu.Bernoulli()), update_every=1, target_every=200)
    return JaxSetting("CartPole-v1", agent, steps=150_000, evaluate_every=1_000, evaluate_episodes=100)


EXPERIMENT = Experiment(
    name="cart-pole",
    title="CartPole-v1 by DQN with random network distillation",
    takes="some minutes",
    lesson="Solved: at some evaluation the mean of 100 greedy episodes was at least 475.",
    cases={
        "rnd": setting(adeu.Rnd(), adeu.Saturating(0.1)),
        "eps-greedy": setting(adeu.Constant(0.1), adeu.Identity()),
    },
    metrics=control_tasks.METRICS,
    draw=control_tasks.draw_returns,
    read=read_extended,
    reference="eps-greedy",
)
