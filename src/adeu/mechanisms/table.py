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


def num_states(mechanism: Any, observation_space: Any) -> int | None:
    """How many states a mechanism has in this space: the space's number, or its own where the space has none."""
    own: int | None = mechanism.num_states
    found = getattr(observation_space, "n", own)
    if own not in (None, found):
        check.refuse(mechanism, "num_states", f"the observation space's {found}", own)
    return None if found is None else int(found)
