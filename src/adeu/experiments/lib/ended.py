"""Reads runs that end when they solve their task, extended to the full length."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from adeu.experiments.lib.experiment import WATCHED, read
from adeu.runs.folder import SPEC, stored_whole

MOST_ROWS = 1_000_000


def read_extended(folder: pathlib.Path) -> Mapping[str, NDArray[np.generic]]:
    """Return a run's metrics up to the full number of steps.

    The last evaluation is repeated. The columns of exploration are NaN after the run's end, because it has no steps
    there.
    """
    columns = read(folder)
    every = int(columns["step"][0])
    rows = stored_whole(folder, "steps") // every
    if not len(columns["step"]) <= rows <= MOST_ROWS:
        raise ValueError(f"{folder / SPEC}: steps do not match the metrics, which would have {rows} rows")
    missing = rows - len(columns["step"])
    longer: dict[str, NDArray[np.generic]] = {}
    for name, column in columns.items():
        last = np.nan if name in WATCHED else column[-1]
        longer[name] = np.append(column, np.full(missing, last))
    return longer | {"step": every * np.arange(1, rows + 1)}
