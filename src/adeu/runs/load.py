"""Reads the results of runs as columns."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core import check, files
from adeu.runs.folder import DONE, METRICS, RERUN, SPEC, is_done, read_json

HEAD = {"experiment": str, "case": str, "seed": int}


def load(out: str | pathlib.Path) -> dict[str, NDArray[Any]]:
    """All rows of all complete runs below a folder, as tidy columns: `pandas.DataFrame(load("runs"))` takes them.

    Columns are `experiment`, `case`, `seed`, then those of metrics.csv; NaN where a run has no such column. Links are
    not followed, and a run whose files were changed raises an error that names it.
    """
    tables = []
    for folder in done_folders(pathlib.Path(out)):
        head = _head(folder / SPEC)
        is_done(folder)
        table = read_metrics(folder / METRICS)
        rows = len(next(iter(table.values())))
        tables.append({name: np.full(rows, value) for name, value in head.items()} | table)
    if not tables:
        check.refuse("load", "out", "a folder with complete runs", str(out))
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: np.concatenate([table.get(name, np.full(len(table["seed"]), np.nan)) for table in tables])
        for name in names
    }


def done_folders(root: pathlib.Path) -> list[pathlib.Path]:
    """The folders at and below the root that have a done.json; links are not followed."""
    return [folder for folder, names in files.walk(root) if DONE in names]


def _head(path: pathlib.Path) -> dict[str, str | int]:
    """Which run a folder holds, as its spec says."""
    spec = read_json(path)
    head: dict[str, Any] = {name: spec.get(name) for name in HEAD} if isinstance(spec, dict) else {}
    if [type(value) for value in head.values()] != list(HEAD.values()) or not 0 <= head["seed"] < 2**63:
        raise ValueError(f"{path} is not a run spec; {RERUN}")
    return head


def read_metrics(path: pathlib.Path, below: pathlib.Path | None = None) -> dict[str, NDArray[Any]]:
    """The columns of a CSV file of numbers; raises an error that names any other file."""
    try:
        head, *lines = files.read(path, below).decode().splitlines() or [""]
        names, rows = head.split(","), [line.split(",") for line in lines]
        if not rows:
            raise ValueError("it has no rows: is the run shorter than its first evaluation?")
        if any(len(row) != len(names) for row in rows):
            raise ValueError("its rows do not have the columns of its head")
        return {name: _numbers(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    except ValueError as error:
        raise ValueError(f"{path} is corrupt ({error}); {RERUN}") from None


def _numbers(texts: Sequence[str]) -> NDArray[Any]:
    try:
        return np.array([int(text) for text in texts], np.int64)
    except (ValueError, OverflowError):
        return np.array([float(text or "nan") for text in texts])
