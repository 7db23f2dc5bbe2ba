"""The compiled functions of an explorer for n environments, shared by equal explorers."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.behavior.arrays import Observation
from adeu.core.contract import Array, Decision, Key, Transition
from adeu.core.explorer import Explorer, ExplorerCarry, ExplorerState

Given = dict[str, np.ndarray]
"""The agent's further inputs, with a leading axis of environments."""
Tree = TypeVar("Tree")
PATIENCE = 50e-6
"""Seconds to poll for a result before blocking."""


class Stream(NamedTuple):
    """The state of one environment: its random key, as raw key data, and the explorer's carry."""

    key: Array
    carry: ExplorerCarry


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["values"], meta_fields=["action_shape", "action_dtype"]
)
@dataclasses.dataclass(frozen=True)
class Packed:
    """The decisions of n environments in one array, because fetching an array takes longer than computing it."""

    values: Array
    """Whether all values are valid; then n numbers each for explored, asked, uncertainty, spread and deviation; then
    the actions."""
    action_shape: tuple[int, ...]
    action_dtype: np.dtype

    @classmethod
    def of(cls, decision: Decision) -> Packed:
        action, explored, uncertainty, spread, asked, deviation = decision
        action = jnp.asarray(action)
        fine = jnp.all(jnp.isfinite(action))
        for number in (uncertainty, spread):
            fine &= jnp.all(jnp.isfinite(number) & (number >= 0))
        numbers = (fine[None], explored, asked, uncertainty, spread, deviation, action.ravel())
        return cls(jnp.concatenate(numbers), action.shape, action.dtype)

    def unpack(self) -> tuple[Decision, bool]:
        """Return the decisions as numpy arrays, and whether all values are valid."""
        values, n = _fetch(self.values), self.action_shape[0]
        flags = values[1 : 2 * n + 1] != 0
        uncertainty, spread, deviation = values[2 * n + 1 : 5 * n + 1].reshape(3, n)
        action = values[5 * n + 1 :].reshape(self.action_shape).astype(self.action_dtype, copy=False)
        return Decision(action, flags[:n], uncertainty, spread, flags[n:], deviation), bool(values[0])


class BatchedExplorer(NamedTuple):
    """The compiled functions; `batched` has the names of their arguments."""

    start: Callable[[np.uint32, Observation, int], tuple[ExplorerState, Stream]]
    act: Callable[
        [ExplorerState, Stream, NDArray[np.bool_] | Array, int, Observation, np.ndarray, Given], tuple[Packed, Stream]
    ]
    exploit: Callable[[ExplorerState, Stream, int, int, Observation, np.ndarray, Given], Packed]
    begin: Callable[[Stream, NDArray[np.bool_]], Stream]
    observe: Callable[[ExplorerState, NDArray[np.intp], int, int, Transition, Given], ExplorerState]
    update: Callable[[ExplorerState, int, Transition, Given], ExplorerState]


