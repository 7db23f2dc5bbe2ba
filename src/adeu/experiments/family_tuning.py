"""Tunes the values of `family`: three candidates for each method and task, on other seeds.

The best value has the highest mean return of greedy episodes over training and seeds; ties go to the first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from adeu.experiments import family
from adeu.experiments.lib.experiment import MEAN, SOLVED, Experiment, Family
from adeu.experiments.lib.family_methods import TASKS, methods
from adeu.runs.spec import Setting

SEEDS = range(1_000, 1_003)
Rows = list[dict[str, Any]]


def named(method: str, value: float) -> str:
    return f"{method} {value:g}"


def cases(task: str) -> dict[str, Setting]:
    return {
        named(name, value): each.build(task, value) for name, each in methods(task).items() for value in each.values
    }


def choose(task: str, rows: Rows) -> dict[str, float]:
    """Return the best value of each method, from the task's summary."""
    scores = {row["case"]: row["value"] for row in rows if row["metric"] == MEAN.name}
    return {
        name: max(each.values, key=lambda value, name=name: scores[named(name, value)])  # type: ignore[misc]
        for name, each in methods(task).items()
    }


def chosen(members: Mapping[str, Rows]) -> Table:
    """Return a table of the chosen values by method and task."""
    shown = Table(title="Chosen", title_justify="left", title_style="bold", box=box.SIMPLE)
    tasks = {name.rpartition("/")[2]: rows for name, rows in members.items()}
    values = {task: choose(task, rows) for task, rows in tasks.items()}
    for title in ("method", *values):
        shown.add_column(title, justify="right" if title in values else "left")
    for name in dict.fromkeys(name for found in values.values() for name in found):
        shown.add_row(name, *(f"{found[name]:g}" if name in found else "-" for found in values.values()))
    return shown


def tuning(task: str) -> Experiment:
    whole = family.member("family-tuning", task, cases(task), SEEDS)
    return dataclasses.replace(whole, metrics=(MEAN, SOLVED), bold="")


EXPERIMENT = Family(
    name="family-tuning",
    title="earlier methods as special cases, tuning: three values per method",
    members=tuple(map(tuning, TASKS)),
    draw=lambda members, folder: [],
    table=chosen,
)
