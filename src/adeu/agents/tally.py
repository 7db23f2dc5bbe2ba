"""What a loop counts between two evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core.contract import Decision, Normalizer

COUNTED = ("steps", "uncertainty", "spread", "explored", "switches", "episodes", "asked", "saturated")


class Tally:
    """Sums over decisions, and their means as columns of metrics.csv.

    Args:
        g: says when a spread is saturated.
    """

    def __init__(self, g: Normalizer) -> None:
        self._g = g
        self._sums = dict.fromkeys(COUNTED, 0.0)

    def add(self, decision: Decision, switches: float, episodes: float) -> None:
        """Counts the decision of one environment, or those of several."""
        asked = np.asarray(decision.asked)
        sums = self._sums
        sums["steps"] += np.size(decision.spread)
        for name in ("uncertainty", "spread", "explored"):
            sums[name] += float(np.sum(getattr(decision, name)))
        sums["switches"] += switches
        sums["episodes"] += episodes
        sums["asked"] += float(np.sum(asked))
        sums["saturated"] += float(np.sum(asked & self._g.saturated(np.asarray(decision.spread))))

    def columns(self) -> dict[str, float]:
        """The means since the last call."""
        sums, steps = self._sums, max(self._sums["steps"], 1.0)
        row = {name: sums[name] / steps for name in ("uncertainty", "spread", "explored")}
        row["switches"] = sums["switches"] / max(sums["episodes"], 1.0)
        row["saturated"] = sums["saturated"] / max(sums["asked"], 1.0)
        self._sums = dict.fromkeys(COUNTED, 0.0)
        return row

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: np.array(value) for name, value in self._sums.items()}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._sums = {name: float(arrays[name]) for name in COUNTED}
