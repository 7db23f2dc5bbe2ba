"""Runs that end when they have solved their task, read as if they had gone on as they ended."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from adeu.experiments.lib.experiment import read
from adeu.runs.folder import SPEC, read_json


def read_on(folder: pathlib.Path) -> Mapping[str, Any]:
    """A run's metrics, its last row repeated up to all the steps that it had."""
    columns = read(folder)
    every = int(columns["step"][0])
    missing = read_json(folder / SPEC)["setting"]["steps"] // every - len(columns["step"])
    longer = {name: np.pad(column, (0, missing), mode="edge") for name, column in columns.items()}
    return longer | {"step": every * np.arange(1, len(longer["step"]) + 1)}
