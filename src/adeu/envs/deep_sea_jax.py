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
        >>> int(obs), round(float(reward), 6), bool(terminated)
        (5, -0.0025, False)
    """

    sea: Sea
    one_hot: bool = False

    @property
    def default_params(self) -> Sea:
        return self.sea

    def reset_env(self, key: Array, params: Sea) -> tuple[Array, SeaState]:
        zero = jnp.zeros((), jnp.int32)
        return self._observed(zero, params), SeaState(zero, zero)

    def step_env(
        self, key: Array, state: SeaState, action: Array, params: Sea
    ) -> tuple[Array, SeaState, Array, Array, dict[str, Any]]:
        row, column = state
        right = action == jnp.asarray(right_actions(params))[row, column]
        found = right & (column == params.size - 1)
        reward = params.treasure * found - params.move_cost / params.size * right
        column = jnp.clip(column + jnp.where(right, 1, -1), 0, params.size - 1)
        terminated = row == params.size - 1
        row = jnp.minimum(row + 1, params.size - 1)
        return self._observed(row * params.size + column, params), SeaState(row, column), reward, terminated, {}

    def observation_space(self, params: Sea) -> Box | Discrete:
        return Box(0.0, 1.0, (params.size**2,)) if self.one_hot else Discrete(params.size**2)

    def action_space(self, params: Sea | None = None) -> Discrete:
        return Discrete(2)

    def _observed(self, cell: Array, params: Sea) -> Array:
        return jax.nn.one_hot(cell, params.size**2) if self.one_hot else cell
