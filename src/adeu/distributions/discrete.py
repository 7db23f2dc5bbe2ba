"""The base class of distributions over n actions."""

from __future__ import annotations

from typing import Any, Self

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Distribution, Key, State


class _Discrete(Distribution):
    """The base class of distributions over n actions."""

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Discrete

        if not isinstance(action_space, Discrete):
            check.refuse(
                self,
                "action space",
                "a Discrete (Gaussian, Colored, OrnsteinUhlenbeck, Options and Sticky take a Box)",
                action_space,
            )
        return self

    def impose(
        self, state: State, active: Array, action: Array, center: Array, action_mask: Array | None
    ) -> tuple[Array, Array | None]:
        allowed = True if action_mask is None else action_mask
        return center, jnp.where(active, jnp.arange(jnp.shape(center)[0]) == action, allowed)

    def _preferences(self, center: Array, action_mask: Array | None) -> Array:
        center = jnp.asarray(center, float)
        if center.ndim != 1:
            check.refuse(self, "center", "one preference per action, a vector", f"shape {center.shape}")
        return center if action_mask is None else jnp.where(action_mask, center, -jnp.inf)


def best(preferences: Array) -> Array:
    return preferences == jnp.max(preferences)


def choose(key: Key, weights: Array) -> Array:
    """Sample an index with a probability proportional to its weight."""
    return jax.random.categorical(key, jnp.log(weights)).astype(jnp.int32)
