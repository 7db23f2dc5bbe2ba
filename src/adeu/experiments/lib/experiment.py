"""An experiment: cases to run, metrics to report, and the paper's figures to compare with."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adeu.core import files
from adeu.core.json_data import Json
from adeu.experiments.lib.summary import summarise
from adeu.experiments.lib.titles import filled
from adeu.runs.folder import METRICS, SPEC, is_done, read_json, to_csv, write_json
from adeu.runs.identity import fill_in, to_data
from adeu.runs.load import done_folders, read_metrics
from adeu.runs.names import check_name
from adeu.runs.override import settings
from adeu.runs.spec import DependsOnRun, Setting, Spec
from adeu.runs.statistics import FEWEST, Curves, Estimate, band, known_mean, mean, median, peak, share
from adeu.runs.statistics.estimate import average

WHOLE = ",.0f"
"""The format of whole numbers."""


@dataclasses.dataclass(frozen=True)
class Metric:
    """A statistic of a case over its seeds.

    Args:
        name: its name in code and files.
        title: the header of its column.
        of: computes one number per seed from a case's curves: infinity for an event that never happened, NaN if
            undefined. It may return any other array that `over` takes.
        form: the format spec for printing.
        over: aggregates the seeds, with an interval: `mean`, `iqm`, `median`, `share`, ... of `adeu.runs.statistics`.
        better: whether "more" or "less" is better; "" if neither.
        paired: whether two cases can be compared seed by seed.
    """

    name: str
    title: str
    of: Callable[[Curves], NDArray[np.float64] | NDArray[np.bool_]]
    form: str = WHOLE
    over: Callable[[Any], Estimate] = mean
    better: Literal["more", "less", ""] = "more"
    paired: bool = True


def first_solved(curves: Curves, unit: str) -> NDArray[np.float64]:
    """Return the episode or step at which each seed first solved its task, or infinity."""
    solved = curves["solved"] > 0
    first = curves[unit][np.arange(len(solved)), solved.argmax(axis=1)]
    return np.where(solved.any(axis=1), first, np.inf)


def _solved(curves: Curves) -> NDArray[np.bool_]:
    return np.asarray((curves["solved"] > 0).any(axis=1))


MEAN = Metric("mean", "mean return", lambda curves: average(curves["return"], axis=1))
MAX = Metric("max", "max of average run, biased up", lambda curves: curves["return"], over=peak, paired=False)
VIOLATIONS = Metric(
    "violations", "violations per episode", lambda curves: average(curves["violations"], axis=1), ".3f", better="less"
)
SPREAD = Metric("spread", "mean spread", lambda curves: known_mean(curves["spread"], 1), ".3f", better="")
SOLVED = Metric("solved", "seeds that solved it", _solved, ".0%", share)
FIRST_SOLVED = Metric(
    "first_solved", "first solved at episode", lambda curves: first_solved(curves, "episode"), better="less"
)


def time_to_solve(name: str, title: str, column: str = "episode") -> Metric:
    """Return the metric of the median over seeds of the first episode (or step) at which a seed solved the task."""
    return Metric(name, f"{title}, median", lambda curves: first_solved(curves, column), over=median, better="less")


EPISODES_TO_SOLVE = time_to_solve("episodes_to_solve", "episodes to solve")


def _stored_setting(folder: pathlib.Path, out: pathlib.Path) -> Json:
    spec = read_json(folder / SPEC, out)
    return spec.get("setting") if isinstance(spec, dict) else None


def _stored_source(folder: pathlib.Path, out: pathlib.Path) -> str:
    """Return the case that a stored run is a control of; empty if it is none."""
    setting = _stored_setting(folder, out)
    source = setting.get("source") if isinstance(setting, dict) else None
    return source if isinstance(source, str) else ""


PROBLEM = ("env", "lake", "sea", "episodes", "steps")
"""Settings that define the task and the length of training."""


def _same_problem(stored: Json, setting: Setting) -> bool:
    """Return whether both settings have equal values for each field of `PROBLEM` that both have."""
    theirs, mine = fill_in(stored, setting), to_data(setting)
    if not (isinstance(stored, dict) and isinstance(theirs, dict) and isinstance(mine, dict)):
        return False
    return all(theirs[name] == mine[name] for name in PROBLEM if name in stored and name in mine)


WATCHED = ("uncertainty", "spread", "spread_p10", "spread_p90", "saturated", "explored", "deviation", "switches")
"""The exploration columns of curves, for runs that have them."""


def read(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's metrics."""
    return read_metrics(folder / METRICS)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """
    Args:
        name: its name on the command line.
        title: a one-line description; `{size}` is replaced by the setting of that name.
        lesson: an explanation of the table.
        cases: the setting of each case.
        metrics: the table's columns.
        draw: draws the plots into a folder, from each case's curves, and returns their paths.
        paper: the paper's figures, by case and metric.
        others: figures of sources other than the paper, by source, case and metric.
        bold: the metric by which cases within a tenth of the best are printed bold.
        seeds: the default seeds.
        read: reads a run's columns.
        left_out: cases that are not run, but whose complete runs are shown.
        reference: the case that the others are compared with, seed by seed; empty for the first case. Controls are
            compared with their source.
        takes: the running time on two cores; empty if not measured.
        smaller: options for a faster version with a similar result, and its running time; empty if unknown.
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
    read: Callable[[pathlib.Path], Mapping[str, NDArray[Any]]] = read
    left_out: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    reference: str = ""
    takes: str = ""
    smaller: str = ""

    @property
    def heading(self) -> str:
        """The title, with the cases' settings filled in."""
        return filled(self.title, map(settings, self.cases.values()))

    @property
    def compared_with(self) -> str:
        return self.reference or next(iter(self.cases), "")

    def reference_of(self, case: str, curves: Mapping[str, Curves], folder: pathlib.Path | None = None) -> str:
        """Return the case that a case is compared with: a control's source if it has runs, else the reference."""
        setting, source = {**self.left_out, **self.cases}.get(case), ""
        if isinstance(setting, DependsOnRun):
            source = setting.source
        elif setting is None and folder is not None:
            source = _stored_source(folder / case / f"seed-{curves[case]['seed'][0]:.0f}", folder)
        return source if source in curves else self.compared_with

    def comparable(self, out: pathlib.Path) -> Experiment:
        """Return a copy without `paper` and `others` for cases whose stored runs have other settings."""
        changed = {
            case
            for case, setting in self.left_out.items()
            for folder in (out / self.name / case).glob("seed-*")
            if fill_in(_stored_setting(folder, out), setting) != to_data(setting)
        }
        paper = {case: figures for case, figures in self.paper.items() if case not in changed}
        others = {
            who: {case: figures for case, figures in of.items() if case not in changed}
            for who, of in self.others.items()
        }
        return dataclasses.replace(self, paper=paper, others=others)

    def specs(self, seeds: Sequence[int]) -> list[Spec]:
        """Return the run specs, ordered by seed so that every case has results early."""
        return [Spec(self.name, case, seed, setting) for seed in seeds for case, setting in self.cases.items()]

    def curves(self, seeds: Sequence[int], out: pathlib.Path) -> dict[str, Curves]:
        """Read the curves of each case."""
        found: dict[str, dict[int, Mapping[str, NDArray[Any]]]] = {case: {} for case in self.cases}
        for spec in self.specs(seeds):
            folder = out / spec.name
            if not is_done(folder, out):
                raise ValueError(f"{folder} has no complete run; run it first: adeu run {self.name}")
            found[spec.case][spec.seed] = self.read(folder)
        return {case: _stack(tables) for case, tables in found.items()}

    def beside(self, out: pathlib.Path) -> dict[str, Curves]:
        """Return the curves of other cases with complete runs, over all their seeds.

        Skips cases of another task, such as a lake of another size. Warns about unreadable runs.
        """

        def wanted(case: str, seed: int) -> bool:
            if case in self.cases:
                return False
            stored = _stored_setting(out / self.name / case / f"seed-{seed}", out)
            return any(_same_problem(stored, setting) for setting in self.cases.values())

        return self._complete(out, wanted)

    def complete(self, out: pathlib.Path, seeds: Sequence[int] | None = None) -> dict[str, Curves]:
        """Return the curves of all complete runs, or of `seeds` only, own cases first; warn about unreadable runs."""
        found = self._complete(out, lambda case, seed: seeds is None or seed in seeds)
        return {case: found[case] for case in dict.fromkeys([*self.cases, *found]) if case in found}

    def _complete(self, out: pathlib.Path, wanted: Callable[[str, int], bool]) -> dict[str, Curves]:
        tables: dict[str, dict[int, Mapping[str, NDArray[Any]]]] = {}
        for case, seed, run in complete_runs(out / self.name):
            try:
                if wanted(case, seed):
                    check_name(str(run), "its case", case)
                    tables.setdefault(case, {})[seed] = self.read_complete(run)
            except ValueError as error:
                warnings.warn(f"left out: {error}", stacklevel=2)
        return stack(tables)

    def read_complete(self, run: pathlib.Path) -> Mapping[str, NDArray[Any]]:
        """Return the columns of a complete run; an error for damaged files or missing columns names the run."""
        is_done(run)
        try:
            return self.read(run)
        except (LookupError, TypeError, ArithmeticError, ValueError) as error:
            raise ValueError(f"{run} cannot be read as a run of {self.name or 'any kind'} ({error!r})") from None

    def all_curves(self, seeds: Sequence[int], out: pathlib.Path) -> dict[str, Curves]:
        """Return the curves of the experiment's cases, followed by those of `beside`."""
        return self.curves(seeds, out) | self.beside(out)

    def summary(self, curves: Mapping[str, Curves], folder: pathlib.Path | None = None) -> list[dict[str, Any]]:
        """Return a row per case and metric, with the paper's figure and the comparison with another case.

        Args:
            curves: the curves of each case.
            folder: the folder of the runs, to find the sources of controls that are not cases of this experiment.
        """
        rows = []
        for case in curves:
            reference, figures = self.reference_of(case, curves, folder), self.paper.get(case, {})
            rows += [summarise(metric, case, curves, reference, figures.get(metric.name)) for metric in self.metrics]
        return rows

    def write(self, seeds: Sequence[int], out: pathlib.Path) -> tuple[list[dict[str, Any]], list[pathlib.Path]]:
        """Write `summary.json`, `curves.csv` and the plots; return the table's rows and the plots' paths."""
        from adeu.experiments.lib.watch import warn_saturated  # imports JAX, which other commands do not need

        folder = out / self.name
        curves = self.all_curves(seeds, out)
        rows = self.summary(curves, folder)
        write_json(folder / "summary.json", rows)
        if all("return" in curve for curve in curves.values()):
            files.write(folder / "curves.csv", to_csv(curve_columns(curves)).encode())
        warn_saturated(curves, self.cases)
        return rows, self.draw(curves, folder)


