"""Statistics of the decisions between two evaluations, for logging."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core.contract import Decision
from adeu.core.explorer import Explorer

COUNTED = ("steps", "uncertainty", "spread", "explored", "deviation", "switches", "episodes")
PERCENTILES = {"spread_p10": 10.0, "spread_p90": 90.0}
MOST = 2**20
"""The largest number of spreads kept for percentiles."""


class Tally:
    """Sums over decisions, and their means as columns of metrics.csv.

    Args:
        explorer: its g defines which spreads are saturated, its D whether actions have a deviation.
    """

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._clear()

    def _clear(self) -> None:
        self._sums = dict.fromkeys(COUNTED, 0.0)
        self._asked = collections.deque[float](maxlen=MOST)
        """The spreads that f determined."""

    def add(self, decision: Decision, switches: float = 0.0, episodes: float = 0.0) -> None:
        """Add the decision of one environment, or the decisions of several."""
        spread, sums = np.asarray(decision.spread), self._sums
        sums["steps"] += spread.size
        for name in ("uncertainty", "spread", "explored", "deviation"):
            sums[name] += float(np.sum(getattr(decision, name)))
        sums["switches"] += switches
        sums["episodes"] += episodes
        self._asked += spread[np.asarray(decision.asked)].tolist()

    def columns(self) -> dict[str, float]:
        """Return the statistics since the last call; NaN without data.

        `uncertainty`, `spread`, `explored` and `deviation` are means over steps, `switches` is per episode.
        `saturated` and the percentiles `spread_p10` and `spread_p90` are over the steps whose spread f determined.
        Discrete actions have no `deviation`.
        """
        sums, asked = self._sums, np.array(self._asked)
        means = ("uncertainty", "spread", "explored", "deviation")
        row = {name: sums[name] / sums["steps"] if sums["steps"] else math.nan for name in means}
        row["switches"] = sums["switches"] / max(sums["episodes"], 1.0) if sums["steps"] else math.nan
        row["saturated"] = float(np.mean(self._explorer.g.saturated(asked))) if asked.size else math.nan
        for name, percent in PERCENTILES.items():
            row[name] = float(np.percentile(asked, percent)) if asked.size else math.nan
        if not self._explorer.D.has_deviation:
            del row["deviation"]
        self._clear()
        return row

    def scalars(self) -> dict[str, float]:
        """Return `columns` for a logger, with names such as `adeu/spread`, without NaN and `switches`."""
        row = self.columns()
        return {f"adeu/{name}": row[name] for name in row if name != "switches" and not math.isnan(row[name])}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: np.array(value) for name, value in self._sums.items()} | {"asked": np.array(self._asked)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._sums = {name: float(arrays[name]) for name in COUNTED}
        self._asked = collections.deque(arrays["asked"].tolist(), MOST)
