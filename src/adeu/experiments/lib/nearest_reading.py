"""Finds the horizon and the random start whose figures are nearest to the paper's.

A run contains every shorter one. Over the evaluations up to a horizon, `mean` is the mean over
evaluations and seeds, and `max` the highest point of the seed-averaged curve. A reading's distance is

    sum over domains of |log(mean / paper's mean)| + |log(max / paper's max)|

Readings tie with the best if their distance exceeds the best's by no more than the best's seeds differ; of these,
the one with the shortest horizon is chosen.
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
"""By experiment, which is named after its domain, and random start, a case."""
Paper = Mapping[str, tuple[float, float]]
"""The paper's mean and max by domain."""
Floats = NDArray[np.float64]
Take = Callable[[Curves, int], Floats]
"""From a case's runs and a horizon to the returns up to there: (seeds, evaluations), NaN after a run's last."""

HORIZONS = range(50_000, 300_001, 50_000)
"""The candidates: the paper's was a round number, and with more candidates luck would decide."""


class Reading(NamedTuple):
    """A horizon and a random start.

    Args:
        case: the random start.
        horizon: in steps.
        figures: mean and max by domain.
        distance: from the paper's.
        apart: how far apart the distances of single seeds are.
    """

    case: str
    horizon: int
    figures: Mapping[str, tuple[float, float]]
    distance: float
    apart: float


class ReadingChoice(NamedTuple):
    """Which of several readings is taken.

    Args:
        best: the one with the least distance.
        tied: those that cannot be distinguished from it, including itself.
        chosen: of these, the shortest; None: all readings tie, and nothing is settled.
    """

    best: Reading
    tied: list[Reading]
    chosen: Reading | None


def regular(curve: Curves, horizon: int) -> Floats:
    """The regular evaluations, from that of step 0 on."""
    return np.where(curve["step"] <= horizon, curve["return"], np.nan)


def single(curve: Curves, horizon: int) -> Floats:
    """Single greedy episodes, one per 100 training episodes: the paper's text taken literally."""
    return np.where(curve["single_step"] <= horizon, curve["single_return"], np.nan)


def figures(values: Floats) -> tuple[float, float]:
    """Mean and max; the max is of evaluations that every seed has."""
    return float(known_mean(values, 1).mean()), float(np.nanmax(values.mean(axis=0)))


def distance(values: Floats, paper: tuple[float, float]) -> float:
    """Of one domain; infinite where a figure is not positive."""
    pairs = zip(figures(values), paper, strict=True)
    return sum(abs(np.log(ours / theirs)) if ours > 0 else np.inf for ours, theirs in pairs)


def readings(members: Members, paper: Paper, horizons: Sequence[int], take: Take = regular) -> list[Reading]:
    """A reading for each random start and horizon."""
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
    """The horizons that all runs reach; if none, that of the shortest run."""
    last = int(min(curve["step"].max() for curves in members.values() for curve in curves.values()))
    return [horizon for horizon in HORIZONS if horizon <= last] or [last]


def show(paper: Paper, members: Members) -> Group:
    """A table for regular evaluations, which choose the reading, and one for the paper's text taken literally."""
    titles = {"Evaluations every 5,000 steps, that of step 0 among them": regular}
    if all("single_step" in curve for curves in members.values() for curve in curves.values()):
        titles["Beside it, one greedy episode per 100 training episodes"] = single
    return Group(*(_table(title, paper, members, take) for title, take in titles.items()))


def _table(title: str, paper: Paper, members: Members, take: Take) -> Table:
    found = readings(members, paper, within(members), take)
    choice = choose(found)
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE)
    shown.caption, shown.caption_justify = verdict(found, choice), "left"
    shown.add_column("random start")
    shown.add_column("horizon", justify="right")
    for domain, (mean, top) in ((name, paper[name]) for name in found[0].figures):
        shown.add_column(f"{domain}\n[dim italic]paper {mean:,.0f}; {top:,.0f}[/]", justify="right")
    shown.add_column("distance", justify="right")
    shown.add_column("between seeds", justify="right")
    shown.add_column("")
    for each in found:
        mark = "chosen" if each is choice.chosen else "tie" if each in choice.tied else ""
        cells = [f"{mean:,.0f}; {top:,.0f}" for mean, top in each.figures.values()]
        shown.add_row(
            each.case,
            f"{each.horizon:,}",
            *cells,
            f"{each.distance:.2f}",
            f"{each.apart:.2f}",
            mark,
            style="bold" if mark == "chosen" else None,
        )
    return shown


def verdict(found: Sequence[Reading], choice: ReadingChoice) -> str:
    """A summary of the readings, in a sentence."""
    best, tied, chosen = choice
    near = f"{best.case} over {best.horizon:,} steps is nearest (distance {best.distance:.2f})"
    if chosen is None:
        return f"{near}; all {len(found)} readings lie within the {best.apart:.2f} between its seeds: not settled"
    words = f"{near}; {len(tied)} of {len(found)} readings lie within the {best.apart:.2f} between its seeds"
    return f"{words}, of which {chosen.case} over {chosen.horizon:,} steps is the shortest"


def draw(paper: Paper, members: Members, folder: pathlib.Path) -> list[pathlib.Path]:
    """The distance over horizons, with the seeds of each random start one by one."""
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
        apart = np.array([each.apart for each in mine]) / 2
        axes.plot(steps, value, color=color, linestyle=line, label=case)
        axes.fill_between(steps, value - apart, value + apart, color=color, alpha=0.15, linewidth=0)
    for horizon in within(members):
        axes.axvline(horizon, color="gray", linewidth=0.5, linestyle=":")
    axes.set(xlabel="horizon, steps", ylabel="distance from the paper's f = c row")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("band: as wide as the seeds' distances are apart", fontsize=9, loc="left", color="gray")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "distance")
