"""Reads experiment folders into the data of the report page."""

from __future__ import annotations

import json
import operator
import pathlib
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core.files import inside
from adeu.experiments import NAMES
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import (
    FIRST_SOLVED,
    MAX,
    MEAN,
    SOLVED,
    SPREAD,
    VIOLATIONS,
    WATCHED,
    Experiment,
    Metric,
)
from adeu.experiments.lib.naming import base
from adeu.experiments.lib.tables import number, pair, under
from adeu.experiments.lib.titles import filled
from adeu.report.partial import known_experiment, read_partial
from adeu.report.report_files import SUMMARY, experiment_folders, read_columns, read_json, read_summary
from adeu.report.traces import NUMBERS, read_ceiling, read_map, read_traces, read_training, short
from adeu.runs.identity import RESUMED, to_data
from adeu.runs.statistics import share

MEANINGS = {
    "mean": "the return of greedy episodes, averaged over all of training and all seeds",
    "max": (
        "the highest point of the curve averaged over seeds; it selects the luckiest evaluation, so it is biased up "
        "with few seeds, and has no valid interval"
    ),
    "first_solved": "the time at which the task was first solved; empty if too few seeds solved it",
    "solved": "the share of seeds in which any greedy episode reached the goal",
    "spread": "g(f(s)), averaged over all training steps; 0 means following the policy",
    "iqm": "the mean return of the middle half of the seeds",
    "solved_rate": "the share of seeds that solved the task",
    "final": "the mean of the last evaluations, scaled to [0, 1]; runs fall into groups, so no interval is reliable",
    "area": "the mean of all evaluations, scaled to [0, 1]; runs fall into groups, so no interval is reliable",
    "enough": "the share of seeds whose final performance is at least 0.5",
    "violations": "steps onto unsafe cells, per training episode",
}
HARMLESS = ("traced", "traced_at")
"""Settings that do not affect the figures."""
TITLES = {metric.name: metric.title for metric in (MEAN, MAX, SOLVED, FIRST_SOLVED, SPREAD, VIOLATIONS)}
"""Titles of the metrics that have the same meaning in every experiment."""
BAND = ("low", "high")
DEEPEST = 8
MOST_RESUMED = 5
DIGITS = 7
"""The number of significant digits of curves, enough to match the table's figures."""


def collect(root: pathlib.Path) -> list[dict[str, Any]]:
    """Return the data of all experiments at or below a folder."""
    if not root.is_dir():
        raise ValueError(f"{root} is not a folder of runs")
    found = [read_experiment(folder, folder.relative_to(root).as_posix()) for folder in experiment_folders(root)]
    if not found:
        raise ValueError(f"{root} has no {SUMMARY} and no complete run; create them with `adeu run`")
    order = {name: place for place, name in enumerate(NAMES)}
    return sorted(
        found, key=lambda each: (order.get(each["name"].partition("/")[0], len(order)), numbered(each["name"]))
    )


