"""Figures over seeds, with 95% confidence intervals where a method with correct coverage exists.

| figure | interval | from |
| --- | --- | --- |
| `mean`, `iqm`, `ratio`, `band` | Student's t, corrected for skewness | 5 seeds |
| `share`, `profile`, `improvement` | Wilson's, of a share | 1 seed |
| `median` | between two order statistics | 6 seeds |
| `peak`, the max of the average run | none | |
| `difference`, of two methods by seed | that of the chosen figure | |

`benchmarks/interval_coverage.py` simulates their coverage.
"""

from __future__ import annotations

from adeu.runs.statistics.estimate import FEWEST, Band, Curves, Estimate, known_mean
from adeu.runs.statistics.means import band, iqm, mean, peak, ratio
from adeu.runs.statistics.pairs import difference, improvement
from adeu.runs.statistics.shares import median, profile, share, wilson

__all__ = [
    "FEWEST",
    "Band",
    "Curves",
    "Estimate",
    "band",
    "difference",
    "improvement",
    "iqm",
    "known_mean",
    "mean",
    "median",
    "peak",
    "profile",
    "ratio",
    "share",
    "wilson",
]
