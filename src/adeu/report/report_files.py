"""Reads run folders from untrusted sources: reads nothing outside of the folder, and unpickles nothing."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Iterator
from typing import Any

from adeu.core import files
from adeu.experiments.lib.experiment import complete_runs

SUMMARY = "summary.json"
COMPARED = tuple(f"{name}{end}" for name in ("difference", "improvement") for end in ("", "_low", "_high"))
FIGURES = ("value", "low", "high", "paper", "seeds", "common_seeds", *COMPARED)
"""The numbers of a summary's row."""


def experiment_folders(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the folders at or below the root that have a summary or complete runs; links are not followed."""
    with_runs = {run.parent.parent for _, _, run in complete_runs(root)}
    for folder, names in files.walk(root):
        if folder in with_runs or (SUMMARY in names and not (folder / SUMMARY).is_symlink()):
            yield folder


def read_json(path: pathlib.Path) -> Any:
    try:
        return json.loads(files.read(path))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is corrupt ({error}); `adeu run` writes it again") from None


def read_summary(path: pathlib.Path) -> list[dict[str, Any]]:
    """Read the rows of a summary; figures that are not finite become None."""
    rows = read_json(path)
    names = ("case", "metric")
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and all(isinstance(row.get(name), str) for name in names) for row in rows
    ):
        raise ValueError(f'{path} is not a summary: it must be a list of rows {{"case", "metric", "value", ...}}')
    return [
        {name: row[name] for name in names}
        | {name: number(path, name, row.get(name)) for name in FIGURES}
        | {"runs": read_runs(path, row.get("runs")), "reference": read_name(path, "reference", row.get("reference"))}
        for row in rows
    ]


def read_runs(path: pathlib.Path, runs: Any) -> dict[str, float | None] | None:
    """Read the figure of each seed."""
    if runs is not None and not isinstance(runs, dict):
        raise ValueError(f"{path} is not a summary: runs takes an object or null, got {str(runs)[:80]!r}")
    return None if runs is None else {seed: number(path, "runs", value) for seed, value in runs.items()}


def read_name(path: pathlib.Path, name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{path} is not a summary: {name} takes a text or null, got {str(value)[:80]!r}")
    return value


def number(path: pathlib.Path, name: str, value: Any) -> float | None:
    """Return a finite number, or None if it is not finite."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{path} is not a summary: {name} takes a number or null, got {str(value)[:80]!r}")
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # an integer that is too large for a float
        return None


def read_columns(path: pathlib.Path, text: int = 0) -> tuple[list[list[str]], dict[str, list[float | None]]]:
    """Read the columns of a CSV file: the first `text` columns as strings, the others as numbers by name.

    Columns are split from the right, because the name of a case may contain commas.
    """
    try:
        head, *lines = files.read(path).decode().splitlines()
        names = head.split(",")[text:]
        rows = [line.rsplit(",", len(names)) if text else line.split(",") for line in lines]
        if any(len(row) != len(names) + text for row in rows):
            raise ValueError("rows and header differ in the number of columns")
        numbers = {name: [_float(row[text + i]) for row in rows] for i, name in enumerate(names)}
    except ValueError as error:
        raise ValueError(f"{path} is corrupt ({error}); `adeu run` writes it again") from None
    return [[row[i] for row in rows] for i in range(text)], numbers


def _float(text: str) -> float | None:
    return finite(float(text)) if text else None


def finite(value: Any) -> Any:
    """Return None for a float that is not finite, and any other value unchanged."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