def numbered(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts deep-sea/20 before deep-sea/100."""
    return [(int(part), "") if part.isdigit() and len(part) < 10 else (-1, part) for part in name.split("/")]


def read_experiment(folder: pathlib.Path, path: str) -> dict[str, Any]:
    partial = None if inside(folder, SUMMARY) else read_partial(folder)
    rows = partial.rows if partial else read_summary(folder / SUMMARY)
    cases = list(dict.fromkeys(row["case"] for row in rows))
    runs = {case: seed_folders(folder, case) for case in cases}
    specs = {case: read_spec(runs[case]) for case in cases}
    name = next((spec["experiment"] for spec in specs.values() if "experiment" in spec), path)
    known = known_experiment(name)
    settings = {case: spec.get("setting") for case, spec in specs.items()}
    flat = {case: dict(flatten(setting)) for case, setting in settings.items()}
    changed = foreign(known, flat) if known else []
    trainings = {case: read_training(setting) for case, setting in settings.items()}
    columns = partial.curves if partial else read_curves(folder)
    curves = points(columns, "step" if any(each.unit == "step" for each in trainings.values()) else "episode")
    styles = plots.style(cases)
    return {
        "name": name if name != "." else folder.resolve().name,
        "title": title(known, flat.values()) if known else "",
        "lesson": known.lesson if known and not changed else "",
        "changed": changed,
        "partial": {"complete": partial.complete, "unfinished": partial.unfinished} if partial else None,
        "seeds": max((row["seeds"] or 0 for row in rows), default=0),
        "metrics": [describe_metric(metric) for metric in metrics(known, rows).values()],
        "log": [name for name in ("return", *WATCHED) if plots.log_helps(numbers(columns, name))],
        "rows": [row | {"text": texts(metrics(known, rows)[row["metric"]], row)} for row in rows],
        "cases": [
            {
                "name": case,
                "color": plots.COLORS.index(styles[case][0]),
                "dashed": styles[case][1] != "-",
                "settings": differing(flat, case),
                "curve": curves.get(case),
                "traces": (traces := read_traces(runs[case], trainings[case], NUMBERS // len(cases))),
                "ceiling": read_ceiling(settings[case]) if traces else None,
                "map": read_map(settings[case]) if traces else None,
            }
            for case in cases
        ],
        "same": shared(flat),
        "made": next((made(spec) for spec in specs.values() if spec), ""),
    }


def seed_folders(folder: pathlib.Path, case: str) -> dict[int, pathlib.Path]:
    """Return the run folders of a case, by seed; empty if the case's name points outside of the folder."""
    below = inside(folder, case)
    if below is None or not below.is_dir():
        return {}
    found = {int(match[1]): path for path in below.iterdir() if (match := re.fullmatch(r"seed-(\d{1,9})", path.name))}
    return {seed: path for seed, path in found.items() if path.is_dir() and not path.is_symlink()}


def read_spec(runs: Mapping[int, pathlib.Path]) -> dict[str, Any]:
    path = inside(runs[min(runs)], "spec.json") if runs else None
    spec = read_json(path) if path else {}
    if not isinstance(spec, dict) or not isinstance(spec.get("experiment", ""), str):
        raise ValueError(f"{path} is not a run spec")
    return spec


def read_curves(folder: pathlib.Path) -> dict[str, list[Any]]:
    """Read the columns of curves.csv; empty without this file."""
    path = inside(folder, "curves.csv")
    if path is None:
        return {}
    (names,), columns = read_columns(path, text=1)
    if not {"step", "episode", "return", "low", "high"} <= columns.keys():
        raise ValueError(f"{path} is corrupt (it must have the columns case,step,episode,return,low,high)")
    return {"case": names} | columns


def points(columns: Mapping[str, list[Any]], unit: str) -> dict[str, dict[str, Any]]:
    """Return the curves of each case: x, the mean return, its band or single runs, and columns of exploration.

    Args:
        columns: the columns of curves.csv.
        unit: the unit of x, "step" or "episode"; steps are used if seeds differ in episodes.
    """
    x = "step" if None in columns.get("episode", ()) else unit
    shown = [name for name in ("return", "low", "high", *WATCHED) if name in columns]
    seeds = [name for name in columns if name.startswith("seed-")]
    rows: dict[str, list[int]] = {}
    for row, case in enumerate(columns.get("case", ())):
        rows.setdefault(case, []).append(row)

    def column(name: str, of: list[int]) -> list[float | None]:
        return [short(columns[name][row], DIGITS) for row in of]

    curves: dict[str, dict[str, Any]] = {}
    for case, of in rows.items():
        runs = {name.removeprefix("seed-"): column(name, of) for name in seeds}
        runs = {seed: run for seed, run in runs.items() if any(value is not None for value in run)}
        curves[case] = {"unit": x, "x": column(x, of), "runs": runs} | {name: column(name, of) for name in shown}
    return curves


def numbers(columns: Mapping[str, list[Any]], name: str) -> NDArray[np.float64]:
    """Return all values of a quantity in the curves."""
    shown = [name, *(each for each in columns if name == "return" and (each in BAND or each.startswith("seed-")))]
    return np.array([value for each in shown for value in columns.get(each, ()) if value is not None], float)


def metrics(known: Experiment | None, rows: list[dict[str, Any]]) -> dict[str, Metric]:
    """Return the metrics of the rows, by name; unknown ones have a title from `TITLES` or their name."""
    own = {metric.name: metric for metric in known.metrics} if known else {}
    titles = {row["metric"]: row["metric"].replace("_", " ").strip() or row["metric"] for row in rows} | TITLES
    names = dict.fromkeys(row["metric"] for row in rows)
    return {name: own.get(name) or Metric(name, titles[name], operator.itemgetter(name), ",.5g") for name in names}


def describe_metric(metric: Metric) -> dict[str, Any]:
    meaning = MEANINGS.get(metric.name, "")
    return {"name": metric.name, "title": metric.title, "meaning": meaning, "share": metric.over is share}


def texts(metric: Metric, row: dict[str, Any]) -> dict[str, Any]:
    """Return the figures as formatted in the terminal."""
    paper = None if row["paper"] is None else number(row["paper"], metric.form)
    compared = pair(row, metric.form) if row["common_seeds"] else []
    return {"value": number(row["value"], metric.form), "under": under(row, metric), "paper": paper, "pair": compared}


def flatten(setting: Any, path: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Flatten nested settings into pairs of path and value."""
    if isinstance(setting, dict) and setting and len(path) < DEEPEST:
        return [line for name, value in setting.items() for line in flatten(value, (*path, name))]
    name = ".".join(path).removesuffix(".part")
    return [(name, setting if isinstance(setting, str) else json.dumps(setting))] if path else []


def shared(flat: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the settings that all cases share."""
    first = next(iter(flat.values()), {})
    return {path: value for path, value in first.items() if all(each.get(path) == value for each in flat.values())}


def differing(flat: Mapping[str, Mapping[str, str]], case: str) -> dict[str, str]:
    same = shared(flat)
    return {path: value for path, value in flat[case].items() if path not in same}


def title(known: Experiment, flat: Collection[Mapping[str, str]]) -> str:
    """Return the title with the settings of the runs or, without runs, those of the experiment."""
    return filled(known.title, flat) if any(flat) else known.heading


def foreign(known: Experiment, flat: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Describe the settings in which the runs differ from the experiment."""
    ours = {case: dict(flatten(to_data(setting))) for case, setting in known.cases.items()}
    words = [
        f"{path} is {value}, not {own.get(path, 'there')}"
        for case, settings in flat.items()
        if (own := ours.get(case) or ours.get(base(case)))
        for path, value in settings.items()
        if own.get(path) != value and path not in HARMLESS
    ]
    return list(dict.fromkeys(words))[:6]


def made(spec: Mapping[str, Any]) -> str:
    """Return the code versions of a run: the one that started it, then those that resumed it."""
    resumed = spec.get(RESUMED)
    later = [each for each in resumed if isinstance(each, dict)][:MOST_RESUMED] if isinstance(resumed, list) else []
    return "; resumed with ".join(map(code, [spec, *later]))


def code(spec: Mapping[str, Any]) -> str:
    versions, commit = spec.get("versions"), spec.get("commit")
    words = [f"{name} {version}"[:50] for name, version in versions.items()] if isinstance(versions, dict) else []
    if isinstance(commit, str):
        words.append(f"commit {commit[:12]}")
    return ", ".join(words)
