"""Reading run folders that may come from anybody: nothing outside of the folder is read, nothing is unpickled."""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from adeu.runs.folder import DONE

SUMMARY = "summary.json"
COMPARED = tuple(f"{name}{end}" for name in ("difference", "improvement") for end in ("", "_low", "_high"))
FIGURES = ("value", "low", "high", "paper", "seeds", "common_seeds", *COMPARED)
"""The numbers of a summary's row."""
MAX_BYTES = 200_000_000


def experiment_folders(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """The folders at or below the root that have a summary or complete runs; links are not followed."""
    for folder, below, files in os.walk(root, followlinks=False):
        below.sort()
        path = pathlib.Path(folder)
        if (SUMMARY in files and not (path / SUMMARY).is_symlink()) or any(complete_runs(path)):
            yield path


def complete_runs(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The folders of an experiment's complete runs; links are not followed."""
    for done in sorted(folder.glob(f"*/seed-*/{DONE}")):
        if inside(folder, *done.relative_to(folder).parts):
            yield done.parent


def inside(root: pathlib.Path, *names: str) -> pathlib.Path | None:
    """The path below the root that the names lead to; None where it climbs out, is a link or is not there."""
    try:
        path = root.joinpath(*names)
        below = path.relative_to(root)
        if not below.parts or ".." in below.parts:
            return None
        steps = [root.joinpath(*below.parts[: depth + 1]) for depth in range(len(below.parts))]
        return None if any(step.is_symlink() for step in steps) or not path.exists() else path
    except (ValueError, OSError):  # a name that no file can have
        return None


def read_text(path: pathlib.Path) -> str:
    if not path.is_file():
        raise ValueError(f"{path} is no file")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} is too large for a report: {path.stat().st_size:,} bytes")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is corrupt ({error})") from None


def read_json(path: pathlib.Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is corrupt ({error}); `adeu run` writes it anew") from None


def read_summary(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a summary, their figures finite or None."""
    rows = read_json(path)
    names = ("case", "metric")
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and all(isinstance(row.get(name), str) for name in names) for row in rows
    ):
        raise ValueError(f'{path} is no summary: it takes a list of rows {{"case", "metric", "value", ...}}')
    return [
        {name: row[name] for name in names}
        | {name: number(path, name, row.get(name)) for name in FIGURES}
        | {"runs": read_runs(path, row.get("runs")), "reference": read_name(path, "reference", row.get("reference"))}
        for row in rows
    ]


def read_runs(path: pathlib.Path, runs: Any) -> dict[str, float | None] | None:
    """Each seed's figure."""
    if runs is not None and not isinstance(runs, dict):
        raise ValueError(f"{path} is no summary: runs takes an object or null, got {str(runs)[:80]!r}")
    return None if runs is None else {seed: number(path, "runs", value) for seed, value in runs.items()}


def read_name(path: pathlib.Path, name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{path} is no summary: {name} takes a text or null, got {str(value)[:80]!r}")
    return value


def number(path: pathlib.Path, name: str, value: Any) -> float | None:
    """A finite number, or None: undefined."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{path} is no summary: {name} takes a number or null, got {str(value)[:80]!r}")
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # an integer beyond all floats
        return None


def read_columns(path: pathlib.Path, text: int = 0) -> tuple[list[list[str]], dict[str, list[float | None]]]:
    """The columns of a CSV file: the first `text` as they stand, those of numbers by name.

    A name may have commas in it: the columns of numbers are counted from the right.
    """
    try:
        head, *lines = read_text(path).splitlines()
        names = head.split(",")[text:]
        rows = [line.rsplit(",", len(names)) if text else line.split(",") for line in lines]
        if any(len(row) != len(names) + text for row in rows):
            raise ValueError("its rows do not have the columns of its head")
        numbers = {name: [_float(row[text + i]) for row in rows] for i, name in enumerate(names)}
    except ValueError as error:
        raise ValueError(f"{path} is corrupt ({error}); `adeu run` writes it anew") from None
    return [[row[i] for row in rows] for i in range(text)], numbers


def _float(text: str) -> float | None:
    value = float(text) if text else math.nan
    return value if math.isfinite(value) else None
