"""Reads runs that end when they solve their task, with the last row repeated to the full length."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from adeu.experiments.lib.experiment import read
from adeu.runs.folder import SPEC, stored_whole

MOST_ROWS = 1_000_000


def read_extended(folder: pathlib.Path) -> Mapping[str, NDArray[np.generic]]:
    """Return a run's metrics, with the last row repeated up to the full number of steps."""
    columns = read(folder)
    every = int(columns["step"][0])
    rows = stored_whole(folder, "steps") // every
    if not len(columns["step"]) <= rows <= MOST_ROWS:
        raise ValueError(f"{folder / SPEC}: steps do not match the metrics, which would have {rows} rows")
    missing = rows - len(columns["step"])
    longer = {name: np.pad(column, (0, missing), mode="edge") for name, column in columns.items()}
    return longer | {"step": every * np.arange(1, len(longer["step"]) + 1)}
