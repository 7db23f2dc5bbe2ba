"""Measure the coverage and the width of 95% intervals: ours, Student's t and the bootstrap.

For each distribution of runs and number of seeds, simulates many experiments whose true value is known:

- the mean: `adeu.runs.statistics.mean`, Student's t, the percentile bootstrap, the studentized bootstrap
- the interquartile mean: `iqm` and the percentile bootstrap
- the max of the average run: its bias, and the coverage of its percentile bootstrap

Widths are medians, in standard deviations of a run. Takes about a minute: `python benchmarks/interval_coverage.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from adeu.runs.statistics.means import iqm_limits, mean_limits

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]
SEEDS = (3, 5, 10, 20)
TRIALS = 20_000
RESAMPLED = 2_000
"""Trials of the methods that resample."""
RESAMPLES = 1_000
EVALUATIONS = 20


class Groups:
    """Runs in two groups: 4 of 5 runs solve the task, with a return that is 10 times as high."""

    def rvs(self, size: tuple[int, ...], random_state: np.random.Generator) -> Floats:
        return np.where(random_state.random(size) < 0.8, 1.0, 0.1) + random_state.normal(0, 0.02, size)

    def mean(self) -> float:
        return 0.82

    def std(self) -> float:
        return float(np.sqrt(0.8 * 0.2 * 0.9**2 + 0.02**2))


RUNS: dict[str, Any] = {
    "normal": scipy.stats.norm(),
    "gamma(4)": scipy.stats.gamma(4),
    "lognormal(0.5)": scipy.stats.lognorm(0.5),
    "exponential": scipy.stats.expon(),
    "lognormal(1)": scipy.stats.lognorm(1.0),
    "two groups": Groups(),
}


def ours(runs: Floats) -> Bounds:
    _, low, high = mean_limits(runs[..., None])
    return low, high


def our_iqm(runs: Floats) -> Bounds:
    _, low, high = iqm_limits(runs[..., None])
    return low, high


def student(runs: Floats) -> Bounds:
    seeds = runs.shape[1]
    error = runs.std(axis=1, ddof=1) / np.sqrt(seeds)
    low, high = scipy.stats.t.interval(0.95, seeds - 1, runs.mean(axis=1), error)
    return low, high


def draws(runs: Floats) -> Floats:
    """Return bootstrap resamples, of shape (trials, resamples, seeds)."""
    seeds = runs.shape[1]
    return runs[:, np.random.default_rng(0).integers(seeds, size=(RESAMPLES, seeds))]


def percentile(runs: Floats) -> Bounds:
    low, high = np.quantile(draws(runs).mean(axis=2), (0.025, 0.975), axis=1)
    return low, high


def percentile_iqm(runs: Floats) -> Bounds:
    cut = runs.shape[1] // 4
    middle = np.sort(draws(runs), axis=2)[..., cut : runs.shape[1] - cut].mean(axis=2)
    low, high = np.quantile(middle, (0.025, 0.975), axis=1)
    return low, high


def studentized(runs: Floats) -> Bounds:
    value, error = runs.mean(axis=1), runs.std(axis=1, ddof=1)
    drawn = draws(runs)
    away = drawn.mean(axis=2) - value[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = away / drawn.std(axis=2, ddof=1)
    low, high = np.quantile(np.where(np.isnan(t), 0.0, t), (0.025, 0.975), axis=1, method="inverted_cdf")
    return value - high * error, value - low * error


MEANS: dict[str, Callable[[Floats], Bounds]] = {
    "ours": ours,
    "Student's t": student,
    "studentized bootstrap": studentized,
    "percentile bootstrap": percentile,
}
IQMS: dict[str, Callable[[Floats], Bounds]] = {"ours": our_iqm, "percentile bootstrap": percentile_iqm}


def measure(methods: dict[str, Callable[[Floats], Bounds]], name: str, truth: float) -> None:
    """Print a line for each number of seeds: coverage and width of each method."""
    for seeds in SEEDS:
        runs = RUNS[name].rvs((TRIALS, seeds), random_state=np.random.default_rng(seeds))
        cells = []
        for method, of in methods.items():
            low, high = of(runs if "bootstrap" not in method else runs[:RESAMPLED])
            if np.isnan(low).all():
                cells.append("-")
                continue
            held = ((low <= truth) & (truth <= high)).mean()
            cells.append(f"{held:.3f}, {np.median(high - low) / RUNS[name].std():.2f}")
        print(f"| {name} | {seeds} | {' | '.join(cells)} |")


def head(what: str, methods: dict[str, Callable[[Floats], Bounds]]) -> None:
    print(f"\n{what}: coverage, median width\n\n| runs | seeds | {' | '.join(methods)} |")
    print("| --- | ---: |" + " ---: |" * len(methods))


def measure_max(seeds: int) -> None:
    """Print bias and bootstrap coverage of the max of the average run, for a flat curve whose true max is 0."""
    rng = np.random.default_rng(seeds)
    curves = rng.normal(size=(RESAMPLED, seeds, EVALUATIONS))
    value = curves.mean(axis=1).max(axis=1)
    drawn = np.random.default_rng(0).integers(seeds, size=(RESAMPLES, seeds))
    tops = np.stack([curves[:, draw].mean(axis=1).max(axis=1) for draw in drawn], axis=1)
    low, high = np.quantile(tops, (0.025, 0.975), axis=1)
    held, above = ((low <= 0) & (high >= 0)).mean(), (low > 0).mean()
    print(f"| {seeds} | {value.mean():.2f} | {held:.2f} | {above:.2f} |")


def main() -> None:
    head("The mean", MEANS)
    for name, distribution in RUNS.items():
        measure(MEANS, name, distribution.mean())
    head("The interquartile mean", IQMS)
    for name, distribution in RUNS.items():
        if not isinstance(distribution, Groups):
            quantiles = np.linspace(0.25, 0.75, 100_001)[:-1] + 0.25 / 100_000
            measure(IQMS, name, float(distribution.ppf(quantiles).mean()))
    print(f"\nThe max of the average run, over a flat curve of {EVALUATIONS} evaluations with normal runs\n")
    print("| seeds | bias, in standard deviations | coverage of the percentile bootstrap | above the truth |")
    print("| ---: | ---: | ---: | ---: |")
    for seeds in SEEDS:
        measure_max(seeds)


if __name__ == "__main__":
    main()
