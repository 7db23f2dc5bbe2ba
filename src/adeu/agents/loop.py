"""Any agent in an environment in JAX, compiled from end to end: acting, replay, learning and evaluation in one scan.

for each piece of `evaluate_every` steps:
    for each `target_every` steps:
        targets <- networks
        for each `update_every` steps:
            a ~ D(pi(s), g(f(s))), s' and r from the environment, into the replay   (update_every times)
            the agent learns from minibatches, and so does f
    greedy episodes, which train nothing
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents import keys
from adeu.core import check
from adeu.core.contract import Array, Key, Transition
from adeu.core.explorer import Explorer


class Agent(Protocol):
    """Settings, a frozen dataclass with a loop in it; `fit` gives the agent for two spaces, and its functions."""

    @property
    def explorer(self) -> Explorer: ...

    @property
    def update_every(self) -> int: ...

    @property
    def target_every(self) -> int: ...

    @property
    def evaluate_every(self) -> int: ...

    @property
    def evaluate_episodes(self) -> int: ...

    @property
    def evaluate_steps(self) -> int: ...

    @property
    def warmup(self) -> int: ...

    def __hash__(self) -> int: ...

    def fit(self, observation_space: Any, action_space: Any) -> tuple[Any, Any]:
        """The rules are `init`, `decide`, `absorb`, `learn`, `synchronise` and `exploit`, as `Dqn` has them."""
        ...


class Tally(NamedTuple):
    """Of one piece's training steps."""

    episodes: Array
    returns: Array
    best: Array
    explored: Array
    spread: Array


class LoopState(NamedTuple):
    """All there is, as arrays: with `np.savez` of its leaves a run goes on bit for bit."""

    key: Array
    step: Array
    learner: Any
    actor: Any
    env: Any


class Piece(NamedTuple):
    """What a piece of `evaluate_every` steps came to."""

    step: Any
    evaluation: Any
    """The mean return of the greedy episodes after it."""
    episodes: Any
    """How many training episodes ended in it."""
    training: Any
    """Their mean return, NaN if there was none."""
    best: Any
    """Their best return, -inf if there was none."""
    explored: Any
    """The share of steps that explored."""
    spread: Any
    best_at: Any = 0
    """The step that ended the first episode with the best return."""


def flat(obs: Any) -> Array:
    obs = jnp.asarray(obs)
    return obs.astype(jnp.int32) if obs.ndim == 0 else obs.astype(jnp.float32).ravel()


def select(condition: Array, if_true: Any, if_false: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)


class Compiled(NamedTuple):
    """`init(seed)` makes a state, `advance(state)` plays a piece of `evaluate_every` steps; both take a batch of
    seeds and states as well: `init(seeds)`.
    """

    init: Any
    advance: Any


@dataclasses.dataclass(frozen=True)
class ByValue:
    """Parameters of an environment, some of which may be arrays: equal ones have equal hashes."""

    params: Any = dataclasses.field(compare=False)
    value: Any

    @classmethod
    def of(cls, params: Any) -> ByValue:
        leaves, structure = jax.tree.flatten(params)
        return cls(params, (structure, *((str(a.dtype), a.shape, a.tobytes()) for a in map(np.asarray, leaves))))


def compiled(agent: Agent, env: Any, params: Any = None) -> Compiled:
    """The agent's loop in an environment with the interface of gymnax; equal arguments share one compilation.

    Args:
        agent: such as a `Dqn` or a `Td3`.
        env: has `reset_env(key, params)`, `step_env(key, state, action, params)`, `is_truncated(state, params)`,
            `observation_space(params)`, `action_space(params)`.
        params: of the environment; None: its `default_params`.
    """
    if not hasattr(env, "default_params"):
        check.refuse(agent, "env", "an environment with gymnax's interface (HostLoop plays Gymnasium's)", env)
    return _compiled(agent, env, ByValue.of(env.default_params if params is None else params))


