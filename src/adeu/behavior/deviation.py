"""The running standard deviation of the discounted return of intrinsic rewards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TINY = 1e-8


class Deviation(NamedTuple):
    """The returns of n environments and their running moments, in arrays that are written in place."""

    returns: NDArray[np.float64]
    """The discounted sum of each environment's rewards; it continues across episodes."""
    moments: NDArray[np.float64]
    """The number of returns, their mean, and the sum of squared differences from the mean."""

    @classmethod
    def empty(cls, num_envs: int) -> Deviation:
        """Return moments that include a return of 0 per environment, so that the first deviation is positive."""
        return cls(np.zeros(num_envs), np.array([num_envs, 0.0, 0.0]))

    def add(self, rewards: NDArray[np.float64], fresh: NDArray[np.bool_], gamma: float) -> float:
        """Add a reward of each `fresh` environment; return the new standard deviation."""
        self.returns[fresh] = gamma * self.returns[fresh] + rewards[fresh]
        new = self.returns[fresh]
        count, mean, squares = self.moments
        if len(new):
            total, shift = count + len(new), new.mean() - mean
            squares += np.sum((new - new.mean()) ** 2) + shift**2 * count * len(new) / total
            self.moments[:] = total, mean + shift * len(new) / total, squares
        return float(np.sqrt(squares / self.moments[0])) + TINY
