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
    """Returns the rows of all complete runs below a folder as tidy columns, for `pandas.DataFrame(load("runs"))`.

    Columns are `experiment`, `case`, `seed`, then those of metrics.csv, with NaN for runs without that column. Links
    are not followed. Raises an error that names a run whose files were changed.
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
    """Returns the folders at and below the root that contain done.json; links are not followed."""
    return [folder for folder, names in files.walk(root) if DONE in names]


def _head(path: pathlib.Path) -> dict[str, str | int]:
    """Reads the experiment, case and seed from a spec.json."""
    spec = read_json(path)
    head: dict[str, Any] = {name: spec.get(name) for name in HEAD} if isinstance(spec, dict) else {}
    if [type(value) for value in head.values()] != list(HEAD.values()) or not 0 <= head["seed"] < 2**63:
        raise ValueError(f"{path} is not a run spec; {RERUN}")
    return head


def read_metrics(path: pathlib.Path, below: pathlib.Path | None = None) -> dict[str, NDArray[Any]]:
    """Reads the columns of a CSV file of numbers; raises an error that names an invalid file."""
    try:
        head, *lines = files.read(path, below).decode().splitlines() or [""]
        names, rows = head.split(","), [line.split(",") for line in lines]
        if not rows:
            raise ValueError("it has no rows: is the run shorter than its first evaluation?")
        if any(len(row) != len(names) for row in rows):
            raise ValueError("its rows and its header have different numbers of columns")
        return {name: _numbers(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    except ValueError as error:
        raise ValueError(f"{path} is corrupt ({error}); {RERUN}") from None


def _numbers(texts: Sequence[str]) -> NDArray[Any]:
    try:
        return np.array([int(text) for text in texts], np.int64)
    except (ValueError, OverflowError):
        return np.array([float(text or "nan") for text in texts])
