"""Shares and medians over runs; medians accept infinite values, for runs that never reach a goal."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from adeu.core import check
from adeu.runs.statistics.estimate import Band, Estimate, Floats, as_estimate, as_scores, as_values

Z = float(scipy.special.ndtri(0.975))


def wilson(share: ArrayLike, runs: int) -> tuple[Floats, Floats]:
    """Returns Wilson's 95% interval of a share p of n >= 1 runs.

        (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n),     z = 1.96

    Its coverage is 95% on average over all true shares; near 0 or 1 it can fall to 79% with one run, and to
    82% to 84% with more.

    Args:
        share: p, or an array of shares.
        runs: n.

    Examples:
        >>> low, high = wilson(4 / 5, 5)
        >>> print(f"{low:.2f} to {high:.2f}")
        0.38 to 0.96

    References:
        E. B. Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference, JASA 22:209-212.
        L. D. Brown, T. T. Cai and A. DasGupta (2001), Interval Estimation for a Binomial Proportion, Statistical
        Science 16(2):101-133.
    """
    check.as_whole("wilson", "runs", runs)
    p = np.asarray(share, float)
    middle = p + Z**2 / (2 * runs)
    half = Z * np.sqrt(p * (1 - p) / runs + Z**2 / (4 * runs**2))
    scale = 1 + Z**2 / runs
    # At 0 and 1 the bounds are exact, without rounding errors.
    low, high = np.where(p == 0, 0.0, (middle - half) / scale), np.where(p == 1, 1.0, (middle + half) / scale)
    return low, high


def share(values: ArrayLike) -> Estimate:
    """Returns the share of runs that succeeded, with `wilson`'s interval.

    Args:
        values: whether each seed succeeded, 0 or 1.

    Examples:
        >>> value, low, high = share([True, True, False, True, True])
        >>> print(f"{value:.2f} ({low:.2f} to {high:.2f})")
        0.80 (0.38 to 0.96)

    References:
        See `wilson`.
    """
    array = as_values("share", values)
    if not np.isin(array, (0, 1)).all():
        check.refuse("share", "values", "0 or 1 for each seed", array.tolist())
    return as_estimate(float(np.mean(array)), *wilson(np.mean(array), len(array)))


def median(values: ArrayLike) -> Estimate:
    """Returns the median over runs, with an interval between order statistics that is valid for any distribution.

        [x_(k), x_(n+1-k)],  the largest k with P(Binomial(n, 1/2) < k) <= 0.025

    Its coverage is at least 95%. Infinity stands for a run that never reached the goal; if the median or a bound of
    the interval is infinite, it is None.

    Args:
        values: a number for each seed, or infinity. The value is None if one is NaN; the interval is None with fewer
            than 6 seeds.

    Examples:
        >>> median([30.0, 10.0, 20.0, 60.0, 50.0, 40.0])
        Estimate(value=35.0, low=10.0, high=60.0)
        >>> median([30.0, 10.0, 20.0, np.inf, 50.0, 40.0])
        Estimate(value=35.0, low=10.0, high=None)
        >>> median([30.0, 10.0, 20.0])
        Estimate(value=20.0, low=None, high=None)

    References:
        H. A. David and H. N. Nagaraja (2003), Order Statistics, 3rd edition, section 7.1.
    """
    ordered = np.sort(as_values("median", values))
    if np.isnan(ordered).any():
        return Estimate(None, None, None)
    size = len(ordered)
    middle = ordered[(size - 1) // 2] / 2 + ordered[size // 2] / 2
    k = int(np.count_nonzero(scipy.special.bdtr(np.arange(size), size, 0.5) <= 0.025))
    return as_estimate(middle, *((ordered[k - 1], ordered[size - k]) if k else (math.nan, math.nan)))


def profile(scores: ArrayLike, levels: Sequence[float] | Floats) -> Band:
    """Returns the share of runs that score more than each level, with `wilson`'s interval at each level.

    The shares equal those of rliable's `run_score_deviation`. Runs of several tasks are pooled, which makes the
    interval conservative.

    Args:
        scores: a number for each run, of shape (seeds,) or (seeds, tasks).
        levels: the levels to compare with.

    Examples:
        >>> value, low, high = profile([[0.0, 2.0], [1.0, 3.0]], [0.5, 2.5])
        >>> print(value, low.round(2), high.round(2))
        [0.75 0.25] [0.3  0.05] [0.95 0.7 ]

    References:
        E. D. Dolan and J. J. More (2002), Benchmarking Optimization Software with Performance Profiles, Math.
        Programming 91:201-213; R. Agarwal et al. (2021), as for `iqm`.
    """
    ordered = np.sort(as_scores("profile", scores), axis=None)
    if np.isnan(ordered).any():
        check.refuse("profile", "scores", "numbers", "NaN")
    above = 1 - np.searchsorted(ordered, levels, side="right") / ordered.size
    return Band(above, *wilson(above, ordered.size))
