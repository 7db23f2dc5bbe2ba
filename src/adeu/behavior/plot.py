"""The plot of a behavior: uncertainty and spread over training, and within the last episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.behavior.course import Course
from adeu.behavior.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPISODES = 5
WIDE = 100.0
"""The ratio of the largest to the smallest value above which the axis is logarithmic."""
ROWS = {"uncertainty f(s)": "#d55e00", "spread g(f(s))": "#0072b2"}
"""The label and colour of each row."""


class Episode(NamedTuple):
    """The decisions of an episode that are still in the history."""

    ages: NDArray[np.int32]
    values: NDArray[np.float32]
    """f(s) in the first row, g(f(s)) in the second."""


def draw(course: Course, history: History, step: int, ceiling: float | None) -> Figure:
    """Return the plot after `step` steps; `ceiling` is that of g."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots(2, 2, sharex="col")
    steps, bands = course.until(step, history)
    episodes = last_episodes(history)
    for row, (label, color) in enumerate(ROWS.items()):
        left, right = axes[row]
        left.set_ylabel(label)
        _draw_course(left, steps, bands[:, row], color)
        _draw_episodes(right, [(episode.ages, episode.values[row]) for episode in episodes], color)
    if ceiling is not None:
        for each in axes[1]:
            each.axhline(ceiling, color="gray", linestyle=":")
    axes[0, 0].set_title("over training: median, 10th to 90th percentile", fontsize=10, loc="left")
    axes[0, 1].set_title(f"in the last episodes ({len(episodes)}), latest darkest", fontsize=10, loc="left")
    for below, label in zip(axes[1], ("steps of training", "steps of the episode"), strict=True):
        below.set_xlabel(label)
        below.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        below.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def _draw_course(axes: Axes, steps: NDArray[np.int64], band: NDArray[np.float32], color: str) -> None:
    low, median, high = band.T
    axes.plot(steps, median, color=color, marker="o" if len(steps) == 1 else "")
    axes.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)
    _scale(axes, band.ravel())
    if np.isnan(median).all():
        axes.text(0.5, 0.5, "f was not used", transform=axes.transAxes, ha="center", color="gray")


def _draw_episodes(axes: Axes, lines: list[tuple[NDArray[np.int32], NDArray[np.float32]]], color: str) -> None:
    for recency, (ages, values) in enumerate(lines, start=1 + EPISODES - len(lines)):
        axes.plot(ages, values, color=color, marker="o" if len(ages) == 1 else "", alpha=recency / EPISODES)
    _scale(axes, np.concatenate([values for _, values in lines]))


def _scale(axes: Axes, values: NDArray[np.float32]) -> None:
    known = values[~np.isnan(values)]
    if known.size and 0 < WIDE * known.min() < known.max():
        axes.set_yscale("log")


def last_episodes(history: History) -> list[Episode]:
    """Return the last episodes of all environments in the history, in the order in which they ended."""
    ages = history.recent(history.ages)
    values = np.stack([history.recent(history.uncertainties), history.recent(history.spreads)])
    found = []
    for env in range(ages.shape[1]):
        rows = np.flatnonzero(~np.isnan(values[1, :, env]))
        for part in np.split(rows, np.flatnonzero(ages[rows, env] == 0)):
            if part.size:
                found.append((part[-1], Episode(ages[part, env], values[:, part, env])))
    return [episode for _, episode in sorted(found, key=lambda each: each[0])[-EPISODES:]]
