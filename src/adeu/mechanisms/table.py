"""What the mechanisms with one row per discrete state share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Mechanism


def row(table: Array, obs: Any) -> Array:
    """The state's row; NaN, which nobody accepts as an uncertainty, for a state outside the table."""
    known = (obs >= 0) & (obs < table.shape[0])
    return jnp.where(known, table[obs], jnp.nan)


def place(table: Array, obs: Any) -> Array:
    """Where to write the state's row; outside the table, where JAX drops a write, for a state outside it."""
    return jnp.where(obs < 0, table.shape[0], obs)


def check_state(mechanism: Mechanism, obs: Any) -> None:
    if jnp.ndim(obs) != 0 or not jnp.issubdtype(jnp.result_type(obs), jnp.integer):
        got = f"shape {jnp.shape(obs)} of {jnp.result_type(obs)}"
        check.refuse(mechanism, "obs", "a state's number (a Discrete space, or an encoder that makes one)", got)


def check_space(mechanism: Mechanism, num_states: int, observation_space: Any) -> None:
    if observation_space is not None and getattr(observation_space, "n", num_states) != num_states:
        check.refuse(mechanism, "num_states", f"the observation space's {observation_space.n}", num_states)
