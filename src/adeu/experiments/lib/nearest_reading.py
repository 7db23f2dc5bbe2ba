"""Finds the horizon and the number of random steps at the start whose figures are nearest to the paper's.

A run contains all shorter horizons. Over the evaluations up to a horizon, `mean` is the mean over
evaluations and seeds, and `max` the highest point of the seed-averaged curve. A reading's distance is

    sum over domains of |log(mean / paper's mean)| + |log(max / paper's max)|

A reading ties with the best if its distance exceeds the best's by no more than the range of the best's distances over
single seeds. Of the tied readings, the one with the shortest horizon is chosen.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Group
from rich.table import Table

from adeu.experiments.lib import plots
from adeu.runs.statistics import Curves, known_mean

Members = Mapping[str, Mapping[str, Curves]]
"""Curves by experiment, named after its domain, and by case, named after its random start."""
Paper = Mapping[str, tuple[float, float]]
"""The paper's mean and max by domain."""
Floats = NDArray[np.float64]
Take = Callable[[Curves, int], Floats]
"""Maps a case's runs and a horizon to the returns up to it: (seeds, evaluations), NaN after it."""

HORIZONS = range(50_000, 300_001, 50_000)
"""The candidates: round numbers only, because among many candidates some match by chance."""


class Reading(NamedTuple):
    """A horizon and a random start.

    Args:
        case: the case, named after its random start.
        horizon: the number of steps.
        figures: mean and max by domain.
        distance: the distance from the paper's figures.
        apart: the range of the distances of single seeds.
    """

    case: str
    horizon: int
    figures: Mapping[str, tuple[float, float]]
    distance: float
    apart: float


class ReadingChoice(NamedTuple):
    """The choice among several readings.

    Args:
        best: the reading with the least distance.
        tied: all readings that tie with it, including itself.
        chosen: the tied reading with the shortest horizon; None if all readings tie.
    """

    best: Reading
    tied: list[Reading]
    chosen: Reading | None


def regular(curve: Curves, horizon: int) -> Floats:
    """Return the regular evaluations, including the one at step 0."""
    return np.where(curve["step"] <= horizon, curve["return"], np.nan)


def single(curve: Curves, horizon: int) -> Floats:
    """Return the single greedy episodes, one per 100 training episodes, as the paper's text literally says."""
    return np.where(curve["single_step"] <= horizon, curve["single_return"], np.nan)


def figures(values: Floats) -> tuple[float, float]:
    """Return mean and max; the max is over the evaluations that every seed has."""
    return float(known_mean(values, 1).mean()), float(np.nanmax(values.mean(axis=0)))


def distance(values: Floats, paper: tuple[float, float]) -> float:
    """Return the distance for one domain; infinite if a figure is not positive."""
    pairs = zip(figures(values), paper, strict=True)
    return sum(abs(np.log(ours / theirs)) if ours > 0 else np.inf for ours, theirs in pairs)


def readings(members: Members, paper: Paper, horizons: Sequence[int], take: Take = regular) -> list[Reading]:
    """Return a reading for each random start and horizon."""
    cases = next(iter(members.values()))
    return [_read(members, paper, case, horizon, take) for case in cases for horizon in horizons]


def _read(members: Members, paper: Paper, case: str, horizon: int, take: Take) -> Reading:
    values = {name.rpartition("/")[2]: take(curves[case], horizon) for name, curves in members.items()}

    def total(seeds: slice) -> float:
        return sum(distance(each[seeds], paper[domain]) for domain, each in values.items())

    alone = [total(slice(seed, seed + 1)) for seed in range(min(map(len, values.values())))]
    apart = max(alone) - min(alone) if max(alone) < np.inf else np.inf
    return Reading(case, horizon, {name: figures(each) for name, each in values.items()}, total(slice(None)), apart)


