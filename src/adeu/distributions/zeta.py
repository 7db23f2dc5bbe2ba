"""How long an option lasts: n ~ zeta(mu)."""

from __future__ import annotations

import functools

import numpy as np


@functools.lru_cache(maxsize=32)
def zeta_survival(mu: float, longest: int) -> np.ndarray:
    """P(n > k) for k = 1 .. longest - 1; the rest of the tail falls on `longest`."""
    from scipy.special import zeta

    return np.asarray(zeta(mu, np.arange(2, longest + 1)) / zeta(mu))
