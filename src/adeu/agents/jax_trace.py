"""Records an episode of a compiled loop step by step.

The compiled loop keeps only statistics. To record an episode, this module plays an additional one from the current
training state: it explores like a training episode, but does not train the networks or change the state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents.agent import PAID, Opaque, OpaqueAgent
from adeu.agents.jax_loop import JaxLoop
from adeu.agents.jax_player import AnyLoopState, Given, JaxPlayer
from adeu.agents.tracing import Columns, columns_of, most_steps
from adeu.core.contract import Array, Key, Transition

TRACE = 2**31
"""Folded into the loop's key; nothing else is folded into it, so the random numbers differ from training."""
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""XLA options for fast compilation: optimised compilation would take longer than playing five episodes."""


class _StepRecord(NamedTuple):
    """The record of a step, or of several steps as arrays."""

    best: Array
    action: Array
    explored: Array
    uncertainty: Array
    spread: Array
    reward: Array


class _Episode(NamedTuple):
    """An episode in progress."""

    steps: Array
    key: Key
    learned: Opaque
    carry: Opaque
    obs: Array
    env: object
    reward: Array
    over: Array
    records: _StepRecord


def trace_episode(loop: JaxLoop, state: AnyLoopState, given: Given | None = None) -> Columns:
    """Plays an episode and returns its steps as columns, up to 25,000 numbers.

    A copy of f learns from the steps; `state` does not change.

    Args:
        loop: the training loop.
        state: the state of one seed.
        given: as for `JaxLoop.advance`.
    """
    steps, records = jax.device_get(_compile(loop)(state, dict(given or {})))
    step = np.full(int(steps), int(state.step))
    return columns_of(step, *(column[: int(steps)] for column in records))


@functools.lru_cache(maxsize=64)
def _compile(loop: JaxLoop) -> Callable[[AnyLoopState, Given], tuple[Array, _StepRecord]]:
    agent: OpaqueAgent = loop.agent
    player = JaxPlayer(agent, loop.env, loop.params.params, loop.evaluate_steps, loop.given)

    def play(state: AnyLoopState, given: Given) -> tuple[Array, _StepRecord]:
        now = {name: values[state.step] for name, values in given.items()}
        early = state.step < loop.warmup

        def decide(key: Key, before: _Episode) -> tuple[_Episode, _StepRecord]:
            key_act, key_best, key_move, key_absorb = jax.random.split(key, 4)
            acting = agent.acting(before.learned)
            seen = now if state.reward is None else now | {PAID: before.reward}
            decision, carry = agent.decide(key_act, acting, before.carry, before.obs, state.step, early, **seen)
            best = agent.exploit(key_best, acting, before.carry, before.obs, state.step, **player.nothing)
            obs, env, reward, terminated, truncated, cost = player.move(key_move, before.env, decision.action)
            step = Transition(before.obs, decision.action, reward, obs, terminated, truncated, cost)
            after = before._replace(
                learned=agent.absorb(key_absorb, before.learned, step, state.step),
                carry=carry,
                obs=obs,
                env=env,
                reward=reward,
                over=terminated | truncated,
            )
            shown = decision.explored, decision.uncertainty, decision.spread, reward
            return after, _StepRecord(best, decision.action, *map(jnp.asarray, shown))

        def advance(before: _Episode) -> _Episode:
            key_next, key_step = jax.random.split(before.key)
            after, row = decide(key_step, before)
            records = jax.tree.map(lambda column, value: column.at[before.steps].set(value), before.records, row)
            return after._replace(steps=before.steps + 1, key=key_next, records=records)

        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), TRACE)
        key_reset, key_begin, key_play = jax.random.split(key, 3)
        obs, env = player.reset(key_reset)
        carry = agent.begin(key_begin, state.carry)
        nothing: Any = _StepRecord(*[jnp.zeros(())] * len(_StepRecord._fields))
        zero, no = jnp.zeros(()), jnp.zeros((), bool)
        start = _Episode(jnp.zeros((), int), key_play, state.learned, carry, obs, env, zero, no, nothing)
        _, row = jax.eval_shape(decide, key_play, start)
        most = most_steps(row.action.shape)
        empty = jax.tree.map(lambda value: jnp.zeros((most, *value.shape), value.dtype), row)
        end = jax.lax.while_loop(lambda now: ~now.over & (now.steps < most), advance, start._replace(records=empty))
        return end.steps, end.records

    return jax.jit(play, compiler_options=QUICK)
