"""Runs that end when they have solved their task, read as if they had gone on as they ended."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from adeu.experiments.lib.experiment import read
from adeu.runs.folder import SPEC, read_json

MOST_ROWS = 1_000_000


def read_on(folder: pathlib.Path) -> Mapping[str, Any]:
    """A run's metrics, its last row repeated up to all the steps that it had."""
    columns = read(folder)
    every = int(columns["step"][0])
    rows = read_json(folder / SPEC)["setting"]["steps"] // every
    if not len(columns["step"]) <= rows <= MOST_ROWS:
        raise ValueError(f"{folder / SPEC}: its steps do not go with its metrics, which would have {rows} rows")
    missing = rows - len(columns["step"])
    longer = {name: np.pad(column, (0, missing), mode="edge") for name, column in columns.items()}
    return longer | {"step": every * np.arange(1, len(longer["step"]) + 1)}
