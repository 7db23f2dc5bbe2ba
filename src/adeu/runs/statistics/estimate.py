"""A figure over seeds and its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.core import check

Floats = NDArray[np.float64]

Curves = Mapping[str, Floats]
"""The runs of a case: the columns of metrics.csv, each of shape (seeds, rows), and `seed`, of shape (seeds,)."""

FEWEST = 5
"""The fewest seeds for an interval of a mean: with fewer, valid intervals are too wide to be useful."""


class Estimate(NamedTuple):
    """A figure and its 95% interval; missing values are None. With `low` but no `high`, it is unbounded above."""

    value: float | None
    low: float | None
    high: float | None


class Band(NamedTuple):
    """Figures and their pointwise 95% intervals; missing values are NaN."""

    value: Floats
    low: Floats
    high: Floats


def as_estimate(value: float | Floats, low: float | Floats = math.nan, high: float | Floats = math.nan) -> Estimate:
    """Converts scalars or 0-d arrays to an estimate; values that are not finite become None."""
    return Estimate(*(each if math.isfinite(each) else None for each in map(float, (value, low, high))))


def known_mean(values: ArrayLike, axis: int) -> Floats:
    """Returns the mean along an axis, ignoring NaN; NaN if all values are."""
    array = np.asarray(values, float)
    known = ~np.isnan(array)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, array, 0.0).sum(axis=axis) / known.sum(axis=axis))


def total(values: Floats | NDArray[np.bool_], axis: int | tuple[int, ...], keepdims: bool = False) -> Floats:
    """Returns the sum along axes."""
    return np.asarray(values.sum(axis=axis, keepdims=keepdims), float)


def average(values: Floats, axis: int | tuple[int, ...], keepdims: bool = False) -> Floats:
    """Returns the mean along axes."""
    return np.asarray(values.mean(axis=axis, keepdims=keepdims), float)


def as_values(owner: str, values: ArrayLike) -> Floats:
    """Checks and returns an array with one number per seed."""
    array = np.asarray(values, float)
    if array.ndim != 1 or not array.size:
        check.refuse(owner, "values", "an array of shape (seeds,)", f"shape {array.shape}")
    return array


def as_scores(owner: str, scores: ArrayLike) -> Floats:
    """Checks the scores and returns them with shape (seeds, tasks)."""
    array = np.asarray(scores, float)
    if array.ndim not in (1, 2) or not array.size:
        check.refuse(owner, "scores", "an array of shape (seeds,) or (seeds, tasks)", f"shape {array.shape}")
    return array.reshape(len(array), -1)
