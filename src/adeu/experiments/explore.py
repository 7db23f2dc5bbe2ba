"""Tasks where exploration decides, and one where it should not: which f and D find the reward in 30,000 steps."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu.agents import Dqn, Sac, Td3
from adeu.agents.agent import AnyAgent
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import SPREAD, Experiment, Family, Metric
from adeu.experiments.lib.explore_table import explore_table
from adeu.experiments.lib.jax_setting import JaxSetting
from adeu.runs.statistics import Curves, iqm

SCALES: dict[str, tuple[float, float]] = {
    "MountainCarContinuous-v0": (0.0, 93.0),
    "SparsePendulum": (0.0, 150.0),
    "SwingUp": (0.0, 170.0),
    "PointMaze": (0.0, 90.0),
    "ContinuousLake": (0.0, 10.5),
    "DeepSea-30": (0.0, 0.99),
    "Pendulum-v1": (-1_300.0, -150.0),
}
"""Of each task the returns that count as 0 and as 1. 0: a policy that is never paid (of Pendulum-v1, one that acts at
random); 1: the whole path, a car that climbs at once, or about what a hand-written controller is paid."""
DISCRETE = ("DeepSea-30",)
STEPS, WARMUP, EVERY, EPISODES = 30_000, 1_000, 1_000, 10
SEEDS = range(100, 110)
"""Not those with which the tasks were made: their constants were chosen by runs of seed 0."""
LAST = 5
"""How many evaluations the final performance is a mean of."""
CRITICS = 5
"""Where f is what critics disagree about."""

Build = Callable[[float], AnyAgent]
"""An agent that explores with an amplitude: the largest spread."""


def td3(f: adeu.Mechanism, g: adeu.Normalizer, D: adeu.Distribution, **fields: Any) -> Td3:
    return Td3(adeu.Explorer(f, g, D), hidden=(64, 64), capacity=STEPS, learning_rate=1e-3, **fields)


def sac(f: adeu.Mechanism, D: adeu.Distribution, **fields: Any) -> Sac:
    explorer = adeu.Explorer(f, adeu.Identity(), D)
    return Sac(explorer, hidden=(64, 64), capacity=STEPS, learning_rate=1e-3, **fields)


def dqn(f: adeu.Mechanism, g: adeu.Normalizer, D: adeu.Distribution, **fields: Any) -> Dqn:
    usual: dict[str, Any] = {"hidden": (64, 64), "capacity": STEPS, "double": True}
    return Dqn(adeu.Explorer(f, g, D), **usual | fields)


BOX: dict[str, Build] = {
    "white": lambda c: td3(adeu.Constant(c), adeu.Identity(), adeu.Gaussian()),
    "pink": lambda c: td3(adeu.Constant(c), adeu.Identity(), adeu.Colored(1.0)),
    "ou": lambda c: td3(adeu.Constant(c), adeu.Identity(), adeu.OrnsteinUhlenbeck()),
    "options": lambda c: td3(adeu.Constant(c), adeu.Identity(), adeu.Options(2.0)),
    "no-noise": lambda c: td3(adeu.Constant(0.0), adeu.Identity(), adeu.Gaussian()),
    "rnd": lambda c: td3(adeu.Rnd(), adeu.Saturating(c), adeu.Gaussian()),
    "q-std": lambda c: td3(adeu.EnsembleStd(), adeu.Saturating(c), adeu.Gaussian(), critics=CRITICS),
    "sac": lambda c: sac(adeu.Constant(0.0), adeu.Gaussian(), center="sample"),
    "sac-white": lambda c: sac(adeu.Constant(c), adeu.Gaussian()),
}
COINS: dict[str, Build] = {
    "white": lambda c: dqn(adeu.Constant(c), adeu.Identity(), adeu.Bernoulli()),
    "no-noise": lambda c: dqn(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli()),
    "options": lambda c: dqn(adeu.Constant(c), adeu.Identity(), adeu.Options(2.0)),
    "rnd": lambda c: dqn(adeu.Rnd(), adeu.Saturating(c), adeu.Bernoulli()),
    "q-std": lambda c: dqn(adeu.EnsembleStd(), adeu.Saturating(c), adeu.Bernoulli(), ensemble=CRITICS),
}
"""The same for Discrete actions, where an amplitude is the largest probability of a random action."""
CONTROLLED = "rnd"
"""The adaptive case that has controls."""
UNTUNED = 0.5, 0.1
"""The amplitude of every case that `AMPLITUDES` does not name, in a Box and of coins."""
AMPLITUDES: dict[tuple[str, str], float] = {}
"""By task and case, chosen by `explore-tuning` on other seeds."""


def builds(task: str) -> dict[str, Build]:
    return COINS if task in DISCRETE else BOX


def setting(task: str, agent: AnyAgent) -> JaxSetting:
    return JaxSetting(
        task,
        agent,
        steps=STEPS,
        warmup=WARMUP,
        evaluate_every=EVERY,
        evaluate_episodes=EPISODES,
        enough=0,
        recorded=True,
    )


def cases(task: str) -> dict[str, JaxSetting]:
    """A setting for each case, and the controls."""
    untuned = UNTUNED[task in DISCRETE]
    settings = {
        case: setting(task, build(AMPLITUDES.get((task, case), untuned))) for case, build in builds(task).items()
    }
    adaptive = settings[CONTROLLED].agent
    explorer = dataclasses.replace(adaptive.explorer, f=adeu.Recorded(), g=adeu.Identity())
    mean = dataclasses.replace(
        settings[CONTROLLED],
        agent=dataclasses.replace(adaptive, explorer=explorer),
        source=CONTROLLED,
        recorded=False,
    )
    settings[f"{CONTROLLED}-mean-matched"] = mean
    settings[f"{CONTROLLED}-shuffled"] = dataclasses.replace(mean, control="shuffled")
    return settings


def scaled(task: str, curves: Curves) -> NDArray[np.float64]:
    """Each run's returns from 0 to 1, of shape (seeds, evaluations)."""
    low, high = SCALES[task]
    return np.clip((curves["return"] - low) / (high - low), 0.0, 1.0)


