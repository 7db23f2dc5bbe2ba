"""The DeepSea figure with networks instead of tables: DQN in a compiled training loop.

A run ends when it has solved the sea; the figure repeats its last evaluation up to the full length.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import adeu
from adeu.agents import Dqn
from adeu.core.contract import Distribution
from adeu.envs import Sea
from adeu.experiments import deep_sea
from adeu.experiments.lib.ended import read_extended
from adeu.experiments.lib.experiment import Family
from adeu.experiments.lib.jax_setting import JaxSetting

SIZES = (20, 40, 60, 80)


def setting(size: int, epsilon: float, D: Distribution, **fields: Any) -> JaxSetting:
    """Return the setting of DQN with K heads on one trunk in a deep sea; `fields` are further fields of the agent."""
    explorer = adeu.Explorer(adeu.Constant(epsilon), adeu.Identity(), D)
    agent = Dqn(explorer, learning_rate=3e-4, update_every=4, heads=True, **fields)
    every = deep_sea.EVALUATE_STEPS
    return JaxSetting(Sea(size), agent, steps=1_000_000, evaluate_every=every, enough=deep_sea.WINDOW // every)


def cases(size: int) -> dict[str, JaxSetting]:
    epsilon, ensemble = 1 / (size + 1), {"ensemble": 10, "prior": 3.0}
    return {
        "ez-cut": setting(size, epsilon, adeu.Options(2.0)),
        "ez-carried": setting(size, epsilon, adeu.Options(2.0, carried=True)),
        "bdqn": setting(size, 0.0, adeu.Bernoulli(), center="sampled", **ensemble),
        "ucb": setting(size, 0.0, adeu.Bernoulli(), center="ucb", ucb=3.0, **ensemble),
        "eps-greedy": setting(size, epsilon, adeu.Bernoulli()),
        "eps-greedy-usual-init": setting(size, epsilon, adeu.Bernoulli(), rows=1 / size),
    }


TITLE = "DeepSea with networks"

EXPERIMENT = Family(
    name="deep-sea-mlp",
    title=f"{TITLE}: steps to solve over the sea's size",
    members=tuple(
        dataclasses.replace(
            deep_sea.member("deep-sea-mlp", size, cases(size), TITLE, "a minute for a run"), read=read_extended
        )
        for size in SIZES
    ),
    draw=deep_sea.draw_all,
)
