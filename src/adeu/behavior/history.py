"""The last decisions, and the share of their spreads at an end of g's range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WINDOW = 1000


class History(NamedTuple):
    """The last 1,000 decisions of n environments, in ring buffers that are written in place."""

    uncertainties: NDArray[np.float32]
    """NaN where an environment was idle."""
    spreads: NDArray[np.float32]
    """NaN where an environment was idle."""
    asked: NDArray[np.bool_]
    """Whether f determined the spread."""
    ages: NDArray[np.int32]
    """The number of earlier decisions in the same episode."""
    age: NDArray[np.int32]
    """The age of the next decision of each environment."""
    acts: NDArray[np.int64]
    """The total number of decisions."""

    @classmethod
    def empty(cls, num_envs: int) -> History:
        ring = (WINDOW, num_envs)
        return cls(
            np.full(ring, np.nan, np.float32),
            np.full(ring, np.nan, np.float32),
            np.zeros(ring, bool),
            np.zeros(ring, np.int32),
            np.zeros(num_envs, np.int32),
            np.zeros((), np.int64),
        )

    def add(
        self,
        uncertainty: NDArray[np.float32],
        spread: NDArray[np.float32],
        asked: NDArray[np.bool_],
        idle: NDArray[np.bool_],
    ) -> None:
        """Record a decision of each environment; `asked` must be False for idle ones."""
        place = int(self.acts) % WINDOW
        self.uncertainties[place], self.spreads[place] = uncertainty, spread
        self.asked[place], self.ages[place] = asked, self.age
        if np.count_nonzero(idle):
            self.uncertainties[place, idle] = self.spreads[place, idle] = np.nan
            self.age[~idle] += 1
        else:
            np.add(self.age, 1, out=self.age)
        self.acts[()] += 1

    def begin(self, begun: NDArray[np.bool_]) -> None:
        """Start an episode in these environments."""
        self.age[begun] = 0

    def recent(self, ring: NDArray[Any], most: int = WINDOW) -> NDArray[Any]:
        """Return the last rows of a ring buffer, at most `most`, oldest first."""
        acts = int(self.acts)
        return ring[np.arange(acts - min(acts, most, WINDOW), acts) % WINDOW]

    def share(self, at: Callable[[NDArray[Any]], NDArray[Any]]) -> float:
        """Return the share of spreads for which `at` is true, among those that f determined."""
        spreads = self.spreads[self.asked]
        return float(np.mean(at(spreads))) if spreads.size else 0.0
