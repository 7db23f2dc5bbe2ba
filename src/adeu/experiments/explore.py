"""Hard exploration tasks, and an easy one as a control: which f and D find the reward in 30,000 steps."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import adeu
from adeu.agents import Dqn, Sac, Td3
from adeu.agents.agent import AnyAgent
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Experiment, Family, Metric
from adeu.experiments.lib.explore_table import ENOUGH, explore_table
from adeu.experiments.lib.explore_tuned import TUNED
from adeu.experiments.lib.jax_setting import JaxSetting
from adeu.experiments.lib.training_setting import read_run
from adeu.experiments.lib.watch import TRAINED_SPREAD
from adeu.runs.statistics import Curves, Estimate, iqm, share

SCALES: dict[str, tuple[float, float]] = {
    "MountainCarContinuous-v0": (0.0, 93.0),
    "SparsePendulum": (0.0, 150.0),
    "SwingUp": (0.0, 170.0),
    "PointMaze": (0.0, 90.0),
    "ContinuousLake": (0.0, 10.5),
    "DeepSea-30": (0.0, 0.99),
    "Pendulum-v1": (-1_300.0, -150.0),
}
"""The returns of each task that are scaled to 0 and to 1. 0: a policy without any reward (on Pendulum-v1, a random
policy); 1: the whole path, a car that climbs at once, or about the return of a hand-written controller."""
DISCRETE = ("DeepSea-30",)
STEPS, WARMUP, EVERY, EPISODES = 30_000, 1_000, 1_000, 10
SEEDS = range(100, 110)
"""Different from the seeds used to design the tasks (0) and to tune the amplitudes."""
LAST = 5
"""The final performance is the mean of this many last evaluations."""
CRITICS = 5
"""The number of critics if f is their disagreement."""
SCALE = 0.1
"""The scale of `Stakes`: less than the value of one rewarded step in any task with positive rewards."""
NOISES: dict[str, adeu.Distribution] = {
    "white": adeu.Gaussian(),
    "pink": adeu.Colored(1.0),
    "ou": adeu.OrnsteinUhlenbeck(),
    "options": adeu.Options(2.0),
}
COINS: dict[str, adeu.Distribution] = {"white": adeu.Bernoulli(), "options": adeu.Options(2.0, carried=True)}
"""The same for Discrete actions, where an amplitude is the largest probability to start exploring."""
SB3_OU = adeu.OrnsteinUhlenbeck(theta=0.0015, from_zero=True)
SB3_SPREAD = 1.826
"""The spread of `SB3_OU` for a sigma of 1: Stable-Baselines3's noise with its default theta and dt."""


def td3(f: adeu.Mechanism, g: adeu.Normalizer, D: adeu.Distribution, **fields: Any) -> Td3:
    return Td3(adeu.Explorer(f, g, D), hidden=(64, 64), capacity=STEPS, batch=64, learning_rate=1e-3, **fields)


def sac(f: adeu.Mechanism, g: adeu.Normalizer, D: adeu.Distribution, **fields: Any) -> Sac:
    return Sac(adeu.Explorer(f, g, D), hidden=(64, 64), capacity=STEPS, batch=64, learning_rate=1e-3, **fields)


def dqn(f: adeu.Mechanism, g: adeu.Normalizer, D: adeu.Distribution, **fields: Any) -> Dqn:
    explorer = adeu.Explorer(f, g, D)
    usual: dict[str, Any] = {"hidden": (64, 64), "capacity": STEPS, "batch": 64, "update_every": 4, "double": True}
    return Dqn(explorer, from_zero=True, **usual | fields)


