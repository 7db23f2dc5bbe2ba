"""An episode of a compiled loop, step by step.

Pieces of training keep sums alone. So this one is played beside them, from a copy of their state: as an episode of
training, with the networks of that moment, which it does not train.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents.agent import PAID, Opaque, OpaqueAgent
from adeu.agents.jax_loop import AnyLoopState, Given, JaxLoop, JaxPlayer
from adeu.agents.tracing import Columns, columns_of, most_steps
from adeu.core.contract import Array, Key, Transition

TRACE = 2**31
"""Folded into the loop's key: no other use of it folds anything."""
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""For XLA: it takes longer to compile an episode than to play five."""


class _Noted(NamedTuple):
    """A step; or an array of steps."""

    best: Array
    action: Array
    explored: Array
    uncertainty: Array
    spread: Array
    reward: Array


class _Now(NamedTuple):
    """An episode under way."""

    steps: Array
    key: Key
    learned: Opaque
    carry: Opaque
    obs: Array
    env: object
    reward: Array
    over: Array
    noted: _Noted


def trace_episode(loop: JaxLoop, state: AnyLoopState, given: Given | None = None) -> Columns:
    """Plays an episode from its start, up to 25,000 numbers of it; f takes in its steps, the state stays as it is.

    Args:
        loop: what trains.
        state: of one seed.
        given: as for `JaxLoop.advance`.
    """
    steps, noted = jax.device_get(_compile(loop)(state, dict(given or {})))
    step = np.full(int(steps), int(state.step))
    return columns_of(step, *(column[: int(steps)] for column in noted))


@functools.lru_cache(maxsize=64)
def _compile(loop: JaxLoop) -> Callable[[AnyLoopState, Given], tuple[Array, _Noted]]:
    agent: OpaqueAgent = loop.agent
    player = JaxPlayer(agent, loop.env, loop.params.params, loop.evaluate_steps, loop.given)

    def play(state: AnyLoopState, given: Given) -> tuple[Array, _Noted]:
        now = {name: values[state.step] for name, values in given.items()}
        early = state.step < loop.warmup

        def decide(key: Key, before: _Now) -> tuple[_Now, _Noted]:
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
            return after, _Noted(best, decision.action, *map(jnp.asarray, shown))

        def advance(before: _Now) -> _Now:
            key_next, key_step = jax.random.split(before.key)
            after, row = decide(key_step, before)
            noted = jax.tree.map(lambda column, value: column.at[before.steps].set(value), before.noted, row)
            return after._replace(steps=before.steps + 1, key=key_next, noted=noted)

        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), TRACE)
        key_reset, key_begin, key_play = jax.random.split(key, 3)
        obs, env = player.reset(key_reset)
        carry = agent.begin(key_begin, state.carry)
        nothing: Any = _Noted(*[jnp.zeros(())] * len(_Noted._fields))
        zero, no = jnp.zeros(()), jnp.zeros((), bool)
        start = _Now(jnp.zeros((), int), key_play, state.learned, carry, obs, env, zero, no, nothing)
        _, row = jax.eval_shape(decide, key_play, start)
        most = most_steps(row.action.shape)
        empty = jax.tree.map(lambda value: jnp.zeros((most, *value.shape), value.dtype), row)
        end = jax.lax.while_loop(lambda now: ~now.over & (now.steps < most), advance, start._replace(noted=empty))
        return end.steps, end.noted

    return jax.jit(play, compiler_options=QUICK)
