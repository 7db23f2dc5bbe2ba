"""Compares two methods seed by seed.

Runs with the same seed share everything that the seed determines, such as the random draws of the task and the
initial weights. Their difference removes this shared variation. If they share nothing, the comparison is still valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from adeu.core import check
from adeu.runs.statistics.estimate import Estimate, Floats, as_estimate, as_values
from adeu.runs.statistics.means import mean
from adeu.runs.statistics.shares import Z, share, wilson


def difference(ours: ArrayLike, theirs: ArrayLike, over: Callable[[Floats], Estimate] = mean) -> Estimate:
    """Returns the difference of two methods, paired by seed.

        over_i (x_i - y_i)

    For shares, where each x_i - y_i is -1, 0 or 1, the interval is that of Bonett and Price. One seed in which only
    ours succeeded and one in which only theirs did are added; p and q are the shares of these two kinds among the
    n + 2 seeds,

        p - q -+ z sqrt((p + q - (p - q)^2)/(n + 2))

    Args:
        ours: a number for each seed.
        theirs: the numbers of the other method, in the same order of seeds.
        over: `mean`, `iqm`, `median` or `share`. A median of differences is not the difference of medians.

    Examples:
        >>> value, low, high = difference([5.0, 7.0, 6.0, 9.0, 8.0], [4.0, 4.0, 5.0, 7.0, 5.0])
        >>> print(f"{value:.1f} ({low:.1f} to {high:.1f})")
        2.0 (0.8 to 3.2)
        >>> value, low, high = difference([1, 1, 1, 0, 1], [0, 0, 1, 0, 0], share)
        >>> print(f"{value:.1f} ({low:.1f} to {high:.1f})")
        0.6 (-0.1 to 1.0)

    References:
        D. G. Bonett and R. M. Price (2012), Adjusted Wald Confidence Interval for a Difference of Binomial
        Proportions Based on Paired Data, J. Educational and Behavioral Statistics 37(4):479-488.
    """
    x, y = _paired("difference", ours, theirs)
    if over is not share:
        with np.errstate(invalid="ignore"):  # inf - inf is NaN
            return over(x - y)
    seeds = len(x) + 2
    p, q = (np.count_nonzero(x > y) + 1) / seeds, (np.count_nonzero(x < y) + 1) / seeds
    half = Z * math.sqrt((p + q - (p - q) ** 2) / seeds)
    return as_estimate(float(np.mean(x - y)), max(-1.0, p - q - half), min(1.0, p - q + half))


def improvement(ours: ArrayLike, theirs: ArrayLike) -> Estimate:
    """Returns the probability that our run beats theirs of the same seed, with `wilson`'s interval; ties count half.

        (1/n) sum_i [x_i > y_i] + [x_i = y_i]/2

    rliable's probability of improvement compares all pairs of runs, so its n^2 comparisons are not independent, and
    its bootstrap interval for a method that never lost is [1, 1]. The n comparisons here are independent for any
    distribution of the runs, so Wilson's interval is valid; with ties it is conservative.

    Args:
        ours: a number for each seed, larger is better; infinity is allowed.
        theirs: the numbers of the other method, in the same order of seeds.

    Examples:
        >>> value, low, high = improvement([5.0, 7.0, 6.0, 9.0, 8.0], [4.0, 4.0, 6.0, 7.0, 5.0])
        >>> print(f"{value:.2f} ({low:.2f} to {high:.2f})")
        0.90 (0.46 to 0.99)

    References:
        R. Agarwal et al. (2021), as for `iqm`; J. Demsar (2006), Statistical Comparisons of Classifiers over Multiple
        Data Sets, JMLR 7:1-30, section 3.1.4, the sign test.
    """
    x, y = _paired("improvement", ours, theirs)
    if np.isnan(x).any() or np.isnan(y).any():
        return Estimate(None, None, None)
    better = float(np.mean((x > y) + 0.5 * (x == y)))
    return as_estimate(better, *wilson(better, len(x)))


def _paired(owner: str, ours: ArrayLike, theirs: ArrayLike) -> tuple[Floats, Floats]:
    x, y = as_values(owner, ours), as_values(owner, theirs)
    if len(x) != len(y):
        check.refuse(owner, "theirs", f"a number for each of the same {len(x)} seeds", f"{len(y)} numbers")
    return x, y
