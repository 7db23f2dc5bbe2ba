"""What runs wrote, as columns."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.runs.folder import DONE, METRICS, SPEC, read_json
from adeu.runs.statistics import Curves


def load(out: str | pathlib.Path) -> dict[str, NDArray[Any]]:
    """All rows of all complete runs below a folder, as tidy columns: `pandas.DataFrame(load("runs"))` takes them.

    Columns are `experiment`, `case`, `seed`, then those of metrics.csv; NaN where a run has no such column.
    """
    tables = []
    for done in sorted(pathlib.Path(out).rglob(DONE)):
        spec = read_json(done.parent / SPEC)
        head = {name: spec[name] for name in ("experiment", "case", "seed")}
        table = read_metrics(done.parent / METRICS)
        rows = len(next(iter(table.values())))
        tables.append({name: np.full(rows, value) for name, value in head.items()} | table)
    if not tables:
        check.refuse("load", "out", "a folder with complete runs", str(out))
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: np.concatenate([table.get(name, np.full(len(table["seed"]), np.nan)) for table in tables])
        for name in names
    }


def read_metrics(path: pathlib.Path) -> dict[str, NDArray[Any]]:
    """The columns of a CSV file of numbers."""
    try:
        lines = path.read_text().splitlines()
        names = lines[0].split(",")
        rows = np.array([line.split(",") for line in lines[1:]])
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise ValueError("its rows do not have the columns of its head")
        return {name: _numbers(column) for name, column in zip(names, rows.T, strict=True)}
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path} is corrupt ({error}); delete its folder to run that seed again") from None


def _numbers(texts: NDArray[np.str_]) -> NDArray[Any]:
    try:
        return texts.astype(np.int64)
    except ValueError:
        return np.where(texts == "", "nan", texts).astype(np.float64)


def load_curves(folders: list[pathlib.Path]) -> Curves:
    """The same case's runs, one per seed, each column of shape (seeds, rows)."""
    tables = [read_metrics(folder / METRICS) for folder in folders]
    return {name: np.stack([table[name].astype(np.float64) for table in tables]) for name in tables[0]}
