"""Compiles an agent's methods, with a separate random key per method and step; equal agents share a compilation."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import Acting, Agent, AgentCarry, Learned, Row
from adeu.agents.replay_numpy import RowLayout
from adeu.core.contract import Array, Decision, Key, Transition
from adeu.core.cores import cores

THREADED = {"xla_cpu_experimental_ynn_fusion_type": ""}
"""Uses Eigen for all matrix products; XLA's alternative (YNNPACK) is not faster with a second thread."""
BEGIN, ACT, ABSORB, LEARN = range(4)
"""The uses of random numbers, each with a separate stream at each step."""

Given = Mapping[str, Any]


class AgentSteps(NamedTuple, Generic[Learned, Acting, AgentCarry]):
    """The compiled methods of an agent in one environment; `learn` takes rows as `NumpyReplay.read` returns them.

    The first argument is the raw data of the run's key.
    """

    init: Callable[[Array, NDArray[Any]], Learned]
    begin: Callable[[Array, np.int32, AgentCarry | None], AgentCarry]
    decide: Callable[
        [Array, Acting, AgentCarry, NDArray[Any], np.int32, np.bool_, Given], tuple[Decision, AgentCarry]
    ]
    exploit: Callable[[Array, Acting, AgentCarry, NDArray[Any], Given], Array]
    absorb: Callable[[Array, Learned, Transition, np.int32], Learned]
    learn: Callable[[Array, Learned, NDArray[Any], NDArray[Any], np.int32], Learned]
    sync: Callable[[Learned], Learned]
    copy: Callable[[Acting], Acting]


class VectorSteps(NamedTuple, Generic[Acting, AgentCarry]):
    """The compiled methods that run per environment, batched over a vector of environments."""

    begin: Callable[[Array, np.int32, AgentCarry | None, NDArray[np.bool_]], AgentCarry]
    decide: Callable[
        [Array, Acting, AgentCarry, NDArray[Any], np.int32, np.bool_, NDArray[np.bool_], Given],
        tuple[Decision, AgentCarry],
    ]


def at(key: Array, use: int, number: Array) -> Key:
    """Returns the key of a use at a step."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.wrap_key_data(key), use), number)


@functools.lru_cache(maxsize=64)
def compile_agent(agent: Agent[Learned, Acting, Row, AgentCarry]) -> AgentSteps[Learned, Acting, AgentCarry]:
    """Compiles the methods of a bound agent."""
    layout = RowLayout.of(agent)

    def init(key: Array, obs: Array) -> Learned:
        return agent.init(jax.random.wrap_key_data(key), obs)

    def begin(key: Array, number: Array, carry: AgentCarry | None) -> AgentCarry:
        return agent.begin(at(key, BEGIN, number), carry)

    def decide(
        key: Array, acting: Acting, carry: AgentCarry, obs: Array, step: Array, early: Array, given: Given
    ) -> tuple[Decision, AgentCarry]:
        return agent.decide(at(key, ACT, step), acting, carry, obs, step, early, **given)

    def exploit(key: Array, acting: Acting, carry: AgentCarry, obs: Array, given: Given) -> Array:
        return agent.exploit(jax.random.wrap_key_data(key), acting, carry, obs, jnp.zeros((), jnp.int32), **given)

    def absorb(key: Array, learned: Learned, transition: Transition, step: Array) -> Learned:
        return agent.absorb(at(key, ABSORB, step), learned, transition, step)

    def learn(key: Array, learned: Learned, rows: Array, next_obs: Array, step: Array) -> Learned:
        return agent.learn(at(key, LEARN, step), learned, layout.unpack(rows, next_obs), step)

    return AgentSteps(
        jax.jit(init),
        jax.jit(begin),
        jax.jit(decide),
        jax.jit(exploit),
        jax.jit(absorb),
        jax.jit(learn, donate_argnums=1, compiler_options=options()),  # in place
        jax.jit(agent.sync),
        jax.jit(own),
    )


@functools.lru_cache(maxsize=64)
def compile_vector(agent: Agent[Learned, Acting, Row, AgentCarry], envs: int) -> VectorSteps[Acting, AgentCarry]:
    """Compiles the methods of a bound agent for this many environments."""

    def begin(key: Array, number: Array, carry: AgentCarry | None, begun: Array) -> AgentCarry:
        """Returns new carries for the environments in which an episode begins."""
        keys = jax.random.split(at(key, BEGIN, number), envs)
        if carry is None:
            return jax.vmap(agent.begin)(keys)
        return jax.vmap(select)(begun, jax.vmap(agent.begin)(keys, carry), carry)

    def decide(
        key: Array,
        acting: Acting,
        carry: AgentCarry,
        obs: Array,
        step: Array,
        early: Array,
        real: Array,
        given: Given,
    ) -> tuple[Decision, AgentCarry]:
        """Keeps the carry of environments whose step is only a reset; `given` has an entry per environment."""

        def one(key: Key, carry: AgentCarry, obs: Array, given: Given) -> tuple[Decision, AgentCarry]:
            return agent.decide(key, acting, carry, obs, step, early, **given)

        keys = jax.random.split(at(key, ACT, step), envs)
        decision, after = jax.vmap(one)(keys, carry, obs, given)
        return decision, jax.vmap(select)(real, after, carry)

    return VectorSteps(jax.jit(begin), jax.jit(decide))


@functools.cache
def options() -> dict[str, str] | None:
    """Returns the options for `jax.jit(compiler_options=...)`; None with one thread, or if XLA lacks the option."""
    if int(os.environ.get("NPROC") or cores()) < 2:
        return None
    try:
        jax.jit(lambda: 0, compiler_options=THREADED)()
    except jax.errors.JaxRuntimeError:
        return None
    return THREADED


Tree = TypeVar("Tree")


def select(condition: Array, if_true: Tree, if_false: Tree) -> Tree:
    chosen: Tree = jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)
    return chosen


def own(tree: Tree) -> Tree:
    """Copies a tree so that no two leaves share a buffer, because a buffer cannot be donated twice."""
    copied: Tree = jax.tree.map(jnp.copy, tree)
    return copied
