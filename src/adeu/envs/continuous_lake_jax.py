"""A path whose places must each be left in one direction, with continuous actions, as pure JAX functions."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from adeu.envs import arguments
from adeu.envs.timed_jax import Array, Stepped, Timed, started


@dataclasses.dataclass(frozen=True)
class JaxContinuousLake:
    """A frozen lake with one path and Box actions: at each place, actions near one direction lead to the next.

        i' = i + 1 and r = (i + 1)/size  where  |a - d_i| <= tolerance
        r = 0, and the episode ends     elsewhere

    An action has two numbers, clipped to [-1, 1]; the directions d_i are drawn uniformly from [-1, 1]^2. Place `size`
    also ends the episode; the return of the whole path is (size + 1)/2. The observation is a bump at the place:
    exp(-(j - i)^2 / 2) for each j = 0, ..., size.

    Args:
        size: the number of steps of the path, >= 1.
        tolerance: the largest Euclidean distance of an accepted action from the direction, > 0.
        directions_seed: the seed of the directions.

    Examples:
        >>> import jax
        >>> from adeu.envs import JaxContinuousLake
        >>> lake = JaxContinuousLake(size=3)
        >>> obs, state = lake.reset_env(jax.random.key(0), None)
        >>> obs, state, reward, terminated, info = lake.step_env(None, state, lake.directions[0], None)
        >>> int(state.place), round(float(reward), 3), bool(terminated)
        (1, 0.333, False)

    Paper: Theorem 1's games (Definition 2.1), with a region instead of a single best action.
    """

    size: int = 20
    tolerance: float = 0.5
    directions_seed: int = 0

    default_params = None

    def __post_init__(self) -> None:
        for argument, least in (("size", 1), ("directions_seed", 0)):
            arguments.whole(self, argument, getattr(self, argument), at_least=least)
        if arguments.number(self, "tolerance", self.tolerance, at_least=0) == 0:
            arguments.refuse(self, "tolerance", "a number > 0", self.tolerance)

    @property
    def directions(self) -> NDArray[np.float32]:
        """(size, 2): d_i."""
        drawn = np.random.RandomState(self.directions_seed).uniform(-1.0, 1.0, (self.size, 2))
        return drawn.astype(np.float32)

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        place = jnp.zeros((), jnp.int32)
        return self._observed(place), started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        direction = jnp.asarray(self.directions)[state.place]
        onward = jnp.sum((jnp.clip(action, -1.0, 1.0) - direction) ** 2) <= self.tolerance**2
        place = state.place + onward
        reward = jnp.where(onward, place / self.size, 0.0)
        return self._observed(place), Timed(place, state.time + 1), reward, ~onward | (place == self.size), {}

    def is_truncated(self, state: Timed, params: Any) -> Array:
        return jnp.zeros((), bool)

    def observation_space(self, params: Any = None) -> Box:
        return Box(0.0, 1.0, (self.size + 1,))

    def action_space(self, params: Any = None) -> Box:
        return Box(-1.0, 1.0, (2,))

    def _observed(self, place: Array) -> Array:
        return jnp.exp(-0.5 * (jnp.arange(self.size + 1) - place) ** 2)