def metrics(task: str) -> tuple[Metric, ...]:
    return (
        Metric("final", "final, IQM", lambda curves: scaled(task, curves)[:, -LAST:].mean(axis=1), ".2f", iqm),
        Metric("area", "area under the curve, IQM", lambda curves: scaled(task, curves).mean(axis=1), ".2f", iqm),
        SPREAD,
    )


def draw_one(task: str, curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """The task's curves and spreads."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    plot(upper, curves, functools.partial(scaled, task), "return, scaled")
    plot(lower, curves, lambda curve: curve["spread"], "spread")
    upper.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    lower.set_xlabel("steps")
    upper.set_title(plots.about(curves.values()), fontsize=9, loc="left", color="gray")
    return plots.save(figure, folder / "curves")


def plot(axes: Any, curves: Mapping[str, Curves], of: Callable[[Curves], Any], label: str) -> None:
    styles = plots.style(curves)
    for case, curve in curves.items():
        plots.plot_mean(axes, curve["step"][0], of(curve), *styles[case], case)
    axes.set_ylabel(label)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """A small picture of each task."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 7), layout="constrained")
    grid = figure.subplots(2, 4)
    handles: dict[str, Any] = {}
    for axes, (name, curves) in zip(grid.flat, members.items(), strict=False):
        task = name.rpartition("/")[2]
        plot(axes, curves, functools.partial(scaled, task), "return, scaled")
        axes.set(ylim=(-0.03, 1.03))
        axes.set_title(task, fontsize=10, loc="left")
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    for axes in grid.flat[len(members) :]:
        axes.set_axis_off()
    figure.legend(handles.values(), handles, frameon=False, loc="lower right", fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "tasks")


LESSON = (
    "final: the mean of the last 5 of 30 evaluations, of 10 greedy episodes each; area: the mean of all of them; "
    "both scaled to [0, 1] for each task, by the interquartile mean of seeds. mean-matched and shuffled have RND's "
    "spreads without its places."
)


def member(
    name: str, task: str, cases: Mapping[str, JaxSetting], seeds: range = SEEDS, reference: str = "white"
) -> Experiment:
    return Experiment(
        name=f"{name}/{task}",
        title=f"Exploration on {task}",
        lesson=LESSON,
        cases=cases,
        metrics=metrics(task),
        draw=functools.partial(draw_one, task),
        bold="final",
        seeds=seeds,
        reference=reference,
    )


EXPERIMENT = Family(
    name="explore",
    title="Tasks where exploration decides: which f and which D find the reward in 30,000 steps",
    members=tuple(member("explore", task, cases(task)) for task in SCALES),
    draw=draw_all,
    table=explore_table,
)
