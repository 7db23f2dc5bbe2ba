"""Shared by the experiments with Gymnasium's small control tasks: an agent, metrics and plots.

A run ends when it has solved its task; plots repeat its last evaluation up to the full length.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import adeu
from adeu.agents import Dqn
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import SOLVED, SPREAD, Metric, time_to_solve
from adeu.runs.statistics import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dqn(explorer: adeu.Explorer, **fields: Any) -> Dqn:
    """Return the agent of these experiments, with some fields changed."""
    usual: dict[str, Any] = {
        "hidden": (64, 64),
        "capacity": 50_000,
        "batch": 64,
        "update_every": 2,
        "target_every": 500,
    }
    return Dqn(explorer, double=True, **usual | fields)


METRICS = (
    dataclasses.replace(SOLVED, name="solved_rate", title="solved"),
    time_to_solve("first_solved", "first solved at step", "step"),
    Metric("best", "best evaluation, mean of seeds", lambda curves: np.max(curves["return"], axis=1), ".1f"),
    SPREAD,
)


def draw_returns(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the mean return of greedy episodes over steps."""
    return _draw(
        curves,
        plots.plot_mean,
        lambda curve: curve["return"],
        "return, mean of greedy episodes",
        plots.about(curves.values()),
        folder,
    )


def draw_solved(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the share of seeds that have solved the task, over steps; for cases with different rewards."""
    return _draw(
        curves,
        plots.plot_share,
        lambda curve: np.maximum.accumulate(curve["solved"], axis=1),
        "share of seeds solved",
        "band: Wilson's 95% interval",
        folder,
    )


def _draw(
    curves: Mapping[str, Curves],
    plot: Callable[[Axes, plots.Floats, plots.Floats, str, plots.Line, str], None],
    of: Callable[[Curves], plots.Floats],
    label: str,
    about: str,
    folder: pathlib.Path,
) -> list[pathlib.Path]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    styles = plots.style(curves)
    for case, curve in curves.items():
        plot(axes, curve["step"][0, :], of(curve), *styles[case], case)
    axes.set(xlabel="steps", ylabel=label)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_title(about, fontsize=9, loc="left", color="gray")
    return plots.save(figure, folder / "curves")
