"""Store complete runs in this folder, and summarise the stored runs.

    python -m results.keep runs/mujoco/Walker2d-v5   # add the complete runs of an experiment
    python -m results.keep                           # summarise all stored runs again, after a change of a metric

`runs.csv` has each evaluation of each seed, `summary.json` the rows that `adeu run` writes for the same runs.
"""

from __future__ import annotations

import csv
import itertools
import json
import operator
import pathlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from adeu.experiments import locate
from adeu.experiments.lib.experiment import Experiment, complete_runs, stack
from adeu.runs.folder import SPEC, write_json
from adeu.runs.identity import fill_in, to_data
from adeu.runs.statistics import Curves

RESULTS = pathlib.Path(__file__).parent
RUNS, SUMMARY = "runs.csv", "summary.json"
KEYS = ("case", "seed")
Rows = list[dict[str, str]]


def keep(folder: pathlib.Path) -> None:
    """Add the complete runs of an experiment's folder to its stored runs; replace runs of the same case and seed."""
    found = complete_runs(folder)
    if not found:
        raise SystemExit(f"{folder} has no complete run")
    name = json.loads((found[0][2] / SPEC).read_text())["experiment"]
    (experiment,), path = locate(name), RESULTS / name / RUNS
    rows = itertools.chain.from_iterable(read_run(experiment, case, seed, run) for case, seed, run in found)
    write_runs(path, experiment, rows)
    summarise(path.parent)


def read_run(experiment: Experiment, case: str, seed: int, run: pathlib.Path) -> Rows:
    """Return the evaluations of a run; a run with other settings than its case's is rejected."""
    stored, setting = json.loads((run / SPEC).read_text())["setting"], experiment.cases.get(case)
    if setting is None or fill_in(stored, setting) != to_data(setting):
        raise SystemExit(f"{run} has other settings than {experiment.name}/{case}")
    columns = dict(experiment.read_complete(run))
    columns.pop("trained", None)  # `curves` computes it again
    texts = {name: [format(value, ".6g") for value in column.tolist()] for name, column in columns.items()}
    lines = zip(*texts.values(), strict=True)
    return [{"case": case, "seed": str(seed)} | dict(zip(texts, line, strict=True)) for line in lines]


def write_runs(path: pathlib.Path, experiment: Experiment, rows: Iterable[dict[str, str]]) -> None:
    """Merge evaluations into a file; a column that only some runs have is empty for the others."""
    runs = by_run(read_runs(path)) | by_run(rows)
    columns = list(dict.fromkeys(column for lines in runs.values() for column in lines[0]))
    order = list(experiment.cases)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for case, seed in sorted(runs, key=lambda run: (order.index(run[0]), int(run[1]))):
            writer.writerows(runs[case, seed])


def by_run(rows: Iterable[dict[str, str]]) -> dict[tuple[str, str], Rows]:
    return {run: list(lines) for run, lines in itertools.groupby(rows, operator.itemgetter(*KEYS))}


def read_runs(path: pathlib.Path) -> Rows:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def curves(folder: pathlib.Path, experiment: Experiment) -> dict[str, Curves]:
    """Return the curves of the stored runs of an experiment, as `adeu run` has them."""
    tables: dict[str, dict[int, Mapping[str, Any]]] = {}
    for (case, seed), rows in by_run(read_runs(folder / RUNS)).items():
        table = {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0].keys() - {*KEYS}}
        warmup = getattr(experiment.cases[case], "warmup", 0)
        tables.setdefault(case, {})[int(seed)] = table | {"trained": table["step"] > warmup}
    found = stack(tables)
    if left := tables.keys() - found.keys():
        raise SystemExit(f"{folder / RUNS}: the runs of {', '.join(sorted(left))} differ in length")
    return found


def summary(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Return the summary of stored runs.

    Cases without stored runs keep their rows, and comparisons with such a case are kept, too.
    """
    (experiment,) = locate(folder.relative_to(RESULTS).as_posix())
    found = curves(folder, experiment)
    path = folder / SUMMARY
    old = {(row["case"], row["metric"]): row for row in json.loads(path.read_text())} if path.exists() else {}
    rows = {(row["case"], row["metric"]): row for row in experiment.summary(found)}
    for place, row in rows.items():
        before = old.get(place, row)
        if before["reference"] and before["reference"] not in found:
            rows[place] = row | {name: before[name] for name in list(row)[list(row).index("reference") :]}
    return [row for row in (old | rows).values() if row["case"] in experiment.cases]


def summarise(folder: pathlib.Path) -> None:
    write_json(folder / SUMMARY, summary(folder))


def folders() -> list[pathlib.Path]:
    """Return the folders with stored runs of today's experiments."""
    return sorted(path.parent for path in RESULTS.rglob(RUNS) if path.parent.parent.name != "mujoco-earlier")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        keep(pathlib.Path(argument))
    if not sys.argv[1:]:
        for each in folders():
            summarise(each)
