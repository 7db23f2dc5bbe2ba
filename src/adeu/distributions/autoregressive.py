"""Sums of first-order autoregressive processes, with unit variance at every step."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.core.contract import Array, Key

Numbers = NDArray[np.float64]


class Mixture(NamedTuple):
    """A weighted sum of independent processes x' = rho x + sqrt(1 - rho^2) N(0, 1), each of variance 1."""

    rho: Numbers
    variance: Numbers
    """Each process's share of the sum's variance; they add up to 1."""

    def spectrum(self, frequency: Numbers) -> Numbers:
        """Return the power density at these frequencies, in cycles per step; it is 1 for white noise."""
        cosine = np.cos(2 * np.pi * frequency)[:, None]
        density: Numbers = (1 - self.rho**2) / (1 - 2 * self.rho * cosine + self.rho**2)
        return density @ self.variance

    def start(self, key: Key, shape: tuple[int, ...]) -> Array:
        """Sample the initial values of all processes, for noise of this shape."""
        return jax.random.normal(key, (len(self.rho), *shape))

    def advance(self, key: Key, processes: Array) -> tuple[Array, Array]:
        """Return the sum and the processes at the next step."""
        fresh = jax.random.normal(key, processes.shape)
        columns = (self.rho, np.sqrt(1 - self.rho**2), np.sqrt(self.variance))
        each = (-1, *(1,) * (processes.ndim - 1))
        rho, innovation, weight = (jnp.asarray(column.reshape(each), float) for column in columns)
        processes = rho * processes + innovation * fresh
        return jnp.sum(weight * processes, axis=0), processes