def choose(found: Sequence[Reading]) -> ReadingChoice:
    best = min(found, key=lambda each: each.distance)
    tied = [each for each in found if each.distance <= best.distance + best.apart]
    shortest = min(tied, key=lambda each: (each.horizon, each.distance))
    return ReadingChoice(best, tied, shortest if len(tied) < len(found) else None)


def within(members: Members) -> list[int]:
    """Return the horizons that all runs reach; if there are none, the length of the shortest run."""
    last = int(min(curve["step"].max() for curves in members.values() for curve in curves.values()))
    return [horizon for horizon in HORIZONS if horizon <= last] or [last]


def show(paper: Paper, members: Members) -> Group:
    """Return a table for regular evaluations, which determine the choice, and one for single greedy episodes."""
    titles = {"Evaluations every 5,000 steps, including step 0": regular}
    if all("single_step" in curve for curves in members.values() for curve in curves.values()):
        titles["For comparison, one greedy episode per 100 training episodes"] = single
    return Group(*(_table(title, paper, members, take) for title, take in titles.items()))


def _table(title: str, paper: Paper, members: Members, take: Take) -> Table:
    found = readings(members, paper, within(members), take)
    choice = choose(found)
    shown = Table(
        title=title,
        caption=verdict(found, choice),
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        header_style="bold",
        box=box.SIMPLE,
        collapse_padding=True,
        pad_edge=False,
    )
    shown.add_column("random start", no_wrap=True)
    shown.add_column("horizon", justify="right")
    for domain in found[0].figures:
        shown.add_column(domain.removesuffix("-v5"), justify="right")
    shown.add_column("distance", justify="right")
    shown.add_column("between seeds", justify="right")
    shown.add_column("")
    shown.add_row("paper", "", *(_cell(paper[domain]) for domain in found[0].figures), style="dim italic")
    for each in found:
        mark = "chosen" if each is choice.chosen else "tie" if each in choice.tied else ""
        shown.add_row(
            each.case,
            f"{each.horizon:,}",
            *map(_cell, each.figures.values()),
            f"{each.distance:.2f}",
            f"{each.apart:.2f}",
            mark,
            style="bold" if mark == "chosen" else None,
        )
    return shown


def _cell(figures: tuple[float, float]) -> str:
    mean, top = figures
    return f"{mean:,.0f}; {top:,.0f}"


def verdict(found: Sequence[Reading], choice: ReadingChoice) -> str:
    """Return a one-sentence summary of the readings."""
    best, tied, chosen = choice
    near = f"{best.case} over {best.horizon:,} steps is nearest (distance {best.distance:.2f})"
    if chosen is None:
        return f"{near}; all {len(found)} readings lie within the {best.apart:.2f} between its seeds: not settled"
    words = f"{near}; {len(tied)} of {len(found)} readings lie within the {best.apart:.2f} between its seeds"
    return f"{words}, of which {chosen.case} over {chosen.horizon:,} steps is the shortest"


def draw(paper: Paper, members: Members, folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the distance over horizons for each random start, with a band for the range over seeds."""
    from matplotlib.figure import Figure

    first = next(iter(next(iter(members.values())).values()))
    last = max(within(members))
    horizons = [int(step) for step in first["step"][0] if 0 < step <= last]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    found = readings(members, paper, horizons)
    for case, (color, line) in plots.style(dict.fromkeys(each.case for each in found)).items():
        mine = [each for each in found if each.case == case]
        steps, value = np.array([(each.horizon, each.distance) for each in mine]).T
        value[np.isinf(value)] = np.nan
        apart = np.array([each.apart for each in mine]) / 2
        axes.plot(steps, value, color=color, linestyle=line, label=case)
        axes.fill_between(steps, value - apart, value + apart, color=color, alpha=0.15, linewidth=0)
    for horizon in within(members):
        axes.axvline(horizon, color="gray", linewidth=0.5, linestyle=":")
    axes.set(xlabel="horizon, steps", ylabel="distance from the paper's f = c row")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("width of the band: the range of the seeds' distances", fontsize=9, loc="left", color="gray")
    axes.legend()
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "distance")
