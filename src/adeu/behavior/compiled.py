"""An explorer's compiled functions for n environments; equal explorers share them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core.contract import Array, Carry, Decision, Key, State, Transition
from adeu.core.explorer import Explorer


class Stream(NamedTuple):
    """What belongs to one environment: its own random key, as plain numbers, and the explorer's carry."""

    key: Array
    carry: Carry

    def split(self) -> tuple[Array, Key]:
        """The key to keep and the key to use."""
        key_next, key_now = jax.random.split(jax.random.wrap_key_data(self.key))
        return jax.random.key_data(key_next), key_now


class Compiled(NamedTuple):
    start: Callable[..., Any]
    act: Callable[..., Any]
    exploit: Callable[..., Any]
    begin: Callable[..., Any]
    observe: Callable[..., Any]
    update: Callable[..., Any]


@functools.lru_cache(maxsize=256)
def compiled(explorer: Explorer) -> Compiled:
    def start(seed: Array, obs: Any, num_envs: int) -> tuple[State, Stream]:
        key_state, key_streams = jax.random.split(jax.random.key(seed))
        state = explorer.init(key_state, jax.tree.map(lambda x: x[0], obs))

        def begin_first(index: Array) -> Stream:
            key = jax.random.key_data(jax.random.fold_in(key_streams, index))
            key_next, key_begin = Stream(key, ()).split()
            return Stream(key_next, explorer.begin(key_begin))

        return state, jax.vmap(begin_first)(jnp.arange(num_envs))

    def act(
        state: State, streams: Stream, idle: Array, step: Array, obs: Any, center: Array, given: dict[str, Any]
    ) -> tuple[Decision, Stream]:
        def one(stream: Stream, idle: Array, obs: Any, center: Array, given: dict[str, Any]) -> tuple[Any, Stream]:
            key_next, key_act = stream.split()
            decision, carry = explorer.act(key_act, state, stream.carry, obs, center, step=step, **given)
            decision = decision._replace(explored=decision.explored & ~idle)
            return decision, _select(idle, stream, Stream(key_next, carry))

        return jax.vmap(one)(streams, idle, obs, center, given)

    def exploit(
        state: State, streams: Stream, step: Array, obs: Any, center: Array, given: dict[str, Any]
    ) -> Decision:
        def one(stream: Stream, obs: Any, center: Array, given: dict[str, Any]) -> Decision:
            _, key_act = stream.split()
            return explorer.exploit(key_act, state, stream.carry, obs, center, step=step, **given)

        return jax.vmap(one)(streams, obs, center, given)

    def begin(streams: Stream, ended: Array) -> Stream:
        def one(stream: Stream, ended: Array) -> Stream:
            key_next, key_begin = stream.split()
            begun = Stream(key_next, explorer.begin(key_begin, stream.carry))
            return Stream(*_select(ended, begun, stream))

        return jax.vmap(one)(streams, ended)

    def observe(
        state: State, order: Array, count: Array, step: Array, transitions: Transition, given: dict[str, Any]
    ) -> State:
        """Folds in the first `count` of the transitions, in the order given."""

        def fold(i: Array, state: State) -> State:
            transition, offered = jax.tree.map(lambda x: x[order[i]], (transitions, given))
            return explorer.observe(state, transition, step=step, **offered)

        return jax.lax.fori_loop(0, count, fold, state)

    def update(state: State, step: Array, batch: Transition, given: dict[str, Any]) -> State:
        return explorer.update(state, batch, step=step, **given)

    return Compiled(
        start=jax.jit(start, static_argnames="num_envs"),
        act=jax.jit(act),
        exploit=jax.jit(exploit),
        begin=jax.jit(begin),
        observe=jax.jit(observe),
        update=jax.jit(update),
    )


def _select(condition: Array, if_true: Any, if_false: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)
