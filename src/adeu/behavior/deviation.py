"""The running standard deviation of the discounted return of intrinsic rewards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TINY = 1e-8


class Deviation(NamedTuple):
    """The returns of n environments and their running moments: arrays, written in place."""

    returns: NDArray[np.float64]
    """The discounted sum of each environment's rewards; it continues across episodes."""
    moments: NDArray[np.float64]
    """How many returns were seen, their mean and their sum of squared differences from it."""

    @classmethod
    def empty(cls, num_envs: int) -> Deviation:
        """Counts the returns of 0 before the first reward, so that the deviation is positive from the start."""
        return cls(np.zeros(num_envs), np.array([num_envs, 0.0, 0.0]))

    def add(self, rewards: NDArray[np.float64], fresh: NDArray[np.bool_], gamma: float) -> float:
        """Adds a reward of each environment that is `fresh`; returns the new standard deviation."""
        self.returns[fresh] = gamma * self.returns[fresh] + rewards[fresh]
        new = self.returns[fresh]
        count, mean, squares = self.moments
        if len(new):
            total, shift = count + len(new), new.mean() - mean
            squares += np.sum((new - new.mean()) ** 2) + shift**2 * count * len(new) / total
            self.moments[:] = total, mean + shift * len(new) / total, squares
        return float(np.sqrt(squares / self.moments[0])) + TINY
