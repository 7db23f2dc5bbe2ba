"""A ring buffer of rows in JAX arrays, updated in place by a compiled loop."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from adeu.core.contract import Array, Key

Row = TypeVar("Row", bound=tuple[Any, ...])


class JaxReplay(NamedTuple, Generic[Row]):
    data: Row
    """Arrays of shape (capacity, ...); integers stay integers."""
    added: Array


def create(capacity: int, example: Row) -> JaxReplay[Row]:
    """Creates an empty ring buffer for rows like `example`."""
    data: Row = jax.tree.map(lambda value: jnp.zeros((capacity, *jnp.shape(value)), jnp.result_type(value)), example)
    return JaxReplay(data, jnp.zeros((), jnp.int32))


def add(replay: JaxReplay[Row], row: Row, enters: Array | bool) -> JaxReplay[Row]:
    """Adds a row if `enters`, replacing the oldest if full."""
    capacity = len(jax.tree.leaves(replay.data)[0])
    # JAX drops a write to an index out of bounds.
    place = replay.added % capacity if enters is True else jnp.where(enters, replay.added % capacity, capacity)
    data: Row = jax.tree.map(lambda ring, value: ring.at[place].set(value), replay.data, row)
    # The count exceeds the capacity, and wraps around before it overflows.
    added = replay.added + enters
    added = jnp.where(added >= 2 * capacity, capacity, added)
    # Without this barrier, the compiler may copy the whole ring to read a minibatch from its old content.
    return jax.lax.optimization_barrier(JaxReplay(data, added))  # type: ignore[no-untyped-call]


def sample(replay: JaxReplay[Row], key: Key, updates: int, batch: int) -> Row:
    """Samples `updates` minibatches, stacked, uniformly with replacement."""
    filled = jnp.minimum(replay.added, len(jax.tree.leaves(replay.data)[0]))
    places = jax.random.randint(key, (updates * batch,), 0, filled)
    drawn: Row = jax.tree.map(lambda ring: ring[places].reshape(updates, batch, *ring.shape[1:]), replay.data)
    return drawn
