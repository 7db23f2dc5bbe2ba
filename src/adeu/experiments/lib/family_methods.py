"""The methods that `family` compares, each with one value to tune, and the learners of the tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import adeu
from adeu.core.contract import Distribution, Mechanism
from adeu.envs import Lake, Sea, deep_sea_mdp, lake_mdp
from adeu.experiments.deep_sea import SeaSetting
from adeu.experiments.lib.lake_setting import LakeSetting
from adeu.runs.spec import Setting
from adeu.tabular import Learners, QLearning, TableDqn

EPISODES, EVALUATE_EVERY = 10_000, 50
SIZE, SEA = 200, 30
LAKE = Lake(SIZE)
SEAS = {"sea": Sea(SEA), "sea-shuffled": Sea(SEA, actions="shuffled")}
TASKS = ("lake", *SEAS)
DURATION = 3
"""The number of steps in an exploration period of any trigger."""
EPSILON = 0.01
"""The epsilon of UTE, whose lambda is tuned."""
LENGTH = 7
"""The longest learned repetition."""


def setting(task: str, explorer: adeu.Explorer, **fields: Any) -> Setting:
    """Return the setting of an explorer on a task; `fields` are further fields of the learner."""
    if task == "lake":
        return LakeSetting(QLearning(explorer, **fields), LAKE, EPISODES, EVALUATE_EVERY)
    return SeaSetting(TableDqn(explorer, **fields), SEAS[task], steps=EPISODES * SEA, traced=())


def states(task: str) -> int:
    mdp = lake_mdp(LAKE) if task == "lake" else deep_sea_mdp(SEAS[task])
    return len(mdp.reward)


def horizon(task: str) -> int:
    return LAKE.max_steps if task == "lake" else SEA


def unit(task: str) -> float:
    """Return the unit of rewards: about the magnitude of a step's reward early in training."""
    return 1.0 if task == "lake" else 1e-3


class Method(NamedTuple):
    values: tuple[float, float, float]
    """The candidate values."""
    build: Callable[[str, float], Setting]
    """Builds the setting of a task with a value."""


RATES = (0.001, 0.01, 0.1)
"""Candidate probabilities to explore, or to start exploring."""


def coin(f: Mechanism, D: Distribution = adeu.recipes.UNIFORM) -> adeu.Explorer:
    return adeu.Explorer(f, adeu.Identity(), D)


def counting(f: Mechanism, D: Distribution = adeu.recipes.UNIFORM) -> adeu.Explorer:
    return adeu.Explorer(f, adeu.ShiftedSigmoid(2.0), D)


def ucb(task: str, lam: float) -> Setting:
    greedy = coin(adeu.Constant(0.0))
    if task == "lake":
        return setting(task, greedy, learners=Learners(size=5, mask_probability=0.5, start=1.0, ucb=lam))
    return setting(task, greedy, tables=10, start=0.1, center="ucb", ucb=lam)


def vdbe(task: str, sigma: float) -> adeu.Explorer:
    return adeu.recipes.vdbe(4 if task == "lake" else 2, states(task), sigma * unit(task))


def by_error(explorer: adeu.Explorer) -> adeu.Explorer:
    return dataclasses.replace(explorer, f=dataclasses.replace(explorer.f, signal="td_error"))  # type: ignore[call-arg]


def scheduled(task: str, start: float) -> adeu.Mechanism:
    """Return rollouts whose share falls from `start` to 0 over the maximal steps of half of the training."""
    return adeu.Rollouts(adeu.Counts(), adeu.Schedule(start, 0.0, steps=EPISODES * horizon(task) // 2), ROLLOUT)


ROLLOUT = 0.15
"""The value of f in rollouts if their share is tuned: they explore with probability 0.009."""
ARMS = (0.0, 0.1, 0.3, 1.0)

METHODS = {
    "eps-greedy": Method(RATES, lambda task, rate: setting(task, coin(adeu.Constant(rate)))),
    "adeu": Method(
        (1e-4, 1e-2, 1.0), lambda task, heat: setting(task, counting(adeu.Counts(beta=0.9), adeu.Categorical(heat)))
    ),
    "adeu-coin": Method((0.3, 0.9, 2.7), lambda task, beta: setting(task, counting(adeu.Counts(beta=beta)))),
    "ez-cut": Method(RATES, lambda task, rate: setting(task, coin(adeu.Constant(rate), adeu.Options(2.0)))),
    "ez-carried": Method(
        RATES, lambda task, rate: setting(task, coin(adeu.Constant(rate), adeu.Options(2.0, carried=True)))
    ),
    "ucb": Method((1.0, 3.0, 10.0), ucb),
    "bdqn": Method(
        (0.01, 0.1, 1.0),
        lambda task, start: setting(task, coin(adeu.Constant(0.0)), tables=10, start=start, center="sampled"),
    ),
    "vdbe": Method((0.1, 1.0, 10.0), lambda task, sigma: setting(task, vdbe(task, sigma))),
    "vdbe-td": Method((0.1, 1.0, 10.0), lambda task, sigma: setting(task, by_error(vdbe(task, sigma)))),
    "blind-every": Method(
        RATES,
        lambda task, rate: setting(task, adeu.recipes.blind_every(round(1 / rate), duration=DURATION)),
    ),
    "blind-chance": Method(
        RATES, lambda task, rate: setting(task, adeu.recipes.blind_chance(rate, duration=DURATION))
    ),
    "value-promise": Method(
        RATES, lambda task, rate: setting(task, adeu.recipes.value_promise(rate, duration=DURATION))
    ),
    "vdsc": Method(
        RATES, lambda task, rate: setting(task, adeu.recipes.vdsc(rate, counts=adeu.Counts(), duration=DURATION))
    ),
    "go-explore": Method(
        (1.0, 5.0, 20.0),
        lambda task, mean: setting(task, adeu.recipes.go_explore(longest=horizon(task), mean=mean)),
    ),
    "tempo-rl": Method(RATES, lambda task, rate: setting(task, adeu.recipes.tempo_rl(rate, LENGTH))),
    "ute": Method((-1.5, -0.5, 2.0), lambda task, lam: setting(task, adeu.recipes.ute(EPSILON, lam, LENGTH))),
    "rollouts-schedule": Method((0.1, 0.3, 1.0), lambda task, rho: setting(task, counting(scheduled(task, rho)))),
    "rollouts-bandit": Method(
        (0.1, 0.15, 0.3),
        lambda task, c: setting(task, counting(adeu.Rollouts(adeu.Counts(), adeu.ReturnBandit(ARMS), c))),
    ),
}


def methods(task: str) -> dict[str, Method]:
    """Return the methods for a task; tabular Q-learning on the lake has no bootstrapped heads."""
    return {name: each for name, each in METHODS.items() if task != "lake" or name != "bdqn"}
