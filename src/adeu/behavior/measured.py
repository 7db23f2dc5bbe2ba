"""The compiled functions of an f without an explorer, shared by equal fs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core.contract import Array, Mechanism, State, Transition


class MeasuredMechanism(NamedTuple):
    init: Callable[..., State]
    measure: Callable[..., Array]
    observe: Callable[..., State]
    update: Callable[..., State]


@functools.lru_cache(maxsize=16)
def measured(f: Mechanism) -> MeasuredMechanism:
    """Return the compiled functions of an f that carries nothing from step to step."""

    def init(seed: Array, obs: Any) -> State:
        return f.init(jax.random.key(seed), jax.tree.map(lambda x: x[0], obs))

    def measure(state: State, seed: Array, step: Array, obs: Any, given: dict[str, Array]) -> Array:
        key_begin, key_measure = jax.random.split(jax.random.fold_in(jax.random.key(seed), step))
        carry = f.ask(f.begin(key_begin))

        def one(key: Array, obs: Any, given: dict[str, Array]) -> Array:
            uncertainty, _ = f.measure(key, state, carry, obs, step=step, **given)
            return jnp.asarray(uncertainty, float)

        count = jax.tree.leaves(obs)[0].shape[0]
        return jax.vmap(one)(jax.random.split(key_measure, count), obs, given)

    def observe(state: State, order: Array, count: Array, step: Array, transitions: Transition) -> State:
        """Observe the transitions `order[:count]`, in this order."""

        def fold(i: Array, state: State) -> State:
            return f.observe(state, jax.tree.map(lambda x: x[order[i]], transitions), step=step)

        return jax.lax.fori_loop(0, count, fold, state)

    def update(state: State, step: Array, batch: Transition) -> State:
        return f.update(state, batch, step=step)

    return MeasuredMechanism(jax.jit(init), jax.jit(measure), jax.jit(observe), jax.jit(update))