Build = Callable[[float, adeu.Distribution], AnyAgent]
"""Builds an agent from an amplitude, its largest spread, and a D."""
BOX: dict[str, Build] = {
    "constant": lambda c, D: td3(adeu.Constant(c), adeu.Identity(), D),
    "rnd": lambda c, D: td3(adeu.Rnd(), adeu.Saturating(c), D),
    "q-std": lambda c, D: td3(adeu.EnsembleStd(), adeu.Saturating(c), D, critics=CRITICS),
    "stakes": lambda c, D: td3(adeu.Stakes(SCALE), adeu.Saturating(c), D),
    "sac-rnd": lambda c, D: sac(adeu.Rnd(), adeu.Saturating(c), D),
}
DISCRETE_AGENTS: dict[str, Build] = {
    "constant": lambda c, D: dqn(adeu.Constant(c), adeu.Identity(), D),
    "rnd": lambda c, D: dqn(adeu.Rnd(), adeu.Saturating(c), D),
    "q-std": lambda c, D: dqn(adeu.EnsembleStd(), adeu.Saturating(c), D, ensemble=CRITICS),
    "stakes": lambda c, D: dqn(adeu.Stakes(SCALE), adeu.Saturating(c), D),
}
ALONE: dict[str, Callable[[float], AnyAgent]] = {
    "sb3-ou": lambda c: td3(adeu.Constant(SB3_SPREAD * c), adeu.Identity(), SB3_OU),
    "rnd-bonus": lambda c: td3(
        adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian(), bonus=adeu.Product((adeu.Constant(c), adeu.Rnd()))
    ),
}
"""Cases with Box actions and a fixed D; the amplitude of `rnd-bonus` is the scale of its bonus."""


def noises(task: str) -> dict[str, adeu.Distribution]:
    return COINS if task in DISCRETE else NOISES


def builds(task: str) -> dict[str, Build]:
    return DISCRETE_AGENTS if task in DISCRETE else BOX


def setting(task: str, agent: AnyAgent) -> JaxSetting:
    return JaxSetting(
        task,
        agent,
        steps=STEPS,
        warmup=WARMUP,
        evaluate_every=EVERY,
        evaluate_episodes=EPISODES,
        enough=0,
    )


def agents(task: str) -> dict[str, AnyAgent]:
    """Return the agent of each case except the controls, with the amplitudes and the D tuned for the task."""
    tuned, D = TUNED[task], noises(task)
    build, best = builds(task), D[TUNED[task].noise]
    found = {name: build["constant"](tuned.amplitudes[name], D[name]) for name in D}
    found["no-noise"] = build["constant"](0.0, D["white"])
    found |= {name: build[name](tuned.amplitudes[name], best) for name in build if name != "constant"}
    if task not in DISCRETE:
        found |= {name: alone(tuned.amplitudes[name]) for name, alone in ALONE.items()}
        c = tuned.amplitudes["sac-rnd"]
        found["sac-constant"] = sac(adeu.Constant(c), adeu.Identity(), best)
        found["sac-stakes"] = sac(adeu.Stakes(SCALE), adeu.Saturating(c), best)
        found["sac"] = sac(adeu.Constant(0.0), adeu.Identity(), adeu.Gaussian(), center="sample")
    return found


def cases(task: str) -> dict[str, JaxSetting]:
    """Return the setting of each case, with two controls of the adaptive case that was best in tuning."""
    settings = {case: setting(task, agent) for case, agent in agents(task).items()}
    return with_controls(settings, TUNED[task].adaptive)


def with_controls(settings: Mapping[str, JaxSetting], *cases: str) -> dict[str, JaxSetting]:
    """Return the settings with two controls of each of these cases.

    They use the spreads of its run with the same seed: one their mean, the other a permutation of them.
    """
    found = dict(settings)
    for case in cases:
        found[case] = source = dataclasses.replace(settings[case], recorded=True)
        explorer = dataclasses.replace(source.agent.explorer, f=adeu.Recorded(), g=adeu.Identity())
        agent = dataclasses.replace(source.agent, explorer=explorer)
        mean = dataclasses.replace(source, agent=agent, source=case, recorded=False)
        found |= {f"{case}-mean-matched": mean, f"{case}-shuffled": dataclasses.replace(mean, control="shuffled")}
    return found


