"""A sweep that is not complete: the figures of the runs that are."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from adeu.experiments import locate
from adeu.experiments.lib.experiment import MAX, MEAN, SPREAD, Experiment, curve_columns
from adeu.report.files import complete_runs, read_json
from adeu.runs.folder import SPEC


@dataclasses.dataclass(frozen=True)
class Partial:
    """What stands in a folder without a summary, as the summary and the curves would have it."""

    rows: list[dict[str, Any]]
    curves: dict[str, list[Any]]
    """Columns, as curves.csv has them; empty where runs have no returns."""
    runs: int


def read_partial(folder: pathlib.Path) -> Partial:
    runs = list(complete_runs(folder))
    spec = read_json(runs[0] / SPEC)
    name = spec.get("experiment") if isinstance(spec, dict) else None
    known = known_experiment(str(name)) or unknown()
    experiment = dataclasses.replace(known, name=folder.name, cases={}, reference=known.compared_with)
    curves = experiment.beside(folder.parent)
    able = [metric for metric in experiment.metrics if all(_has(metric.of, curve) for curve in curves.values())]
    rows = dataclasses.replace(experiment, metrics=tuple(able)).summary(curves)
    returns = all("return" in curve for curve in curves.values())
    return Partial(rows, curve_columns(curves) if returns else {}, len(runs))


def known_experiment(name: str) -> Experiment | None:
    """The experiment that a folder says it holds, if there is one of that name."""
    try:
        found = locate(name)
    except ValueError:
        return None
    return found[0] if found[0].name == name else None


def unknown() -> Experiment:
    return Experiment("", "", "", {}, (MEAN, MAX, SPREAD), lambda curves, folder: [])


def _has(of: Any, curve: Any) -> bool:
    """Whether a figure can be taken of these columns."""
    try:
        of(curve)
    except KeyError:
        return False
    return True
