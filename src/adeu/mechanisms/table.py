"""Functions for mechanisms with a table that has one row per discrete state."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Mechanism


def row(table: Array, obs: Any) -> Array:
    """Return the row of a state; NaN, which is rejected later, for a state outside the table."""
    known = (obs >= 0) & (obs < table.shape[0])
    return jnp.where(known, table[obs], jnp.nan)


def place(table: Array, obs: Any) -> Array:
    """Return the index to write to; out of bounds for an unknown state, so that JAX drops the write."""
    return jnp.where(obs < 0, table.shape[0], obs)


def check_state(mechanism: Mechanism, obs: Any) -> None:
    if jnp.ndim(obs) != 0 or not jnp.issubdtype(jnp.result_type(obs), jnp.integer):
        got = f"shape {jnp.shape(obs)} of {jnp.result_type(obs)}"
        check.refuse(mechanism, "obs", "a state index (a Discrete space, or an encoder that returns one)", got)


def num_states(mechanism: Any, observation_space: Any) -> int | None:
    """Return the number of states: that of the space or, if it has none, the `num_states` of the mechanism."""
    own: int | None = mechanism.num_states
    found = getattr(observation_space, "n", own)
    if own not in (None, found):
        check.refuse(mechanism, "num_states", f"the observation space's {found}", own)
    return None if found is None else int(found)
