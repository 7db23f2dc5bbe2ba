"""Means, with Student's t intervals corrected for skewness.

Scores of runs are skewed: a few lucky runs contribute most of the mean. Then (mean - mu)/error is not t distributed,
and ordinary t intervals miss the true mean on one side. Hall's transformation removes the skewness, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from adeu.core import check
from adeu.runs.statistics.estimate import FEWEST, Band, Estimate, Floats, as_estimate, as_scores, average, total

UPPER = 0.975
Limits = tuple[Floats, Floats, Floats]


def mean(scores: ArrayLike) -> Estimate:
    """Returns the mean over runs, with an interval by Hall's transformation of Student's t.

    With the standard error e and the skewness a of the mean (of one task: s/sqrt(n) and g/sqrt(n), where g is the
    runs' skewness) and T = (mean - mu)/e, the interval contains every mu for which

        Q(T) = T + a T^2/3 + a^2 T^3/27 + a/6

    lies between the quantiles of Student's t with n - 1 degrees of freedom. With several tasks, variances are
    computed within each task, and the degrees of freedom are those of Welch and Satterthwaite.

    Args:
        scores: a number for each run, of shape (seeds,) or (seeds, tasks). The value is None if a score is not
            finite; the interval is None with fewer than 5 seeds, or if all scores are equal.

    Examples:
        >>> value, low, high = mean([3.0, 5.0, 4.0, 4.0, 14.0])
        >>> print(f"{value:.1f} ({low:.1f} to {high:.1f})")  # Student's t: 0.4 to 11.6
        6.0 (2.2 to 24.6)
        >>> mean([3.0, 5.0, 4.0])
        Estimate(value=4.0, low=None, high=None)

    References:
        P. Hall (1992), On the Removal of Skewness by Transformation, J. R. Stat. Soc. B 54(1):221-228.
    """
    return _one(mean_limits, as_scores("mean", scores))


def iqm(scores: ArrayLike) -> Estimate:
    """Returns the interquartile mean, the mean of the middle half of the runs.

    It is robust to outliers, with less noise than a median. The value equals that of rliable and of
    `scipy.stats.trim_mean(scores, 0.25)`. The interval is that of `mean`, with the standard error of a trimmed mean:
    of n runs, c = n // 4 are cut off at each end and h = n - 2c are left; with s_w the winsorized standard
    deviation (runs that are cut off are set to the nearest one left),

        e^2 = (n - 1) s_w^2 / (h (h - 1)),     h - 1 degrees of freedom.

    Args:
        scores: as for `mean`; the runs of all tasks are pooled.

    Examples:
        >>> iqm([0.0, 1.0, 3.0, 100.0])
        Estimate(value=2.0, low=None, high=None)
        >>> value, low, high = iqm([3.0, 5.0, 4.0, 4.0, 14.0, 6.0, 2.0, 5.0])
        >>> print(f"{value:.1f} ({low:.1f} to {high:.1f})")
        4.5 (3.2 to 5.8)

    References:
        K. K. Yuen (1974), The Two-Sample Trimmed t for Unequal Population Variances, Biometrika 61(1):165-170.
        R. Agarwal et al. (2021), Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS.
    """
    return _one(iqm_limits, as_scores("iqm", scores))


def ratio(pairs: ArrayLike) -> Estimate:
    """Returns a ratio of two sums over seeds, such as the share of all states with some property.

        r = sum_i a_i / sum_i b_i

    Its interval is that of the mean of r + (a_i - r b_i)/b, the linearisation of r, with b the mean of the b_i.

    Args:
        pairs: a_i and b_i of each seed, of shape (seeds, 2). The value is None if a number is not finite or the b_i
            add up to 0.

    Examples:
        >>> value, low, high = ratio([[9, 10], [14, 20], [24, 30], [7, 10], [4, 5]])
        >>> print(f"{value:.2f} ({low:.2f} to {high:.2f})")
        0.77 (0.67 to 0.86)

    References:
        W. G. Cochran (1977), Sampling Techniques, 3rd edition, section 6.3.
    """
    array = np.asarray(pairs, float)
    if array.ndim != 2 or array.shape[1] != 2 or not array.size:
        check.refuse("ratio", "pairs", "an array of shape (seeds, 2)", f"shape {array.shape}")
    above, below = array[:, 0], array[:, 1]
    if not (np.isfinite(array).all() and np.sum(below)):
        return Estimate(None, None, None)
    value = np.sum(above) / np.sum(below)
    return _one(mean_limits, (value + (above - value * below) / np.mean(below))[:, None])


def peak(curve: ArrayLike) -> Estimate:
    """Returns the max of the average run, the highest point of the seed-averaged curve, without an interval.

        max_k (1/n) sum_i x_ik

    It is biased upwards, more so with fewer seeds, because the max picks the luckiest evaluation. For a flat curve of
    20 evaluations it is 1.9 standard errors above the true value, and the bootstrap interval lies entirely above it.

    Args:
        curve: of shape (seeds, rows).

    Examples:
        >>> peak([[0.0, 10.0, 20.0], [2.0, 4.0, 30.0]])
        Estimate(value=25.0, low=None, high=None)

    References:
        J. E. Smith and R. L. Winkler (2006), The Optimizer's Curse, Management Science 52(3):311-322.
    """
    return as_estimate(np.max(average(np.asarray(curve, float), axis=0)))


def band(curve: ArrayLike) -> Band:
    """Returns `mean` at each row of a curve, with pointwise intervals.

    Args:
        curve: of shape (seeds, rows).

    Examples:
        >>> value, low, high = band([[1.0, 3.0], [2.0, 3.0], [3.0, 3.0], [4.0, 3.0], [5.0, 3.0]])
        >>> print(value, low.round(2), high.round(2))
        [3. 3.] [1.04  nan] [4.96  nan]

    References:
        See `mean`.
    """
    with np.errstate(invalid="ignore"):
        return Band(*mean_limits(np.asarray(curve, float).T[..., None]))


def mean_limits(scores: Floats) -> Limits:
    """Returns means and their intervals for a batch of shape (..., seeds, tasks); missing values are NaN."""
    return _skewed(average(scores, axis=(-2, -1)), scores)


def iqm_limits(scores: Floats) -> Limits:
    """Returns IQMs and their intervals for a batch of shape (..., seeds, tasks); missing values are NaN."""
    seeds, tasks = scores.shape[-2:]
    runs = seeds * tasks
    cut = runs // 4
    left = runs - 2 * cut
    ordered = np.sort(scores.reshape(*scores.shape[:-2], runs), axis=-1)
    value = average(ordered[..., cut : runs - cut], axis=-1)
    if seeds < FEWEST:
        return _skewed(value, scores)
    winsorised = np.clip(scores, ordered[..., cut, None, None], ordered[..., runs - cut - 1, None, None])
    yuen = math.sqrt((runs - tasks) / runs * left / (left - tasks))
    return _skewed(value, winsorised * (runs / left), freedom=left - tasks, wider=yuen)


def _skewed(value: Floats, parts: Floats, freedom: float | Floats | None = None, wider: float = 1.0) -> Limits:
    """Returns the interval of a value whose error is that of the mean of `parts`, of shape (..., seeds, tasks)."""
    seeds, tasks = parts.shape[-2:]
    if seeds < FEWEST:
        return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
    away = parts - average(parts, axis=-2, keepdims=True)
    variances = total(away**2, axis=-2) / (seeds * (seeds - 1))  # of each task's mean
    thirds = total(away**3, axis=-2) / (seeds * (seeds - 1)) ** 1.5
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = np.any(parts.max(axis=-2) > parts.min(axis=-2), axis=-1)
        variance: Floats = np.where(varies, total(variances, axis=-1), np.nan)
        skewness = total(thirds, axis=-1) / variance**1.5
        if freedom is None:
            freedom = (seeds - 1) * variance**2 / total(variances**2, axis=-1)
    error, t = wider * np.sqrt(variance) / tasks, np.asarray(scipy.special.stdtrit(freedom, UPPER), float)
    return value, value - error * _inverse(t, skewness), value - error * _inverse(-t, skewness)


def _inverse(q: Floats, a: Floats) -> Floats:
    """Solves Q(T) = q: T = 3/a (cbrt(1 + a (q - a/6)) - 1), without dividing by a, which may be 0."""
    shifted = q - a / 6
    root = np.cbrt(1 + a * shifted)
    return np.asarray(3 * shifted / (1 + root + root**2))


def _one(limits: Callable[[Floats], Limits], scores: Floats) -> Estimate:
    return as_estimate(*limits(scores)) if np.isfinite(scores).all() else Estimate(None, None, None)
