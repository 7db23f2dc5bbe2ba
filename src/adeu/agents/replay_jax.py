"""A ring buffer of rows in JAX arrays, which a compiled loop updates in place."""

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
    """An empty ring buffer for rows like `example`."""
    data: Row = jax.tree.map(lambda value: jnp.zeros((capacity, *jnp.shape(value)), jnp.result_type(value)), example)
    return JaxReplay(data, jnp.zeros((), jnp.int32))


def add(replay: JaxReplay[Row], row: Row, enters: Array | bool) -> JaxReplay[Row]:
    """Adds a row, if it enters, in place of the oldest one."""
    capacity = len(jax.tree.leaves(replay.data)[0])
    # An index out of bounds: JAX drops the write.
    place = replay.added % capacity if enters is True else jnp.where(enters, replay.added % capacity, capacity)
    data: Row = jax.tree.map(lambda ring, value: ring.at[place].set(value), replay.data, row)
    # Counts past the capacity, and wraps before it overflows.
    added = replay.added + enters
    added = jnp.where(added >= 2 * capacity, capacity, added)
    # Without this barrier, the compiler may copy the whole ring to read a minibatch from its old content.
    return jax.lax.optimization_barrier(JaxReplay(data, added))  # type: ignore[no-untyped-call]


def sample(replay: JaxReplay[Row], key: Key, updates: int, batch: int) -> Row:
    """`updates` minibatches, stacked, of stored rows drawn uniformly with replacement."""
    filled = jnp.minimum(replay.added, len(jax.tree.leaves(replay.data)[0]))
    places = jax.random.randint(key, (updates * batch,), 0, filled)
    drawn: Row = jax.tree.map(lambda ring: ring[places].reshape(updates, batch, *ring.shape[1:]), replay.data)
    return drawn
