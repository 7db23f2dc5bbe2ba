"""Every method of the family in one table: on a lake, and in the deep sea with fixed and shuffled actions."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import EPISODES_TO_SOLVE, Experiment, Family, Metric
from adeu.experiments.lib.explore_table import explore_table
from adeu.experiments.lib.family_methods import LAKE, SEA, SEAS, SIZE, TASKS, methods
from adeu.experiments.lib.family_tuned import TUNED
from adeu.runs.spec import Setting
from adeu.runs.statistics import Curves, iqm
from adeu.runs.statistics.estimate import average

SEEDS = range(100, 110)
"""Different from the seeds of `family-tuning`."""
TITLES = {
    "lake": f"a lake of {SIZE} x {SIZE}",
    "sea": f"DeepSea {SEA}",
    "sea-shuffled": f"DeepSea {SEA} with shuffled actions",
}
GOALS = {"lake": LAKE.rewards[1]} | {task: sea.treasure for task, sea in SEAS.items()}


def scaled(task: str, curves: Curves) -> NDArray[np.float64]:
    """Return each run's returns in [0, 1], where 1 is the goal's reward, of shape (seeds, evaluations)."""
    return np.asarray(np.clip(curves["return"] / GOALS[task], 0.0, 1.0))


def final(task: str, curves: Curves) -> NDArray[np.float64]:
    """Return the mean of the last tenth of each run's returns."""
    returns = scaled(task, curves)
    return average(returns[:, -max(1, returns.shape[1] // 10) :], axis=1)


def explored(curves: Curves) -> NDArray[np.float64]:
    """Return each run's share of exploring steps."""
    steps = np.diff(curves["step"], prepend=0.0, axis=1)
    return np.asarray((curves["explored"] * steps).sum(axis=1) / steps.sum(axis=1))


def metrics(task: str) -> tuple[Metric, ...]:
    return (
        Metric("final", "final, IQM", lambda curves: final(task, curves), ".2f", iqm),
        Metric("area", "area under the curve, IQM", lambda curves: average(scaled(task, curves), axis=1), ".2f", iqm),
        EPISODES_TO_SOLVE,
        Metric("explored", "steps explored", explored, ".2%", better=""),
    )


def member(name: str, task: str, cases: Mapping[str, Setting], seeds: range, reference: str = "") -> Experiment:
    return Experiment(
        name=f"{name}/{task}",
        title=f"earlier methods as special cases: {TITLES[task]}",
        takes="a minute",
        lesson=(
            "final: the mean return of the last tenth of the greedy episodes; area: the mean of all of them; both as "
            "shares of the goal's reward. All methods of a task have the same learner."
        ),
        cases=cases,
        metrics=metrics(task),
        draw=plots.first_solved,
        bold="area",
        seeds=seeds,
        reference=reference,
    )


def cases(task: str) -> dict[str, Setting]:
    """Return the setting of each method with the value tuned for the task."""
    return {name: each.build(task, TUNED[task][name]) for name, each in methods(task).items()}


MARKERS = "os^vDPX*<>hd"


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the area under the curve over the share of exploring steps: a point per method, a picture per task."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.5), layout="constrained")
    row = figure.subplots(1, len(members), sharey=True, squeeze=False)[0]
    names = list(dict.fromkeys(case for curves in members.values() for case in curves))
    looks = {
        case: (plots.COLORS[place % len(plots.COLORS)], MARKERS[place % len(MARKERS)])
        for place, case in enumerate(names)
    }
    for axes, (name, curves) in zip(row, members.items(), strict=True):
        task = name.rpartition("/")[2]
        for case, curve in curves.items():
            color, marker = looks[case]
            area, share = iqm(average(scaled(task, curve), axis=1)), 100 * float(np.mean(explored(curve)))
            value = area.value or 0.0
            low, high = (value if end is None else end for end in (area.low, area.high))
            axes.plot([share, share], [low, high], color=color, linewidth=1.2, alpha=0.6)
            axes.plot(share, value, marker, color=color, markersize=8, alpha=0.85, markeredgecolor="white")
        axes.set_xscale("symlog", linthresh=0.1)
        axes.set(xlabel="steps explored, %", ylim=(-0.03, 1.03), xlim=(-0.01, 130))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(TITLES[task], fontsize=10, loc="left")
        axes.grid(alpha=0.25)
    row[0].set_ylabel("return over training, share of the goal's\nIQM of seeds with its 95% interval")
    handles = [
        row[-1].plot([], [], marker, color=color, markersize=7, label=case)[0]
        for case, (color, marker) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside right center", fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "explored")


EXPERIMENT = Family(
    name="family",
    title="earlier methods as special cases, in one table: a lake and the deep sea",
    members=tuple(member("family", task, cases(task), SEEDS, "eps-greedy") for task in TASKS),
    draw=draw_all,
    table=explore_table,
)