def scaled(task: str, curves: Curves) -> NDArray[np.float64]:
    """Return each run's returns scaled to [0, 1], of shape (seeds, evaluations)."""
    low, high = SCALES[task]
    return np.clip((curves["return"] - low) / (high - low), 0.0, 1.0)


def final(task: str, curves: Curves) -> NDArray[np.float64]:
    return np.asarray(scaled(task, curves)[:, -LAST:].mean(axis=1))


def middle(scores: ArrayLike) -> Estimate:
    """Return the IQM without an interval: none is reliable, because most runs are near 0 or near 1."""
    return Estimate(iqm(scores).value, None, None)


def metrics(task: str) -> tuple[Metric, ...]:
    def enough(curves: Curves) -> NDArray[np.bool_]:
        return final(task, curves) >= ENOUGH

    return (
        Metric("enough", f"final of at least {ENOUGH}", enough, ".0%", share),
        Metric("final", "final, IQM", functools.partial(final, task), ".2f", middle),
        Metric("area", "area under the curve, IQM", lambda curves: scaled(task, curves).mean(axis=1), ".2f", middle),
        TRAINED_SPREAD,
    )


def draw_one(task: str, curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the task's curves and spreads."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    plot(upper, curves, functools.partial(scaled, task), "return, scaled")
    plot(lower, curves, lambda curve: curve["spread"], "spread")
    upper.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    lower.set_xlabel("steps")
    upper.set_title(plots.about(curves.values()), fontsize=9, loc="left", color="gray")
    return plots.save(figure, folder / "curves")


def plot(axes: Any, curves: Mapping[str, Curves], of: Callable[[Curves], Any], label: str) -> None:
    styles = plots.style(curves)
    for case, curve in curves.items():
        plots.plot_mean(axes, curve["step"][0], of(curve), *styles[case], case)
    axes.set_ylabel(label)
    tidy(axes)


def tidy(axes: Any) -> None:
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.25)


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw a small picture of each task, with the mean over seeds of each case."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(15, 7), layout="constrained")
    grid = figure.subplots(2, 4, sharex=True, sharey=True)
    styles = plots.style(dict.fromkeys(case for curves in members.values() for case in curves))
    handles = {}
    for axes, (name, curves) in zip(grid.flat, members.items(), strict=False):
        task = name.rpartition("/")[2]
        for case, curve in curves.items():
            color, line = styles[case]
            (handles[case],) = axes.plot(
                curve["step"][0], scaled(task, curve).mean(axis=0), color=color, linestyle=line
            )
        tidy(axes)
        axes.set(ylim=(-0.03, 1.03))
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2.5, 5, 10]))
        axes.tick_params(labelbottom=True)
        axes.set_title(task, fontsize=10, loc="left")
    for axes in grid.flat[len(members) :]:
        axes.set_axis_off()
    figure.supxlabel("steps", fontsize=10)
    figure.supylabel("return, scaled; mean over seeds", fontsize=10)
    figure.legend(handles.values(), handles, loc="lower right", fontsize=9, ncols=2)
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "tasks")


LESSON = (
    "final: the mean of the last 5 of 30 evaluations, of 10 greedy episodes each; area: the mean of all of them; "
    "both are interquartile means over seeds of returns scaled to [0, 1] for each task. Most runs end near 0 or near "
    f"1: compare the shares of seeds with at least {ENOUGH}. mean-matched and shuffled use the spreads of the "
    "adaptive case, but not in the same states."
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
        read=read_run,
        reference=reference,
    )


EXPERIMENT = Family(
    name="explore",
    title="exploration tasks: which f and D find the reward in 30,000 steps",
    members=tuple(member("explore", task, cases(task)) for task in SCALES),
    draw=draw_all,
    table=explore_table,
)
