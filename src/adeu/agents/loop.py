"""An agent's loop compiled from end to end: environment, replay, learning and evaluation in one scan.

for each piece of `evaluate_every` steps:
    for each `target_every` steps:
        target networks <- networks
        for each `update_every` steps:
            a ~ D(pi(s), g(f(s))), s' and r from the environment, into the replay   (update_every times)
            networks <- networks - Adam's step on the TD error of a minibatch, and f learns
    greedy episodes, which train nothing
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents import keys
from adeu.agents.dqn import Actor, Dqn, Learner, Piece, bound, flat, select
from adeu.core import check
from adeu.core.contract import Array, Key, Transition


class Tally(NamedTuple):
    """Of one piece's training steps."""

    episodes: Array
    returns: Array
    best: Array
    explored: Array
    spread: Array


class DqnState(NamedTuple):
    """All there is, as arrays: with `np.savez` of its leaves a run goes on bit for bit."""

    key: Array
    step: Array
    learner: Learner
    actor: Actor
    env: Any


class Compiled(NamedTuple):
    """`init(seed)` makes a state, `advance(state)` plays a piece of `evaluate_every` steps; both take a batch of
    seeds and states as well: `init(seeds)`.
    """

    init: Any
    advance: Any


@functools.lru_cache(maxsize=64)
def compiled(dqn: Dqn, env: Any, params: Any = None) -> Compiled:
    """The agent's loop in an environment with the interface of gymnax; equal arguments share one compilation.

    Args:
        dqn: the agent.
        env: has `reset_env(key, params)`, `step_env(key, state, action, params)`, `is_truncated(state, params)`,
            `observation_space(params)`, `action_space(params)`.
        params: of the environment; None: its `default_params`.
    """
    params = env.default_params if params is None else params
    dqn, rule = bound(dqn, env.observation_space(params), env.action_space(params))

    def reset(key: Key) -> tuple[Array, Any]:
        obs, env_state = env.reset_env(key, params)
        return flat(obs), jax.tree.map(jnp.asarray, env_state)

    def move(key: Key, env_state: Any, action: Array) -> tuple[Array, Any, Array, Array, Array, Any]:
        obs, after, reward, terminated, info = env.step_env(key, env_state, action, params)
        truncated = env.is_truncated(after, params) & ~terminated if hasattr(env, "is_truncated") else False
        after = jax.tree.map(lambda new, old: jnp.asarray(new, jnp.result_type(old)), after, env_state)
        cost = info.get("cost")
        return flat(obs), after, jnp.asarray(reward, float), terminated, jnp.asarray(truncated), cost

    def interact(state: DqnState, _: Any) -> tuple[DqnState, Tally]:
        key_next, key_act, key_move, key_reset, key_absorb = jax.random.split(keys.wrap(state.key), 5)
        decision, actor = rule.decide(key_act, state.learner, state.actor, state.step)
        next_obs, after, reward, terminated, truncated, cost = move(key_move, state.env, decision.action)
        transition = Transition(actor.obs, decision.action, reward, next_obs, terminated, truncated, cost)
        first_obs, afresh = reset(key_reset)
        total, ended = actor.total + reward, terminated | truncated
        learner, actor = rule.absorb(key_absorb, state.learner, actor, transition, first_obs, state.step)
        best = jnp.where(ended, total, -jnp.inf)
        tally = Tally(ended, jnp.where(ended, total, 0.0), best, decision.explored, decision.spread)
        key = jax.random.key_data(key_next)
        return DqnState(key, state.step + 1, learner, actor, select(ended, afresh, after)), tally

    def update(state: DqnState, _: Any) -> tuple[DqnState, Tally]:
        state, tally = jax.lax.scan(interact, state, length=dqn.update_every)
        key_next, key_learn = jax.random.split(keys.wrap(state.key))
        learner = rule.learn(key_learn, state.learner, state.step)
        return state._replace(key=jax.random.key_data(key_next), learner=learner), tally

    def period(state: DqnState, _: Any) -> tuple[DqnState, Tally]:
        state = state._replace(learner=rule.synchronise(state.learner))
        return jax.lax.scan(update, state, length=dqn.target_every // dqn.update_every)

    def episode(key: Key, state: DqnState) -> Array:
        key_reset, key_play, key_begin = jax.random.split(key, 3)
        carry = dqn.explorer.begin(key_begin)

        def play(now: Any) -> Any:
            key, obs, env_state, total, steps, _ = now
            key_next, key_act, key_env = jax.random.split(key, 3)
            action = rule.exploit(key_act, state.learner, carry, obs, state.step)
            obs, env_state, reward, terminated, truncated, _ = move(key_env, env_state, action)
            over = terminated | truncated | (steps + 1 >= dqn.evaluate_steps)
            return key_next, obs, env_state, total + reward, steps + 1, over

        start = (key_play, *reset(key_reset), jnp.zeros(()), jnp.zeros((), jnp.int32), jnp.zeros((), bool))
        return jax.lax.while_loop(lambda now: ~now[-1], play, start)[3]

    def advance(state: DqnState) -> tuple[DqnState, Piece]:
        state, tally = jax.lax.scan(period, state, length=dqn.evaluate_every // dqn.target_every)
        key_next, key_evaluate = jax.random.split(keys.wrap(state.key))
        returns = jax.vmap(episode, (0, None))(jax.random.split(key_evaluate, dqn.evaluate_episodes), state)
        episodes = jnp.sum(tally.episodes)
        piece = Piece(
            state.step,
            jnp.mean(returns),
            episodes,
            jnp.sum(tally.returns) / episodes,
            jnp.max(tally.best),
            jnp.mean(tally.explored),
            jnp.mean(tally.spread),
            state.step - dqn.evaluate_every + 1 + jnp.argmax(tally.best),
        )
        return state._replace(key=jax.random.key_data(key_next)), piece

    def init(seed: Array) -> DqnState:
        key_reset, key_init, key_next = jax.random.split(keys.new(seed), 3)
        obs, env_state = reset(key_reset)
        learner, actor = rule.init(key_init, obs)
        state = DqnState(jax.random.key_data(key_next), jnp.zeros((), jnp.int32), learner, actor, env_state)
        return jax.lax.scan(interact, state, length=dqn.warmup)[0] if dqn.warmup else state

    one, many = jax.jit(init), jax.jit(jax.vmap(init))
    step_one, step_many = jax.jit(advance), jax.jit(jax.vmap(advance))
    return Compiled(
        lambda seed: (many if np.ndim(seed) else one)(jnp.asarray(seed, jnp.uint32)),
        lambda state: (step_many if np.ndim(state.step) else step_one)(state),
    )


def train(dqn: Dqn, env: Any, *, steps: int, seeds: Any, params: Any = None) -> Piece:
    """Trains with each of the seeds at once; the pieces' arrays have shape (pieces, seeds).

    Args:
        dqn: the agent.
        env: with the interface of gymnax.
        steps: a multiple of the agent's `evaluate_every`.
        seeds: whole numbers.
        params: of the environment; None: its own.
    """
    if check.as_whole("train", "steps", steps) % dqn.evaluate_every:
        check.refuse("train", "steps", f"a multiple of evaluate_every={dqn.evaluate_every}", steps)
    loop = compiled(dqn, env, params)
    state, pieces = loop.init(np.asarray(seeds)), []
    for _ in range(steps // dqn.evaluate_every):
        state, piece = loop.advance(state)
        pieces.append(piece)
    return Piece(*(np.stack(column) for column in zip(*jax.device_get(pieces), strict=True)))
