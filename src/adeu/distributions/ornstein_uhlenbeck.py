"""D: Ornstein-Uhlenbeck noise in a Box."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Key
from adeu.distributions.autoregressive import Mixture
from adeu.distributions.memory_noise import _MemoryNoise


@dataclasses.dataclass(frozen=True)
class OrnsteinUhlenbeck(_MemoryNoise):
    """Ornstein-Uhlenbeck noise, which decays by the factor 1 - theta in each step; for Box spaces.

        a = clip(pi(s) + std * (high - low)/2 * x_t, low, high)
        x_t = rho x_t-1 + sqrt(1 - rho^2) N(0, I),  rho = 1 - theta

    x_t has unit variance at every step, including the first, so the spread is the standard deviation of the noise for
    any theta. With `from_zero`, the variance starts at 0 in each episode and grows to 1. The correlation falls to 1/e
    in about 1 / theta steps; a theta of 1 is equivalent to `Gaussian`. The start of an episode, a spread of 0,
    guards, masks and `explored` are as for `Colored`.

    Stable-Baselines3's `OrnsteinUhlenbeckActionNoise(mean, sigma, theta=0.15, dt=0.01)` has rho = 1 - theta * dt. It
    is `OrnsteinUhlenbeck(theta=0.0015, from_zero=True)` with a spread of sigma * sqrt(dt / (1 - rho^2)), which is
    1.83 sigma.

    Args:
        theta: the decay per step, above 0 and at most 1.
        carried: whether the noise carries over to the next episode.
        from_zero: whether an episode starts without noise.
        low: the smallest action, a number or one per dimension. The default is that of the space.
        high: the largest action, likewise.
        moment: whether the spread is a standard deviation ("std") or a variance ("variance").

    Examples:
        >>> import adeu, jax
        >>> D = adeu.OrnsteinUhlenbeck(theta=0.15, low=[-1.0], high=[1.0])
        >>> action, explored, carry = D.sample(
        ...     jax.random.key(0), (), jax.numpy.ones((1, 1)), jax.numpy.zeros(1), spread=0.0
        ... )
        >>> float(action[0])
        0.0

    Reference: Lillicrap et al., "Continuous control with deep reinforcement learning", 2016.
    """

    theta: float = 0.15
    carried: bool = False
    from_zero: bool = False
    low: Any = None
    high: Any = None
    moment: Literal["std", "variance"] = "std"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.number(self, "theta", above=0, at_most=1)
        check.instance(self, "from_zero", bool)

    @property
    def mixture(self) -> Mixture:
        """The noise process."""
        return Mixture(np.array([1.0 - self.theta]), np.ones(1))

    def _start(self, key: Key, shape: tuple[int, ...]) -> Array:
        started = self.mixture.start(key, shape)
        return jnp.zeros_like(started) if self.from_zero else started

    def _advance(self, key: Key, carry: Array) -> tuple[Array, Array]:
        return self.mixture.advance(key, carry)
