"""The spreads of the last decisions, and how many of them lie at an end of g."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WINDOW = 1000


class History(NamedTuple):
    """The last 1,000 decisions of n environments: a ring buffer, written in place."""

    spreads: NDArray[np.float32]
    asked: NDArray[np.bool_]
    """Where f decided the spread."""
    acts: NDArray[np.int64]
    """How many decisions were made."""

    @classmethod
    def empty(cls, num_envs: int) -> History:
        return cls(
            np.full((WINDOW, num_envs), np.nan, np.float32),
            np.zeros((WINDOW, num_envs), bool),
            np.zeros((), np.int64),
        )

    def copied(self) -> History:
        return History(self.spreads.copy(), self.asked.copy(), self.acts.copy())

    def add(self, spread: NDArray[np.float32], asked: NDArray[np.bool_], idle: NDArray[np.bool_]) -> None:
        """Records a decision of each environment that is not idle."""
        place = int(self.acts) % WINDOW
        self.spreads[place] = np.where(idle, np.nan, spread)
        self.asked[place] = asked
        self.acts[...] += 1

    def recent(self) -> NDArray[np.float32]:
        """The spreads, oldest first; NaN where an environment was idle."""
        acts = int(self.acts)
        return np.roll(self.spreads, -(acts % WINDOW), axis=0)[WINDOW - min(acts, WINDOW) :]

    def share(self, at: Callable[[NDArray[Any]], NDArray[Any]]) -> float:
        """Among the spreads that f decided, the share that is `at` an end of g."""
        spreads = self.spreads[self.asked]
        return float(np.mean(at(spreads))) if spreads.size else 0.0
