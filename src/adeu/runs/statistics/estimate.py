"""A figure over seeds and its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.core import check

Floats = NDArray[np.float64]

Curves = Mapping[str, Floats]
"""A case's runs: the columns of metrics.csv, each of shape (seeds, rows), and `seed`, of shape (seeds,)."""

FEWEST = 5
"""Seeds from which on a mean has an interval: with fewer, those that hold are too wide to say anything."""


class Estimate(NamedTuple):
    """A figure and its 95% interval; None where there is none. A `low` without a `high`: open above."""

    value: float | None
    low: float | None
    high: float | None


class Band(NamedTuple):
    """Figures and their 95% intervals, pointwise; NaN where there is none."""

    value: Floats
    low: Floats
    high: Floats


def as_estimate(value: Any, low: Any = math.nan, high: Any = math.nan) -> Estimate:
    """What is not finite becomes None."""
    return Estimate(*(float(each) if np.isfinite(each) else None for each in (value, low, high)))


def known_mean(values: Any, axis: int) -> Floats:
    """The mean of the numbers that are not NaN; NaN where all are."""
    array = np.asarray(values, float)
    known = ~np.isnan(array)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, array, 0.0).sum(axis=axis) / known.sum(axis=axis))


def as_values(owner: str, values: Any) -> Floats:
    """A number for each seed."""
    array = np.asarray(values, float)
    if array.ndim != 1 or not array.size:
        check.refuse(owner, "values", "an array of shape (seeds,)", f"shape {array.shape}")
    return array


def as_scores(owner: str, scores: Any) -> Floats:
    """A number for each run, of shape (seeds, tasks)."""
    array = np.asarray(scores, float)
    if array.ndim not in (1, 2) or not array.size:
        check.refuse(owner, "scores", "an array of shape (seeds,) or (seeds, tasks)", f"shape {array.shape}")
    return array.reshape(len(array), -1)
