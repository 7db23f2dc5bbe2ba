"""An experiment: cases to run, figures to take from them, and the paper's figures beside."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adeu.core import files
from adeu.runs.folder import METRICS, SPEC, is_done, read_json, to_csv, write_json
from adeu.runs.identity import fill_in, to_data
from adeu.runs.load import done_folders, read_metrics
from adeu.runs.names import check_name
from adeu.runs.spec import Setting, Spec
from adeu.runs.statistics import Curves, band, estimate


@dataclasses.dataclass(frozen=True)
class Metric:
    """A figure of a case over its seeds.

    Args:
        name: what programs call it.
        title: the head of its column.
        of: computes it; None where it is undefined.
        form: how to print it.
    """

    name: str
    title: str
    of: Callable[[Curves], float | None]
    form: str = ",.0f"


MEAN = Metric("mean", "mean return", lambda curves: float(curves["return"].mean()))
MAX = Metric("max", "max of average run", lambda curves: float(curves["return"].mean(axis=0).max()))
VIOLATIONS = Metric("violations", "violations per episode", lambda curves: float(curves["violations"].mean()), ".3f")
SPREAD = Metric("spread", "mean spread", lambda curves: float(curves["spread"].mean()), ".3f")
SOLVED = Metric("solved", "seeds that solved it", lambda curves: float(curves["solved"].any(axis=1).mean()), ".0%")


def _first_solved(curves: Curves) -> float | None:
    solved = curves["solved"] > 0
    if not solved.any(axis=1).all():
        return None
    return float(curves["episode"][np.arange(len(solved)), solved.argmax(axis=1)].mean())


FIRST_SOLVED = Metric("first_solved", "first solved at episode", _first_solved)


WATCHED = ("uncertainty", "spread", "explored", "switches")
"""What curves show of exploration, where a run wrote it."""


def read(folder: pathlib.Path) -> dict[str, Any]:
    """A run's metrics."""
    return read_metrics(folder / METRICS)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """
    Args:
        name: what the command line calls it.
        title: what it is, in a line.
        lesson: what the reader of its table is looking at, in a sentence.
        cases: a setting for each case.
        metrics: the table's columns.
        draw: makes the plots in a folder, from each case's curves, and returns where they are.
        paper: the paper's figures, by case and metric.
        others: figures of others than the paper, by who has them, case and metric.
        bold: a metric; where a case is within a tenth of the best of it, it is printed bold.
        seeds: which to run, if nobody says otherwise.
        read: a run's columns.
        left_out: cases that are not to run, whose runs of earlier calls stand beside those that are.
    """

    name: str
    title: str
    lesson: str
    cases: Mapping[str, Setting]
    metrics: tuple[Metric, ...]
    draw: Callable[[Mapping[str, Curves], pathlib.Path], list[pathlib.Path]]
    paper: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    others: Mapping[str, Mapping[str, Mapping[str, float]]] = dataclasses.field(default_factory=dict)
    bold: str = ""
    seeds: Sequence[int] = range(5)
    read: Callable[[pathlib.Path], Mapping[str, Any]] = read
    left_out: Mapping[str, Setting] = dataclasses.field(default_factory=dict)

    def comparable(self, out: pathlib.Path) -> Experiment:
        """The same without figures of the paper and of others for what earlier calls ran with other settings."""
        changed = {
            case
            for case, setting in self.left_out.items()
            for folder in (out / self.name / case).glob("seed-*")
            if fill_in((read_json(folder / SPEC, out) or {}).get("setting"), setting) != to_data(setting)
        }
        paper = {case: figures for case, figures in self.paper.items() if case not in changed}
        others = {
            who: {case: figures for case, figures in of.items() if case not in changed}
            for who, of in self.others.items()
        }
        return dataclasses.replace(self, paper=paper, others=others)

    def specs(self, seeds: Sequence[int]) -> list[Spec]:
        """The runs, seed by seed, so that every case has some early."""
        return [Spec(self.name, case, seed, setting) for seed in seeds for case, setting in self.cases.items()]

    def curves(self, seeds: Sequence[int], out: pathlib.Path) -> dict[str, Curves]:
        """What the runs wrote, for each case."""
        found: dict[str, list[Mapping[str, Any]]] = {case: [] for case in self.cases}
        for spec in self.specs(seeds):
            folder = out / spec.name
            if not is_done(folder, out):
                raise ValueError(f"{folder} has no complete run; first: adeu run {self.name}")
            found[spec.case].append(self.read(folder))
        return {case: _stack(tables) for case, tables in found.items()}

    def beside(self, out: pathlib.Path) -> dict[str, Curves]:
        """What earlier calls completed of other cases, by all their seeds; warns of runs that cannot be read."""
        tables: dict[str, list[Mapping[str, Any]]] = {}
        for case, run in complete_runs(out / self.name):
            if case not in self.cases:
                try:
                    check_name(str(run), "its case", case)
                    tables.setdefault(case, []).append(self.read_complete(run))
                except ValueError as error:
                    warnings.warn(f"left out: {error}", stacklevel=2)
        return stack(tables)

    def read_complete(self, run: pathlib.Path) -> Mapping[str, Any]:
        """The columns of a complete run; rejects by name one whose files are damaged, or lack what is read."""
        is_done(run)
        try:
            return self.read(run)
        except (LookupError, TypeError, ArithmeticError, ValueError) as error:
            raise ValueError(f"{run} cannot be read as a run of {self.name or 'any kind'} ({error!r})") from None

    def all_curves(self, seeds: Sequence[int], out: pathlib.Path) -> dict[str, Curves]:
        """What the runs wrote, and beside it what earlier calls completed of other cases."""
        return self.beside(out) | self.curves(seeds, out)

    def summary(self, curves: Mapping[str, Curves]) -> list[dict[str, Any]]:
        """The table: a row for each figure."""
        rows = []
        for case, curve in curves.items():
            seeds = len(next(iter(curve.values())))
            for metric in self.metrics:
                value, low, high = estimate(metric.of, curve)
                figures = {"case": case, "metric": metric.name, "value": value, "low": low, "high": high}
                rows.append(figures | {"seeds": seeds, "paper": self.paper.get(case, {}).get(metric.name)})
        return rows

    def write(self, seeds: Sequence[int], out: pathlib.Path) -> tuple[list[dict[str, Any]], list[pathlib.Path]]:
        """Writes `summary.json`, `curves.csv` and the plots; returns the table and where the plots are."""
        folder = out / self.name
        curves = self.all_curves(seeds, out)
        rows = self.summary(curves)
        write_json(folder / "summary.json", rows)
        if all("return" in curve for curve in curves.values()):
            files.write(folder / "curves.csv", to_csv(curve_columns(curves)).encode())
        return rows, self.draw(curves, folder)


