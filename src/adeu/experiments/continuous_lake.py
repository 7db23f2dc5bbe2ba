"""How far each f gets along the continuous lake, where novelty fades before a place's direction is found."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu.agents.agent import AnyAgent
from adeu.experiments import explore
from adeu.experiments.lib import control_tasks
from adeu.experiments.lib.experiment import Experiment, Metric
from adeu.experiments.lib.jax_setting import TASKS, JaxSetting
from adeu.experiments.lib.training_setting import read_run
from adeu.experiments.lib.watch import TRAINED_SPREAD
from adeu.runs.statistics import Curves

TASK = "ContinuousLake"
PLACES: int = TASKS[TASK][0].size


def places(curves: Curves) -> NDArray[np.float64]:
    """Return how many places each greedy episode passed; k places pay 1/n + ... + k/n."""
    return (np.sqrt(1 + 8 * PLACES * curves["return"]) - 1) / 2


def agent(f: adeu.Mechanism, critics: int = 2, g: adeu.Normalizer | None = None) -> AnyAgent:
    return explore.td3(f, g or adeu.Saturating(1.0), adeu.Gaussian(), critics=critics)


def sac(f: adeu.Mechanism, g: adeu.Normalizer | None = None, center: Literal["mean", "sample"] = "mean") -> AnyAgent:
    return explore.sac(f, g or adeu.Saturating(1.0), adeu.Gaussian(), center=center)


BOTH = adeu.Product((adeu.Rnd(), adeu.Stakes(0.1, top=1.0)))
AGENTS = {
    "constant-0.1": agent(adeu.Constant(0.1), g=adeu.Identity()),
    "constant-0.3": agent(adeu.Constant(0.3), g=adeu.Identity()),
    "schedule": agent(adeu.Schedule(1.0, 0.0, explore.STEPS), g=adeu.Identity()),
    "rnd": agent(adeu.Rnd()),
    "rnd-slow": agent(adeu.Rnd(learning_rate=3e-6)),
    "q-std": agent(adeu.EnsembleStd(), explore.CRITICS),
    "td-error": agent(adeu.TdError()),
    "stakes-0.03": agent(adeu.Stakes(0.03)),
    "stakes-0.1": agent(adeu.Stakes(0.1)),
    "stakes-0.3": agent(adeu.Stakes(0.3)),
    "rnd-and-stakes": agent(BOTH),
    "rnd-or-stakes": agent(adeu.Sum((adeu.Rnd(), adeu.Stakes(0.1)))),
    "sac": sac(adeu.Constant(0.0), adeu.Identity(), center="sample"),
    "sac-constant-0.1": sac(adeu.Constant(0.1), adeu.Identity()),
    "sac-constant-0.3": sac(adeu.Constant(0.3), adeu.Identity()),
    "sac-rnd": sac(adeu.Rnd()),
    "sac-stakes": sac(adeu.Stakes(0.1)),
    "sac-rnd-and-stakes": sac(BOTH),
    "sac-own-and-rnd": sac(adeu.Rnd(), center="sample"),
}
"""TD3 with a constant or scheduled spread, novelty, disagreement of critics, TD errors, stakes, and two at once;
SAC with its own sampling, whose spread it learns for each state, with some of these f instead, and with both."""
BEST = ("sac-stakes", "sac-rnd-and-stakes")
"""The cases with the most places, which have controls."""


def setting(each: AnyAgent) -> JaxSetting:
    # The lake is deterministic, so one greedy episode is enough.
    return dataclasses.replace(explore.setting(TASK, each), evaluate_episodes=1)


CASES = explore.with_controls({name: setting(each) for name, each in AGENTS.items()}, *BEST)

EXPERIMENT = Experiment(
    name="continuous-lake",
    title="The continuous lake: how many of its 20 places each f passes in 30,000 steps",
    takes="ten minutes",
    lesson="Novelty fades at the frontier, which every episode visits; an f that stays high there leads further.",
    cases=CASES,
    metrics=(
        Metric("best", "places passed, at best", lambda curves: places(curves).max(axis=1), ".1f"),
        Metric("final", "places passed, at the end", lambda curves: places(curves)[:, -1], ".1f"),
        TRAINED_SPREAD,
    ),
    draw=control_tasks.draw_returns,
    bold="best",
    seeds=explore.SEEDS,
    read=read_run,
    reference="rnd",
)