@functools.lru_cache(maxsize=16)
def batched(explorer: Explorer) -> BatchedExplorer:
    def start(seed: Array, obs: object, num_envs: int) -> tuple[ExplorerState, Stream]:
        key_state, key_streams = list[Key](jax.random.split(jax.random.key(seed)))
        state = explorer.init(key_state, jax.tree.map(lambda x: x[0], obs))

        def begin_first(index: Array) -> Stream:
            key = jax.random.key_data(jax.random.fold_in(key_streams, index))
            key_next, key_begin = _split(key)
            return Stream(key_next, explorer.begin(key_begin))

        return state, jax.vmap(begin_first)(jnp.arange(num_envs))

    def act(
        state: ExplorerState,
        streams: Stream,
        idle: Array,
        step: Array,
        obs: object,
        center: Array,
        given: dict[str, Array],
    ) -> tuple[Packed, Stream]:
        def one(
            stream: Stream, idle: Array, obs: object, center: Array, given: dict[str, Array]
        ) -> tuple[Decision, Stream]:
            key_next, key_act = _split(stream.key)
            decision, carry = explorer.act(key_act, state, stream.carry, obs, center, step=_int32(step), **given)
            _check_alike(explorer, "act", "carry", stream.carry, carry)
            decision = decision._replace(explored=decision.explored & ~idle, asked=decision.asked & ~idle)
            return decision, _select(idle, stream, Stream(key_next, carry))

        decision, after = jax.vmap(one)(streams, idle, obs, center, given)
        return Packed.of(decision), after

    def exploit(
        state: ExplorerState,
        streams: Stream,
        number: Array,
        step: Array,
        obs: object,
        center: Array,
        given: dict[str, Array],
    ) -> Packed:
        """Return the `number`-th decision of an evaluation; `number` seeds the random choice between ties."""

        def one(stream: Stream, obs: object, center: Array, given: dict[str, Array]) -> Decision:
            key_act = jax.random.fold_in(_split(stream.key)[1], number)
            return explorer.exploit(key_act, state, stream.carry, obs, center, step=_int32(step), **given)

        return Packed.of(jax.vmap(one)(streams, obs, center, given))

    def begin(streams: Stream, ended: Array) -> Stream:
        def one(stream: Stream, ended: Array) -> Stream:
            key_next, key_begin = _split(stream.key)
            begun = Stream(key_next, explorer.begin(key_begin, stream.carry))
            return _select(ended, begun, stream)

        return jax.vmap(one)(streams, ended)

    def observe(
        state: ExplorerState,
        order: Array,
        count: Array,
        step: Array,
        transitions: Transition,
        given: dict[str, Array],
    ) -> ExplorerState:
        """Observe the transitions `order[:count]`, in this order."""

        def fold(i: Array, state: ExplorerState) -> ExplorerState:
            one: tuple[Transition, dict[str, Array]] = jax.tree.map(lambda x: x[order[i]], (transitions, given))
            transition, offered = one
            learned = explorer.observe(state, transition, step=_int32(step), **offered)
            _check_alike(explorer, "observe", "state", state, learned)
            return learned

        folded: ExplorerState = jax.lax.fori_loop(0, count, fold, state)
        return folded

    def update(state: ExplorerState, step: Array, batch: Transition, given: dict[str, Array]) -> ExplorerState:
        learned = explorer.update(state, batch, step=_int32(step), **given)
        _check_alike(explorer, "update", "state", state, learned)
        return learned

    return BatchedExplorer(
        start=jax.jit(start, static_argnames="num_envs"),
        act=jax.jit(act),
        exploit=jax.jit(exploit),
        begin=jax.jit(begin),
        observe=jax.jit(observe),
        update=jax.jit(update),
    )


def _fetch(array: Array) -> np.ndarray:
    """Return a copy of an array once it is computed.

    Polls before it blocks, because waking a blocked thread takes longer than a decision.
    """
    deadline = time.perf_counter() + PATIENCE
    while not array.is_ready() and time.perf_counter() < deadline:  # type: ignore[attr-defined]  # not in JAX's stubs
        pass
    return np.array(array)


def _int32(step: Array) -> Array:
    """Return the number of a step in its type for parts; JAX reads a Python number faster than one of numpy."""
    return jnp.asarray(step, jnp.int32)


def _split(key: Array) -> tuple[Array, Key]:
    """Return the key to store, as raw key data, and the key to use now."""
    key_next, key_now = list[Key](jax.random.split(jax.random.wrap_key_data(key)))
    return jax.random.key_data(key_next), key_now


def _check_alike(explorer: Explorer, hook: str, what: str, before: object, after: object) -> None:
    """Reject a change of structure, shapes or types of a state or carry; compiling and saving depend on them."""

    def describe(tree: object) -> object:
        return jax.tree.map(lambda leaf: f"{jnp.result_type(leaf)}{list(jnp.shape(leaf))}", tree)

    for name, part in explorer.parts.items():
        old, new = (describe(getattr(tree, name)) for tree in (before, after))
        if old != new:
            method = part.hooks[0] if hook == "act" else hook
            raise TypeError(f"{part!r}.{method}() must return a {what} like {old}, it returned {new}")


def _select(condition: Array, if_true: Tree, if_false: Tree) -> Tree:
    chosen: Tree = jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)
    return chosen
