"""Figures over seeds and tasks, with the interval that other seeds might have given.

A case's curves are summed up by `estimate`; scores of shape (seeds, tasks), one number per run, by `iqm`,
`improvement` and `profile`, each with its interval by `stratified`. These are the statistics of Agarwal et al.,
"Deep Reinforcement Learning at the Edge of the Statistical Precipice" (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.core import check

Curves = Mapping[str, NDArray[np.float64]]
"""The columns of metrics.csv, each of shape (seeds, rows)."""

Scores = NDArray[np.float64]
"""One number per run, of shape (seeds, tasks)."""

RESAMPLES = 2000
LEVELS = (0.025, 0.975)


class Estimate(NamedTuple):
    value: float | None
    low: float | None
    high: float | None


def estimate(statistic: Callable[[Curves], float | None], curves: Curves) -> Estimate:
    """The statistic, and its 95% interval by drawing as many seeds again, with replacement, many times.

    A statistic may be None, undefined, for these seeds, or not finite, which is no figure either; it has no interval
    where it is so for some draws, nor with one seed alone.
    """
    value = statistic(curves)
    seeds = len(next(iter(curves.values())))
    if value is None or not np.isfinite(value):
        return Estimate(None, None, None)
    if seeds < 2:
        return Estimate(value, None, None)
    draws = np.random.default_rng(0).integers(seeds, size=(RESAMPLES, seeds))
    drawn = [statistic(_Drawn(curves, draw)) for draw in draws]
    figures = np.array(drawn, float)  # None becomes NaN
    if not np.isfinite(figures).all():
        return Estimate(value, None, None)
    low, high = np.quantile(figures, LEVELS)
    return Estimate(value, float(low), float(high))


class _Drawn(Mapping[str, NDArray[np.float64]]):
    """The curves of some seeds; a column is copied when it is asked for."""

    def __init__(self, curves: Curves, seeds: NDArray[np.int64]) -> None:
        self._curves, self._seeds = curves, seeds

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._curves[name].take(self._seeds, axis=0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)


def band(curve: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The 95% interval of the mean over seeds, at each row of a curve of shape (seeds, rows)."""
    draws = np.random.default_rng(0).integers(len(curve), size=(RESAMPLES, len(curve)))
    shares = np.stack([(draws == seed).mean(axis=1) for seed in range(len(curve))], axis=1)
    low, high = np.quantile(shares @ curve, LEVELS, axis=0)
    return low, high


def iqm(scores: Scores) -> float:
    """The mean of the middle half of all runs: robust to a lucky run as the median is, with less noise.

    Examples:
        >>> iqm(np.array([[0.0], [1.0], [3.0], [100.0]]))
        2.0
    """
    ordered = np.sort(_scores("iqm", scores), axis=None)
    cut = ordered.size // 4
    return float(ordered[cut : ordered.size - cut].mean())


def improvement(scores: Scores, baseline: Scores) -> float:
    """How likely a run beats one of the baseline on the same task, ties counting half; the mean over tasks.

    Examples:
        >>> improvement(np.array([[1.0], [3.0]]), np.array([[0.0], [1.0]]))
        0.875
    """
    ours, theirs = _scores("improvement", scores), _scores("improvement", baseline)
    if ours.shape[1] != theirs.shape[1]:
        check.refuse("improvement", "baseline", f"scores on the same {ours.shape[1]} tasks", theirs.shape)
    difference = ours[:, None] - theirs[None]
    return float(np.mean((difference > 0) + 0.5 * (difference == 0)))


def profile(scores: Scores, levels: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of runs that score more than each level.

    Examples:
        >>> profile(np.array([[0.0, 2.0], [1.0, 3.0]]), [0.5, 2.5])
        array([0.75, 0.25])
    """
    ordered = np.sort(_scores("profile", scores), axis=None)
    return np.asarray(1 - np.searchsorted(ordered, levels, side="right") / ordered.size)


class Interval(NamedTuple):
    """A statistic, a number or an array, and its 95% interval."""

    value: Any
    low: Any
    high: Any


def stratified(statistic: Callable[..., Any], *scores: Scores, tasks: bool = False) -> Interval:
    """A statistic of one or several methods' scores, and its 95% interval by a stratified bootstrap.

    Args:
        statistic: of as many arrays as there are `scores`.
        scores: each of shape (seeds, tasks); on each task as many seeds are drawn again, with replacement.
        tasks: draws the tasks too: what other tasks of the same kind might have given. All methods get the same.

    Examples:
        >>> ours, theirs = np.array([[3.0, 5.0], [4.0, 6.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
        >>> value, low, high = stratified(iqm, ours)
        >>> value, low < value < high
        (4.5, True)
        >>> stratified(improvement, ours, theirs)
        Interval(value=1.0, low=1.0, high=1.0)
    """
    scores = tuple(_scores("stratified", each) for each in scores)
    rng = np.random.default_rng(0)
    drawn, number = [], scores[0].shape[1]
    for _ in range(RESAMPLES):
        columns = rng.integers(number, size=number) if tasks else np.arange(number)
        seeds = [rng.integers(len(each), size=(len(each), number)) for each in scores]
        drawn.append(statistic(*(each[rows, columns] for each, rows in zip(scores, seeds, strict=True))))
    low, high = np.quantile(np.array(drawn, float), LEVELS, axis=0)
    return Interval(statistic(*scores), *(each.item() if np.ndim(each) == 0 else each for each in (low, high)))


def _scores(owner: str, scores: Any) -> Scores:
    array = np.asarray(scores, float)
    if array.ndim != 2 or not array.size:
        check.refuse(owner, "scores", "an array of shape (seeds, tasks)", f"shape {array.shape}")
    if not np.isfinite(array).all():
        check.refuse(owner, "scores", "finite numbers", "NaN or infinity")
    return array
