"""D: white noise in a Box."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Carry, Distribution, Key, State


@dataclasses.dataclass(frozen=True)
class Gaussian(Distribution):
    """Normal noise around the mean action, clipped to the range; for Box spaces.

        a = clip(pi(s) + std * (high - low)/2 * N(0, I), low, high),  std = spread or sqrt(spread)

    An `action_mask` frees the dimensions where it is True; the others stay at the mean. Every decision with a
    spread above 0 counts as explored.

    Args:
        low: the smallest action, a number or one per dimension; None: the space's.
        high: the largest.
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
    moment: str = "std"

    def __post_init__(self) -> None:
        check.one_of(self, "moment", ("std", "variance"))
        if (self.low is None) != (self.high is None):
            check.refuse(self, "the range (low, high)", "both or neither", (self.low, self.high))
        if self.low is not None:
            check.frozen(self, "low")
            check.frozen(self, "high")
            low, high = np.asarray(self.low, np.float32), np.asarray(self.high, np.float32)
            alike = () in (low.shape, high.shape) or low.shape == high.shape
            with np.errstate(over="ignore"):
                fits = alike and np.isfinite(high - low).all() and bool(np.all(low < high))
            if not fits:
                check.refuse(self, "the range (low, high)", "finite numbers with low < high", (self.low, self.high))

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Box

        if not isinstance(action_space, Box):
            check.refuse(
                self, "action space", "a Box (Categorical, Bernoulli and Options take Discrete)", action_space
            )
        if action_space.dtype.kind != "f":
            check.refuse(self, "action space", "a Box of real numbers", action_space)
        low, high = action_space.low, action_space.high
        if self.low is None:
            with np.errstate(over="ignore"):
                bounded = np.isfinite(np.float32(high - low)).all()
            if not bounded:
                check.refuse(
                    self, "action space", "a bounded Box, or a range: Gaussian(low=..., high=...)", action_space
                )
            return dataclasses.replace(self, low=low, high=high)
        own_low, own_high = np.asarray(self.low, low.dtype), np.asarray(self.high, high.dtype)
        if {own_low.shape, own_high.shape} - {(), low.shape} or np.any(own_low < low) or np.any(own_high > high):
            check.refuse(
                self,
                "the range (low, high)",
                f"a range inside the action space {action_space}",
                (self.low, self.high),
            )
        return self

    def sample(
        self,
        key: Key,
        state: State,
        carry: Carry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        if self.low is None:
            raise ValueError("Gaussian: no range yet; give low and high, or bind it to a Box (Behavior does)")
        low, high, center = (jnp.asarray(value, float) for value in (self.low, self.high, center))
        std = spread if self.moment == "std" else jnp.sqrt(spread)
        noise = std * (high - low) / 2 * jax.random.normal(key, center.shape)
        if action_mask is not None:
            noise = jnp.where(action_mask, noise, 0.0)
        return jnp.clip(center + noise, low, high), jnp.asarray(spread) > 0, carry
