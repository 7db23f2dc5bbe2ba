"""D: colored noise in a Box."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal

import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Key
from adeu.distributions.autoregressive import Mixture
from adeu.distributions.memory_noise import _MemoryNoise

TIMES = (1, 4, 16, 64, 256)
"""Time constants, in steps, of the autoregressive processes."""

BAND = (1 / 256, 1 / 4)
"""The range of frequencies, in cycles per step, in which the spectrum is fitted."""


@dataclasses.dataclass(frozen=True)
class Colored(_MemoryNoise):
    """Noise whose power decreases with frequency: white, pink or red; for Box spaces.

        a = clip(pi(s) + std * (high - low)/2 * x_t, low, high),  power of x at frequency w ~ w^-beta

    x_t is a sum of one white and five autoregressive processes with time constants of 1, 4, 16, 64 and 256 steps. It
    has unit variance at every step, is independent in each dimension, and does not need the episode length. The
    shares of the processes are fitted so that the log-log slope of the spectrum is -beta within 0.04 between 1/256
    and 1/4 cycles per step; at lower frequencies the spectrum is flatter. A beta of 0 is equivalent to `Gaussian`, a
    beta of 2 to the process of 256 steps only.

    The noise is multiplied by the spread of the current step, so a spread of 0 follows the policy. At the start of an
    episode the noise is redrawn from its stationary distribution, unless it is `carried`; it is also redrawn in steps
    in which a guard is active. Masks and `explored` are as for `Gaussian`.

    Args:
        beta: the negative slope, from 0 (white) to 2 (red); 1 is pink.
        carried: whether the noise carries over to the next episode.
        low: the smallest action, a number or one per dimension. The default is that of the space.
        high: the largest action, likewise.
        moment: whether the spread is a standard deviation ("std") or a variance ("variance").

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Colored(beta=1.0, low=[-1.0], high=[1.0])
        >>> carry = D.begin(jax.random.key(0))
        >>> for key in jax.random.split(jax.random.key(1), 3):
        ...     action, explored, carry = D.sample(key, (), carry, jax.numpy.zeros(1), spread=0.1)
        >>> carry.shape, bool(abs(action[0]) > 0)
        ((6, 1), True)

    Reference: Eberhard et al., "Pink Noise Is All You Need: Colored Noise Exploration in Deep Reinforcement
    Learning", 2023, in which the noise of a whole episode is drawn at once.
    """

    beta: float = 1.0
    carried: bool = False
    low: Any = None
    high: Any = None
    moment: Literal["std", "variance"] = "std"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.number(self, "beta", at_least=0, at_most=2)

    @property
    def mixture(self) -> Mixture:
        """The processes and their shares."""
        return _fit(self.beta)

    def _start(self, key: Key, shape: tuple[int, ...]) -> Array:
        return self.mixture.start(key, shape)

    def _advance(self, key: Key, carry: Array) -> tuple[Array, Array]:
        return self.mixture.advance(key, carry)


@functools.lru_cache(maxsize=32)
def _fit(beta: float) -> Mixture:
    """Return the mixture whose spectrum is nearest to frequency^-beta within `BAND`, in relative terms."""
    from scipy.optimize import nnls

    rho = np.append(0.0, np.exp(-1 / np.array(TIMES)))
    frequency = np.geomspace(*BAND, 64)
    each = np.stack([Mixture(rho[[i]], np.ones(1)).spectrum(frequency) for i in range(len(rho))], axis=1)
    shares, _ = nnls(each * frequency[:, None] ** beta, np.ones(len(frequency)))
    used = shares > 1e-9 * shares.sum()  # drops rounding errors, so that beta = 0 is white
    return Mixture(rho[used], shares[used] / shares.sum())
