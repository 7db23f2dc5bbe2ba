"""What the experiments with Gymnasium's small control tasks share: an agent, metrics and pictures.

A run ends when it has solved its task; pictures extend its last evaluation to the end.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import adeu
from adeu.agents import Dqn
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Metric
from adeu.runs.statistics import Curves


def dqn(explorer: adeu.Explorer, **fields: Any) -> Dqn:
    """The agent of these experiments, with some fields changed."""
    usual: dict[str, Any] = {
        "hidden": (64, 64),
        "capacity": 50_000,
        "batch": 64,
        "update_every": 2,
        "target_every": 500,
    }
    return Dqn(explorer, double=True, **usual | fields)


def _first_solved(curves: Curves) -> float | None:
    """The median over seeds, None where that is a seed that never did."""
    solved = curves["solved"] > 0
    first = curves["step"][np.arange(len(solved)), solved.argmax(axis=1)]
    middle = float(np.median(np.where(solved.any(axis=1), first, np.inf)))
    return middle if np.isfinite(middle) else None


METRICS = (
    Metric("solved_rate", "solved", lambda curves: float((curves["solved"] > 0).any(axis=1).mean()), ".0%"),
    Metric("first_solved", "first solved at step, median", _first_solved),
    Metric(
        "best", "best evaluation, mean of seeds", lambda curves: float(curves["return"].max(axis=1).mean()), ".1f"
    ),
    Metric("spread", "mean spread", lambda curves: float(curves["spread"].mean()), ".3f"),
)


def draw_returns(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """The mean return of greedy episodes over steps."""
    return _draw(curves, lambda curve: curve["return"], "return, mean of greedy episodes", folder)


def draw_solved(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """The share of seeds that have solved the task, over steps: for cases whose returns are of different kinds."""
    return _draw(
        curves, lambda curve: np.maximum.accumulate(curve["solved"], axis=1), "share of seeds solved", folder
    )


def _draw(
    curves: Mapping[str, Curves], of: Callable[[Curves], Any], label: str, folder: pathlib.Path
) -> list[pathlib.Path]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    styles = plots.style(curves)
    for case, curve in curves.items():
        plots.plot_mean(axes, curve["step"][0], of(curve), *styles[case], case)
    axes.set(xlabel="steps", ylabel=label)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return plots.save(figure, folder / "curves")