@dataclasses.dataclass(frozen=True)
class Family:
    """Experiments of one kind, such as one for each size.

    Args:
        name: its name on the command line; members' names begin with it and a slash.
        title: a one-line description.
        members: the experiments.
        draw: draws the plots of all members, from the curves by member and case, and returns their paths.
        table: returns a table of all members to print, from the `summary` of each member.
        analysis: returns another table to print, from the curves by member and case.
    """

    name: str
    title: str
    members: tuple[Experiment, ...]
    draw: Callable[[Mapping[str, Mapping[str, Curves]], pathlib.Path], list[pathlib.Path]]
    table: Callable[[Mapping[str, list[dict[str, Any]]]], Any] | None = None
    analysis: Callable[[Mapping[str, Mapping[str, Curves]]], Any] | None = None


def is_run(folder: pathlib.Path) -> bool:
    """Return whether the folder's name is that of a run."""
    return re.fullmatch(r"seed-\d{1,10}", folder.name) is not None


def complete_runs(folder: pathlib.Path) -> list[tuple[str, int, pathlib.Path]]:
    """Return case, seed and folder of each complete run in an experiment's folder; links are not followed."""
    runs = [run for run in done_folders(folder) if is_run(run) and run.parent != folder]
    named = ((run.parent.relative_to(folder).as_posix(), int(run.name.removeprefix("seed-")), run) for run in runs)
    return sorted(named)


