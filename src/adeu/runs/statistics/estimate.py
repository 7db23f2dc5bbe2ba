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
"""A case's runs: the columns of metrics.csv, each of shape (seeds, rows), and `seed`, of shape (seeds,)."""

FEWEST = 5
"""The fewest seeds for an interval of a mean: with fewer, valid intervals are too wide to be useful."""


class Estimate(NamedTuple):
    """A figure and its 95% interval; None if there is none. A `low` without a `high` is open above."""

    value: float | None
    low: float | None
    high: float | None


class Band(NamedTuple):
    """Figures and their 95% intervals, pointwise; NaN where there is none."""

    value: Floats
    low: Floats
    high: Floats


def as_estimate(value: float | Floats, low: float | Floats = math.nan, high: float | Floats = math.nan) -> Estimate:
    """From scalars or 0-d arrays; what is not finite becomes None."""
    return Estimate(*(each if math.isfinite(each) else None for each in map(float, (value, low, high))))


def known_mean(values: ArrayLike, axis: int) -> Floats:
    """The mean of the numbers that are not NaN; NaN if all are."""
    array = np.asarray(values, float)
    known = ~np.isnan(array)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, array, 0.0).sum(axis=axis) / known.sum(axis=axis))


def total(values: Floats | NDArray[np.bool_], axis: int | tuple[int, ...], keepdims: bool = False) -> Floats:
    """The sum along axes."""
    return np.asarray(values.sum(axis=axis, keepdims=keepdims), float)


def average(values: Floats, axis: int | tuple[int, ...], keepdims: bool = False) -> Floats:
    """The mean along axes."""
    return np.asarray(values.mean(axis=axis, keepdims=keepdims), float)


def as_values(owner: str, values: ArrayLike) -> Floats:
    """A number for each seed."""
    array = np.asarray(values, float)
    if array.ndim != 1 or not array.size:
        check.refuse(owner, "values", "an array of shape (seeds,)", f"shape {array.shape}")
    return array


def as_scores(owner: str, scores: ArrayLike) -> Floats:
    """A number for each run, of shape (seeds, tasks)."""
    array = np.asarray(scores, float)
    if array.ndim not in (1, 2) or not array.size:
        check.refuse(owner, "scores", "an array of shape (seeds,) or (seeds, tasks)", f"shape {array.shape}")
    return array.reshape(len(array), -1)
