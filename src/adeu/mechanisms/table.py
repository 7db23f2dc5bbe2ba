"""What the mechanisms with one row per discrete state share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Mechanism


def row(table: Array, obs: Any) -> Array:
    """The state's row; NaN (rejected downstream) for a state outside the table."""
    known = (obs >= 0) & (obs < table.shape[0])
    return jnp.where(known, table[obs], jnp.nan)


def place(table: Array, obs: Any) -> Array:
    """The index to write to; for a state outside the table one that is out of bounds, where JAX drops the write."""
    return jnp.where(obs < 0, table.shape[0], obs)


def check_state(mechanism: Mechanism, obs: Any) -> None:
    if jnp.ndim(obs) != 0 or not jnp.issubdtype(jnp.result_type(obs), jnp.integer):
        got = f"shape {jnp.shape(obs)} of {jnp.result_type(obs)}"
        check.refuse(mechanism, "obs", "a state index (a Discrete space, or an encoder that returns one)", got)


def num_states(mechanism: Any, observation_space: Any) -> int | None:
    """How many states a mechanism has: the space's number, or its own `num_states` if the space has none."""
    own: int | None = mechanism.num_states
    found = getattr(observation_space, "n", own)
    if own not in (None, found):
        check.refuse(mechanism, "num_states", f"the observation space's {found}", own)
    return None if found is None else int(found)