def stack(tables: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> dict[str, Curves]:
    """Stack the runs of each case into curves; skip cases whose runs differ in columns or length, with a warning."""
    curves = {}
    for case, found in tables.items():
        if len(set(map(_shape, found.values()))) > 1:
            warnings.warn(f"left out: the runs of {case!r} differ in columns or length", stacklevel=3)
        elif found:
            curves[case] = _stack(found)
    return curves


def _stack(tables: Mapping[int, Mapping[str, NDArray[Any]]]) -> Curves:
    """Stack each column of a case's runs to an array of shape (seeds, rows), and add the seeds."""
    first = next(iter(tables.values()))
    columns = {name: np.stack([table[name] for table in tables.values()]).astype(float) for name in first}
    return columns | {"seed": np.array(list(tables), float)}


def _shape(table: Mapping[str, NDArray[Any]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((name, np.shape(column)) for name, column in table.items())


def curve_columns(curves: Mapping[str, Curves]) -> dict[str, list[str | float | None]]:
    """Return the seed-averaged curves of each case as columns; missing values are None.

    The return has a 95% band or, with fewer than 5 seeds, one column per run: `seed-0`, ... The episode is None
    unless it is the same for all seeds.
    """
    few = {case: curve["seed"].astype(int) for case, curve in curves.items() if len(curve["seed"]) < FEWEST}
    single = {f"seed-{seed}": seed for seed in sorted({seed for seeds in few.values() for seed in seeds.tolist()})}
    watched = [name for name in WATCHED if any(name in curve for curve in curves.values())]
    columns: dict[str, list[str | float | None]] = {
        name: [] for name in ("case", "step", "episode", "return", "low", "high", *single, *watched)
    }
    for case, curve in curves.items():
        steps = average(curve["step"], axis=0)
        together = np.all(curve["episode"] == curve["episode"][0, :])
        episodes = curve["episode"][0, :].astype(int).tolist() if together else [None] * len(steps)
        values = {"step": steps} | dict(zip(("return", "low", "high"), band(curve["return"]), strict=True))
        values |= {f"seed-{seed}": run for seed, run in zip(few.get(case, ()), curve["return"], strict=False)}
        values |= {name: known_mean(curve[name], 0) for name in watched if name in curve}
        columns["case"] += [case] * len(steps)
        columns["episode"] += episodes
        for name in columns.keys() - {"case", "episode"}:
            numbers: list[float] = values.get(name, np.full(len(steps), np.nan)).tolist()
            columns[name] += [None if np.isnan(number) else number for number in numbers]
    return columns
