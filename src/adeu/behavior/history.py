"""The last decisions, step by step, and how many of their spreads lie at an end of g."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WINDOW = 1000


class History(NamedTuple):
    """The last 1,000 decisions of n environments: rings of arrays, written in place."""

    uncertainties: NDArray[np.float32]
    spreads: NDArray[np.float32]
    """NaN, as uncertainties are, where an environment was idle."""
    asked: NDArray[np.bool_]
    """Where f decided the spread."""
    ages: NDArray[np.int32]
    """How many decisions of the same episode went before."""
    age: NDArray[np.int32]
    """The same of the next decision of each environment."""
    acts: NDArray[np.int64]
    """How many decisions were made."""

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
        """Notes a decision of each environment that is not idle; f is not asked where one is."""
        place = int(self.acts) % WINDOW
        self.uncertainties[place] = np.where(idle, np.nan, uncertainty)
        self.spreads[place] = np.where(idle, np.nan, spread)
        self.asked[place] = asked
        self.ages[place] = self.age
        self.age[...] += ~idle
        self.acts[...] += 1

    def begin(self, begun: NDArray[np.bool_]) -> None:
        """Begins an episode in these environments."""
        self.age[begun] = 0

    def recent(self, ring: NDArray[Any], most: int = WINDOW) -> NDArray[Any]:
        """The last rows of one of the rings, `most` at most, oldest first."""
        acts = int(self.acts)
        return ring[np.arange(acts - min(acts, most, WINDOW), acts) % WINDOW]

    def share(self, at: Callable[[NDArray[Any]], NDArray[Any]]) -> float:
        """Among the spreads that f decided, the share that is `at` an end of g."""
        spreads = self.spreads[self.asked]
        return float(np.mean(at(spreads))) if spreads.size else 0.0
