"""D: white noise in a Box."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import jax

from adeu.core.contract import Array, Carry, Key
from adeu.distributions.box_noise import _BoxNoise


@dataclasses.dataclass(frozen=True)
class Gaussian(_BoxNoise):
    """Normal noise around the mean action, clipped to the range; for Box spaces.

        a = clip(pi(s) + std * (high - low)/2 * N(0, I), low, high),  std = spread or sqrt(spread)

    Dimensions in which the `action_mask` is False get no noise. A decision counts as explored if the spread is
    above 0.

    Args:
        low: the smallest action, a number or one per dimension. The default is that of the space.
        high: the largest action, likewise.
        moment: whether the spread is a standard deviation ("std") or a variance ("variance").

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Gaussian(low=-2.0, high=2.0)
        >>> action, explored, carry = D.sample(jax.random.key(0), (), (), jax.numpy.array([0.5]), spread=0.0)
        >>> float(action[0]), bool(explored)
        (0.5, False)

    Reference: Fujimoto et al., "Addressing Function Approximation Error in Actor-Critic Methods", 2018.
    Paper: Eq. 1, section 3 (D for continuous actions).
    """

    low: Any = None
    high: Any = None
    moment: Literal["std", "variance"] = "std"

    def _noise(self, key: Key, carry: Carry, shape: tuple[int, ...]) -> tuple[Array, Carry]:
        return jax.random.normal(key, shape), carry
