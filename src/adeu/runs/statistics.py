"""A figure over seeds, with the interval that other seeds might have given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Curves = Mapping[str, NDArray[np.float64]]
"""The columns of metrics.csv, each of shape (seeds, rows)."""

RESAMPLES = 2000


class Estimate(NamedTuple):
    value: float | None
    low: float | None
    high: float | None


def estimate(statistic: Callable[[Curves], float | None], curves: Curves) -> Estimate:
    """The statistic, and its 95% interval by drawing as many seeds again, with replacement, many times.

    A statistic may be None, undefined, for these seeds; it has no interval where it is undefined for some draws, nor
    with one seed alone.
    """
    value = statistic(curves)
    seeds = len(next(iter(curves.values())))
    if value is None or seeds < 2:
        return Estimate(value, None, None)
    draws = np.random.default_rng(0).integers(seeds, size=(RESAMPLES, seeds))
    drawn = [statistic({name: column[draw] for name, column in curves.items()}) for draw in draws]
    if None in drawn:
        return Estimate(value, None, None)
    low, high = np.quantile(np.array(drawn, float), [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def band(curve: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The 95% interval of the mean over seeds, at each row of a curve of shape (seeds, rows)."""
    draws = np.random.default_rng(0).integers(len(curve), size=(RESAMPLES, len(curve)))
    shares = np.stack([(draws == seed).mean(axis=1) for seed in range(len(curve))], axis=1)
    low, high = np.quantile(shares @ curve, [0.025, 0.975], axis=0)
    return low, high
