"""Base classes of distributions over a Box: its range, and noise times the spread, in half ranges."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Carry, Distribution, Key, State


class _BoxRange(Distribution):
    """Actions within a range. A subclass has these fields."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        check.limits(self)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Box

        if not isinstance(action_space, Box):
            check.refuse(
                self, "action space", "a Box (Categorical, Bernoulli and Options take a Discrete)", action_space
            )
        if action_space.dtype.kind != "f":
            check.refuse(self, "action space", "a Box of real numbers", action_space)
        low, high = action_space.low, action_space.high
        if self.low is None:
            with np.errstate(over="ignore"):
                bounded = np.isfinite(np.float32(high - low)).all()
            if not bounded:
                name = type(self).__name__
                check.refuse(
                    self, "action space", f"a bounded Box, or a range: {name}(low=..., high=...)", action_space
                )
            return dataclasses.replace(self, **{"low": low, "high": high})
        own_low, own_high = np.asarray(self.low, low.dtype), np.asarray(self.high, high.dtype)
        if {own_low.shape, own_high.shape} - {(), low.shape} or np.any(own_low < low) or np.any(own_high > high):
            check.refuse(
                self,
                "the range (low, high)",
                f"a range inside the action space {action_space}",
                (self.low, self.high),
            )
        return self

    def deviation(self, action: Array, center: Array) -> Array:
        low, high, center = (jnp.asarray(value, float) for value in (self.low, self.high, center))
        return jnp.mean(jnp.abs(action - jnp.clip(center, low, high)) / ((high - low) / 2))

    def _require_range(self) -> None:
        if self.low is None:
            name = type(self).__name__
            raise ValueError(f"{name}: low and high are not set; give them, or bind to a Box, as Behavior does")

    def _in_each_dimension(self, action_space: Any) -> Self:
        """Return a copy whose range has one entry per dimension, in the shape of an action."""
        ends = {"low": self.low, "high": self.high}
        whole = {name: np.broadcast_to(np.asarray(end), action_space.shape) for name, end in ends.items()}
        return dataclasses.replace(self, **whole)

    @property
    def _shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(np.shape(self.low), np.shape(self.high))

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != self._shape:
            check.refuse(self, "center", f"the shape {self._shape} of its range (low, high)", f"shape {shape}")


class _BoxNoise(_BoxRange):
    """Noise around the mean action. A subclass also has this field and defines `_noise`."""

    moment: str

    def __post_init__(self) -> None:
        check.one_of(self, "moment", ("std", "variance"))
        super().__post_init__()

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
        self._require_range()
        low, high, center = (jnp.asarray(value, float) for value in (self.low, self.high, center))
        std = spread if self.moment == "std" else jnp.sqrt(spread)
        unit, carry = self._noise(key, carry, center.shape)
        noise = std * (high - low) / 2 * unit
        if action_mask is not None:
            noise = jnp.where(action_mask, noise, 0.0)
        return jnp.clip(center + noise, low, high), jnp.asarray(spread) > 0, carry

    def _noise(self, key: Key, carry: Carry, shape: tuple[int, ...]) -> tuple[Array, Carry]:
        """Return noise with mean 0 and variance 1, and the new carry."""
        raise NotImplementedError
