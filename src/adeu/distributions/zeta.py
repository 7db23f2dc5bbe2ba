"""The length of an option: n ~ zeta(mu)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core.contract import Array, Key

LONGEST = 10_000
"""The largest length that is drawn."""


@functools.lru_cache(maxsize=32)
def zeta_survival(mu: float, longest: int) -> np.ndarray:
    """Return P(n > k) for k = 1 .. longest - 1; larger n count as `longest`."""
    from scipy.special import zeta

    return np.asarray(zeta(mu, np.arange(2, longest + 1)) / zeta(mu))


def draw_length(key: Key, mu: float) -> Array:
    """Sample n ~ zeta(mu), at most `LONGEST`."""
    survival = jnp.asarray(zeta_survival(mu, LONGEST))
    above = 1.0 - jax.random.uniform(key)  # in (0, 1], as the inverse CDF needs
    return 1 + jnp.searchsorted(-survival, -above, side="left").astype(jnp.int32)