@functools.lru_cache(maxsize=64)
def _compiled(agent: Agent, env: Any, given: ByValue) -> Compiled:
    params = given.params
    agent, rule = agent.fit(env.observation_space(params), env.action_space(params))

    def reset(key: Key) -> tuple[Array, Any]:
        obs, env_state = env.reset_env(key, params)
        return flat(obs), jax.tree.map(jnp.asarray, env_state)

    def move(key: Key, env_state: Any, action: Array) -> tuple[Array, Any, Array, Array, Array, Any]:
        obs, after, reward, terminated, info = env.step_env(key, env_state, action, params)
        truncated = env.is_truncated(after, params) & ~terminated if hasattr(env, "is_truncated") else False
        after = jax.tree.map(lambda new, old: jnp.asarray(new, jnp.result_type(old)), after, env_state)
        cost = info.get("cost")
        return flat(obs), after, jnp.asarray(reward, float), terminated, jnp.asarray(truncated), cost

    def interact(state: LoopState, _: Any) -> tuple[LoopState, Tally]:
        key_next, key_act, key_move, key_reset, *keys_absorb = jax.random.split(keys.wrap(state.key), 7)
        decision, actor = rule.decide(key_act, state.learner, state.actor, state.step)
        next_obs, after, reward, terminated, truncated, cost = move(key_move, state.env, decision.action)
        transition = Transition(actor.obs, decision.action, reward, next_obs, terminated, truncated, cost)
        first_obs, afresh = reset(key_reset)
        total, ended = actor.total + reward, terminated | truncated
        learner, actor = rule.absorb(keys_absorb, state.learner, actor, transition, first_obs, state.step)
        best = jnp.where(ended, total, -jnp.inf)
        tally = Tally(ended, jnp.where(ended, total, 0.0), best, decision.explored, decision.spread)
        key = jax.random.key_data(key_next)
        return LoopState(key, state.step + 1, learner, actor, select(ended, afresh, after)), tally

    def update(state: LoopState, _: Any) -> tuple[LoopState, Tally]:
        state, tally = jax.lax.scan(interact, state, length=agent.update_every)
        key_next, key_learn = jax.random.split(keys.wrap(state.key))
        learner = rule.learn(key_learn, state.learner, state.step)
        return state._replace(key=jax.random.key_data(key_next), learner=learner), tally

    def period(state: LoopState, _: Any) -> tuple[LoopState, Tally]:
        state = state._replace(learner=rule.synchronise(state.learner))
        return jax.lax.scan(update, state, length=agent.target_every // agent.update_every)

    def episode(key: Key, state: LoopState) -> Array:
        key_reset, key_play, key_begin = jax.random.split(key, 3)
        carry = agent.explorer.begin(key_begin)

        def play(now: Any) -> Any:
            key, obs, env_state, total, steps, _ = now
            key_next, key_act, key_env = jax.random.split(key, 3)
            action = rule.exploit(key_act, state.learner, carry, obs, state.step)
            obs, env_state, reward, terminated, truncated, _ = move(key_env, env_state, action)
            over = terminated | truncated | (steps + 1 >= agent.evaluate_steps)
            return key_next, obs, env_state, total + reward, steps + 1, over

        start = (key_play, *reset(key_reset), jnp.zeros(()), jnp.zeros((), jnp.int32), jnp.zeros((), bool))
        return jax.lax.while_loop(lambda now: ~now[-1], play, start)[3]

    def advance(state: LoopState) -> tuple[LoopState, Piece]:
        state, tally = jax.lax.scan(period, state, length=agent.evaluate_every // agent.target_every)
        key_next, key_evaluate = jax.random.split(keys.wrap(state.key))
        returns = jax.vmap(episode, (0, None))(jax.random.split(key_evaluate, agent.evaluate_episodes), state)
        episodes = jnp.sum(tally.episodes)
        piece = Piece(
            state.step,
            jnp.mean(returns),
            episodes,
            jnp.sum(tally.returns) / episodes,
            jnp.max(tally.best),
            jnp.mean(tally.explored),
            jnp.mean(tally.spread),
            state.step - agent.evaluate_every + 1 + jnp.argmax(tally.best),
        )
        return state._replace(key=jax.random.key_data(key_next)), piece

    def init(seed: Array) -> LoopState:
        key_reset, key_init, key_begin, key_next = jax.random.split(keys.new(seed), 4)
        obs, env_state = reset(key_reset)
        learner, actor = rule.init(key_init, key_begin, obs)
        state = LoopState(jax.random.key_data(key_next), jnp.zeros((), jnp.int32), learner, actor, env_state)
        return jax.lax.scan(interact, state, length=agent.warmup)[0] if agent.warmup else state

    one, many = jax.jit(init), jax.jit(jax.vmap(init))
    step_one, step_many = jax.jit(advance), jax.jit(jax.vmap(advance))
    return Compiled(
        lambda seed: (many if np.ndim(seed) else one)(jnp.asarray(seed, jnp.uint32)),
        lambda state: (step_many if np.ndim(state.step) else step_one)(state),
    )


def train(agent: Agent, env: Any, *, steps: int, seeds: Any, params: Any = None) -> Piece:
    """Trains with each of the seeds at once; the pieces' arrays have shape (pieces, seeds).

    Args:
        agent: such as a `Dqn` or a `Td3`.
        env: with the interface of gymnax.
        steps: a multiple of the agent's `evaluate_every`.
        seeds: whole numbers.
        params: of the environment; None: its own.
    """
    if check.as_whole("train", "steps", steps) % agent.evaluate_every:
        check.refuse("train", "steps", f"a multiple of evaluate_every={agent.evaluate_every}", steps)
    loop = compiled(agent, env, params)
    state, pieces = loop.init(np.asarray(seeds)), []
    for _ in range(steps // agent.evaluate_every):
        state, piece = loop.advance(state)
        pieces.append(piece)
    return Piece(*(np.stack(column) for column in zip(*jax.device_get(pieces), strict=True)))