@dataclasses.dataclass(frozen=True)
class Family:
    """Experiments of one kind, such as one for each size.

    Args:
        name: what the command line calls it; its members' names begin with it and a slash.
        title: what it is, in a line.
        members: the experiments.
        draw: makes the plots over all of them, from each case's curves by member, and returns where they are.
        table: one for the screen of all of them, from each member's `summary`.
    """

    name: str
    title: str
    members: tuple[Experiment, ...]
    draw: Callable[[Mapping[str, Mapping[str, Curves]], pathlib.Path], list[pathlib.Path]]
    table: Callable[[Mapping[str, list[dict[str, Any]]]], Any] | None = None

    def draw_all(self, members: Sequence[Experiment], seeds: Sequence[int], out: pathlib.Path) -> list[pathlib.Path]:
        """Draws what the runs of the members came to, which may have settings of their own."""
        return self.draw({member.name: member.curves(seeds, out) for member in members}, out / self.name)


def complete_runs(folder: pathlib.Path) -> list[tuple[str, pathlib.Path]]:
    """The complete runs in an experiment's folder, each with its case; links are not followed."""
    runs = [run for run in done_folders(folder) if re.fullmatch(r"seed-\d{1,10}", run.name) and run.parent != folder]
    return [(run.parent.relative_to(folder).as_posix(), run) for run in sorted(runs)]


def stack(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Curves]:
    """The curves of cases, from their runs' columns; leaves out a case whose runs differ in columns or length."""
    curves = {}
    for case, found in tables.items():
        if len({_shape(table) for table in found}) > 1:
            warnings.warn(f"left out: the runs of {case!r} differ in columns or length", stacklevel=3)
        elif found:
            curves[case] = _stack(found)
    return curves


def _stack(tables: Sequence[Mapping[str, Any]]) -> Curves:
    """The runs of a case: each column as an array of shape (seeds, rows)."""
    return {name: np.stack([table[name] for table in tables]).astype(float) for name in tables[0]}


def _shape(table: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple((name, np.shape(column)) for name, column in table.items())


def curve_columns(curves: Mapping[str, Curves]) -> dict[str, list[Any]]:
    """The seed-averaged curves of each case; the return's with its 95% band; None where there is no such figure.

    An episode stands only where it is that of all seeds.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("case", "step", "episode", "return", "low", "high")}
    columns |= {name: [] for name in WATCHED if any(name in curve for curve in curves.values())}
    for case, curve in curves.items():
        returns, steps = curve["return"], curve["step"].mean(axis=0)
        together = (curve["episode"] == curve["episode"][0]).all()
        episodes = curve["episode"][0].astype(int).tolist() if together else [None] * len(steps)
        low, high = band(returns)
        values = {"step": steps, "return": returns.mean(axis=0), "low": low, "high": high}
        values |= {name: curve[name].mean(axis=0) for name in WATCHED if name in curve}
        columns["case"] += [case] * len(steps)
        columns["episode"] += episodes
        for name in columns.keys() - {"case", "episode"}:
            columns[name] += values[name].tolist() if name in values else [None] * len(steps)
    return columns
