"""The deep sea as pure JAX functions, with the interface of a gymnax environment."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from gymnasium.spaces import Box, Discrete

from adeu.envs.sea import Sea, right_actions

Array = jax.Array


class SeaState(NamedTuple):
    row: Array
    column: Array


def reset(sea: Sea) -> tuple[Array, SeaState]:
    """Return the first cell and state."""
    zero = jnp.zeros((), jnp.int32)
    return zero, SeaState(zero, zero)


def step(sea: Sea, state: SeaState, action: Array) -> tuple[Array, SeaState, Array, Array]:
    """Return the next cell, the next state, the reward, and whether the episode is over.

    Examples:
        >>> from adeu.envs import Sea
        >>> from adeu.envs.deep_sea_jax import reset, step
        >>> cell, state = reset(Sea(size=4))
        >>> cell, state, reward, terminated = step(Sea(size=4), state, 1)
        >>> int(cell), round(float(reward), 6), bool(terminated)
        (5, -0.0025, False)
    """
    row, column = state
    right = action == jnp.asarray(right_actions(sea))[row, column]
    found = right & (column == sea.size - 1)
    reward = sea.treasure * found - sea.move_cost / sea.size * right
    column = jnp.clip(column + jnp.where(right, 1, -1), 0, sea.size - 1)
    terminated = row == sea.size - 1
    row = jnp.minimum(row + 1, sea.size - 1)
    return row * sea.size + column, SeaState(row, column), reward, terminated


@dataclasses.dataclass(frozen=True)
class JaxDeepSea:
    """`DeepSea` for a compiled loop: a gymnax environment whose params are the `Sea`.

    An observation is the cell's number. The environment is deterministic: `reset_env` and `step_env` ignore the key.

    Args:
        sea: the default params.
        one_hot: whether an observation is a one-hot vector of length size^2, for an f that takes vectors.

    Examples:
        >>> import jax
        >>> from adeu.envs import JaxDeepSea, Sea
        >>> env = JaxDeepSea(Sea(size=4))
        >>> obs, state = env.reset_env(jax.random.key(0), env.default_params)
        >>> obs, state, reward, terminated, info = env.step_env(jax.random.key(1), state, 1, env.default_params)
        >>> int(obs)
        5
    """

    sea: Sea
    one_hot: bool = False

    @property
    def default_params(self) -> Sea:
        return self.sea

    @property
    def num_actions(self) -> int:
        return 2

    def reset_env(self, key: Array, params: Sea) -> tuple[Array, SeaState]:
        cell, state = reset(params)
        return self._observed(cell, params), state

    def step_env(
        self, key: Array, state: SeaState, action: Array, params: Sea
    ) -> tuple[Array, SeaState, Array, Array, dict[str, Any]]:
        cell, after, reward, terminated = step(params, state, action)
        return self._observed(cell, params), after, reward, terminated, {}

    def is_truncated(self, state: SeaState, params: Sea) -> Array:
        return jnp.zeros((), bool)

    def observation_space(self, params: Sea) -> Box | Discrete:
        return Box(0.0, 1.0, (params.size**2,)) if self.one_hot else Discrete(params.size**2)

    def action_space(self, params: Sea | None = None) -> Discrete:
        return Discrete(2)

    def _observed(self, cell: Array, params: Sea) -> Array:
        return jax.nn.one_hot(cell, params.size**2) if self.one_hot else cell
