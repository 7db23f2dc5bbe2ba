"""The rows of summary.json: a case's figure, and its comparison with the reference case seed by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adeu.runs.statistics import Curves, Estimate, difference, improvement

if TYPE_CHECKING:
    from adeu.experiments.lib.experiment import Metric

NONE = Estimate(None, None, None)


def summarise(
    metric: Metric, case: str, curves: Mapping[str, Curves], reference: str, paper: float | None
) -> dict[str, Any]:
    """Return the row of a metric. The fields of the comparison are None without a case to compare with."""
    curve = curves[case]
    values = metric.of(curve)
    row: dict[str, Any] = {"case": case, "metric": metric.name, **metric.over(values)._asdict()}
    row |= {"seeds": len(curve["seed"]), "paper": paper, "runs": None}
    if np.ndim(values) == 1:
        numbers: list[float] = values.astype(float).tolist()
        seeds: list[float] = curve["seed"].tolist()
        row["runs"] = {f"{seed:.0f}": finite(value) for seed, value in zip(seeds, numbers, strict=True)}
    if metric.paired and reference in curves and reference != case:
        return row | compare(metric, curve, curves[reference], reference)
    return row | compared("", 0)


def compare(metric: Metric, curve: Curves, other: Curves, reference: str) -> dict[str, Any]:
    """Return the difference from the reference over the seeds that both have, and the probability of improvement."""
    seeds, ours, theirs = np.intersect1d(curve["seed"], other["seed"], return_indices=True)
    if not seeds.size:
        return compared(reference, 0)
    x, y = np.asarray(metric.of(curve), float)[ours], np.asarray(metric.of(other), float)[theirs]
    better = {"more": (x, y), "less": (y, x)}.get(metric.better)
    return compared(
        reference, seeds.size, difference(x, y, metric.over), improvement(*better) if better is not None else NONE
    )


def compared(reference: str, seeds: int, more: Estimate = NONE, better: Estimate = NONE) -> dict[str, Any]:
    row: dict[str, Any] = {"reference": reference or None, "common_seeds": seeds if reference else None}
    for name, estimate in (("difference", more), ("improvement", better)):
        row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row


def finite(value: float) -> float | None:
    """Return a run's number, or None for infinity and NaN."""
    return value if math.isfinite(value) else None
