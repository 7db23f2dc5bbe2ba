"""The figures of the complete runs of a folder without a summary: an incomplete sweep, or a user's own."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from adeu.core import files
from adeu.experiments import locate
from adeu.experiments.lib.experiment import (
    MAX,
    MEAN,
    SPREAD,
    Experiment,
    complete_runs,
    curve_columns,
    is_run,
    stack,
)
from adeu.report.report_files import finite, read_json
from adeu.runs.folder import DONE, METRICS, SPEC

MOST_ROWS = 20_000
"""The maximal number of rows of a run's metrics: the bands of longer curves take too much memory."""


@dataclasses.dataclass(frozen=True)
class Partial:
    """The complete runs of a folder without a summary, as rows of a summary and curves."""

    rows: list[dict[str, Any]]
    curves: dict[str, list[Any]]
    """The columns of curves.csv; empty if runs have no returns."""
    complete: int
    unfinished: int


def read_partial(folder: pathlib.Path) -> Partial:
    """Return the figures of the complete runs; an error names a run with damaged files."""
    runs = [each for each in complete_runs(folder) if each[2].parent.parent == folder]
    spec = read_json(runs[0][2] / SPEC)
    name = spec.get("experiment") if isinstance(spec, dict) else None
    experiment = known_experiment(str(name)) or unknown()
    tables: dict[str, dict[int, Mapping[str, Any]]] = {}
    for case, seed, run in runs:
        tables.setdefault(case, {})[seed] = _read(experiment, run)
    with np.errstate(all="ignore"):  # metrics may be any numbers
        curves = stack(tables)
        able = [metric for metric in experiment.metrics if all(_has(metric.of, curve) for curve in curves.values())]
        rows = dataclasses.replace(experiment, metrics=tuple(able)).summary(curves, folder)
        drawn = all({"step", "episode", "return"} <= curve.keys() for curve in curves.values())
        columns = curve_columns(curves) if drawn else {}
    clean = {name: list(map(finite, column)) for name, column in columns.items()}
    shown = [{name: finite(value) for name, value in row.items()} for row in rows]
    return Partial(shown, clean, len(runs), _unfinished(folder))


def _unfinished(folder: pathlib.Path) -> int:
    return sum(
        run.parent.parent == folder and is_run(run) and SPEC in names and DONE not in names
        for run, names in files.walk(folder)
    )


def _read(experiment: Experiment, run: pathlib.Path) -> Mapping[str, Any]:
    table = experiment.read_complete(run)
    rows = max(map(len, table.values()))
    if rows > MOST_ROWS:
        raise ValueError(
            f"{run / METRICS} is too long for a report: {rows:,} rows, at most {MOST_ROWS:,} are allowed"
        )
    return table


def known_experiment(name: str) -> Experiment | None:
    """Return adeu's experiment of this name, or that of `adeu train` in an environment; None if there is none."""
    kind, _, env = name.partition("/")
    if kind == "train" and env:
        from adeu.experiments.lib.train import in_environment

        return in_environment(env, {})
    try:
        found = locate(name)
    except ValueError:
        return None
    return found[0] if found[0].name == name else None


def unknown() -> Experiment:
    return Experiment("", "", "", {}, (MEAN, MAX, SPREAD), lambda curves, folder: [])


def _has(of: Any, curve: Any) -> bool:
    """Return whether the curve has the columns that a metric needs."""
    try:
        of(curve)
    except KeyError:
        return False
    return True
