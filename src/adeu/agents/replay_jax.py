"""A ring of rows in JAX arrays, which a compiled loop writes to in place."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from adeu.core.contract import Array, Key

Row = TypeVar("Row", bound=tuple[Any, ...])


class JaxReplay(NamedTuple, Generic[Row]):
    data: Row
    """Arrays of shape (capacity, ...); whole numbers stay whole numbers."""
    added: Array


def create(capacity: int, example: Row) -> JaxReplay[Row]:
    """An empty ring for rows like `example`."""
    data: Row = jax.tree.map(lambda value: jnp.zeros((capacity, *jnp.shape(value)), jnp.result_type(value)), example)
    return JaxReplay(data, jnp.zeros((), jnp.int32))


def add(replay: JaxReplay[Row], row: Row, enters: Array | bool) -> JaxReplay[Row]:
    """Adds a row, where it enters, in place of the oldest one."""
    capacity = len(jax.tree.leaves(replay.data)[0])
    # A place outside the ring: JAX drops what is written there.
    place = replay.added % capacity if enters is True else jnp.where(enters, replay.added % capacity, capacity)
    data: Row = jax.tree.map(lambda ring, value: ring.at[place].set(value), replay.data, row)
    # Counts on past the capacity, and wraps before it overflows.
    added = replay.added + enters
    added = jnp.where(added >= 2 * capacity, capacity, added)
    # Without it, the compiler may read a minibatch from the ring as it was before, and copy all of it to do so.
    return jax.lax.optimization_barrier(JaxReplay(data, added))  # type: ignore[no-untyped-call]


def sample(replay: JaxReplay[Row], key: Key, updates: int, batch: int) -> Row:
    """`updates` minibatches, stacked, of any of the rows that are there, with replacement."""
    filled = jnp.minimum(replay.added, len(jax.tree.leaves(replay.data)[0]))
    places = jax.random.randint(key, (updates * batch,), 0, filled)
    drawn: Row = jax.tree.map(lambda ring: ring[places].reshape(updates, batch, *ring.shape[1:]), replay.data)
    return drawn
