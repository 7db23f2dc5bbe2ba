"""A ring of transitions in arrays, which a compiled loop writes to in place."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from adeu.core.contract import Array, Key, Transition


class Replay(NamedTuple):
    data: Transition
    """Arrays of shape (capacity, ...); whole numbers stay whole numbers."""
    mask: Array
    """(capacity, K): which networks learn from it."""
    added: Array


def create(capacity: int, example: Transition, networks: int) -> Replay:
    def ring(value: Array) -> Array:
        return jnp.zeros((capacity, *jnp.shape(value)), jnp.result_type(value))

    return Replay(jax.tree.map(ring, example), jnp.zeros((capacity, networks), bool), jnp.zeros((), jnp.int32))


def add(replay: Replay, transition: Transition, mask: Array) -> Replay:
    """Overwrites the oldest where it is full."""
    capacity = replay.mask.shape[0]
    place = replay.added % capacity
    data = jax.tree.map(lambda ring, value: ring.at[place].set(value), replay.data, transition)
    # Counts on past the capacity, and wraps before it overflows.
    added = jnp.where(replay.added + 1 >= 2 * capacity, capacity, replay.added + 1)
    # Else the compiler may read a minibatch from the ring as it was, and copy all of it to that end.
    return jax.lax.optimization_barrier(Replay(data, replay.mask.at[place].set(mask), added))  # type: ignore[no-untyped-call]


def sample(replay: Replay, key: Key, size: int) -> tuple[Transition, Array]:
    """Any of the transitions that are there, with replacement, and their masks."""
    filled = jnp.minimum(replay.added, replay.mask.shape[0])
    places = jax.random.randint(key, (size,), 0, filled)
    return jax.tree.map(lambda ring: ring[places], replay.data), replay.mask[places]
