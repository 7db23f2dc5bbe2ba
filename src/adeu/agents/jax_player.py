"""An agent in a JAX environment: steps, updates and greedy episodes, as pure functions of the training state."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple

import jax
import jax.numpy as jnp
from numpy.typing import NDArray

from adeu.agents import keys, replay_jax
from adeu.agents.agent import PAID, Acting, Agent, AgentCarry, Learned, Opaque, Row, needs_reward
from adeu.agents.compiling import select
from adeu.agents.replay_jax import JaxReplay
from adeu.core.contract import Array, Decision, Key, Transition
from adeu.core.environments import GymnaxEnv


class LoopState(NamedTuple, Generic[Learned, Row, AgentCarry]):
    """The complete training state, as arrays. To resume a run bit for bit, save the leaves with `np.savez`."""

    key: Array
    step: Array
    learned: Learned
    replay: JaxReplay[Row]
    carry: AgentCarry
    obs: Array
    total: Array
    """The return of the episode so far."""
    env: object
    reward: Array | None = None
    """The reward of the previous step, 0 in an episode's first step; None unless the explorer needs it."""


AnyLoopState = LoopState[Opaque, Opaque, Opaque]


class StepTally(NamedTuple):
    """Statistics of each training step in a piece."""

    episodes: Array
    returns: Array
    best: Array
    explored: Array
    spread: Array
    asked: Array
    deviation: Array


class GreedyEpisode(NamedTuple):
    """A greedy episode in progress."""

    key: Key
    obs: Array
    env: object
    total: Array
    steps: Array
    over: Array


Given = Mapping[str, Array | NDArray[Any]]


def flat(value: Array) -> Array:
    obs = jnp.asarray(value)
    return obs.astype(jnp.int32) if obs.ndim == 0 else obs.astype(jnp.float32).ravel()


@dataclasses.dataclass(frozen=True)
class JaxPlayer(Generic[Learned, Acting, Row, AgentCarry]):
    agent: Agent[Learned, Acting, Row, AgentCarry]
    env: GymnaxEnv
    params: object
    evaluate_steps: int
    given: tuple[str, ...] = ()

    @property
    def nothing(self) -> dict[str, Array]:
        """Zeros for the additional inputs of a decision, by name."""
        names = (*self.given, PAID) if needs_reward(self.agent) else self.given
        return dict.fromkeys(names, jnp.zeros(()))

    def init(self, seed: Array) -> LoopState[Learned, Row, AgentCarry]:
        key_reset, key_init, key_begin, key_next = keys.split(keys.new(seed), 4)
        obs, env_state = self.reset(key_reset)
        learned, carry = self.agent.init(key_init, obs), self.agent.begin(key_begin)
        step, zero, no = jnp.zeros((), jnp.int32), jnp.zeros(()), jnp.zeros((), bool)
        acting = self.agent.acting(learned)
        given, key_rest = self.nothing, jax.random.key_data(key_next)
        decision, _ = jax.eval_shape(lambda: self.agent.decide(key_init, acting, carry, obs, step, no, **given))
        like: jax.ShapeDtypeStruct = decision.action
        action = jnp.zeros(like.shape, like.dtype)
        example, _ = self.agent.row(
            None, Transition(obs, action, zero, obs, no, no), Decision(action, no, zero, zero)
        )
        replay = replay_jax.create(self.agent.capacity, example)
        return LoopState(key_rest, step, learned, replay, carry, obs, zero, env_state, given.get(PAID))

    def interact(
        self, early: bool, given: Given, state: LoopState[Learned, Row, AgentCarry], _: None
    ) -> tuple[LoopState[Learned, Row, AgentCarry], StepTally]:
        """Takes one environment step, and resets the environment if the episode ended."""
        key_next, key_act, key_move, key_reset, key_coins, key_absorb, key_begin = keys.split(keys.wrap(state.key), 7)
        agent, acting = self.agent, self.agent.acting(state.learned)
        now = {name: values[state.step] for name, values in given.items()}
        if state.reward is not None:
            now[PAID] = state.reward
        decision, carry = agent.decide(key_act, acting, state.carry, state.obs, state.step, jnp.asarray(early), **now)
        next_obs, after, reward, terminated, truncated, cost = self.move(key_move, state.env, decision.action)
        transition = Transition(state.obs, decision.action, reward, next_obs, terminated, truncated, cost)
        coins = jax.random.uniform(key_coins, (agent.coins,)) if agent.coins else None
        row, enters = agent.row(coins, transition, decision)
        first_obs, afresh = self.reset(key_reset)
        total, ended = state.total + reward, terminated | truncated
        if enters is not True:
            enters = enters | (state.replay.added == 0)  # an empty replay accepts any row
        replay = replay_jax.add(state.replay, row, True if early else enters)
        learned = agent.absorb(key_absorb, state.learned, transition, state.step)
        begun = agent.begin(key_begin, carry), first_obs, jnp.zeros(()), afresh
        carry, obs, so_far, env = select(ended, begun, (carry, next_obs, total, after))
        best = jnp.where(ended, total, -jnp.inf)
        returned = jnp.where(ended, total, 0.0)
        shown = decision.explored, decision.spread, decision.asked, decision.deviation
        tally = StepTally(ended, returned, best, *map(jnp.asarray, shown))
        key, paid = jax.random.key_data(key_next), None if state.reward is None else jnp.where(ended, 0.0, reward)
        return LoopState(key, state.step + 1, learned, replay, carry, obs, so_far, env, paid), tally

    def learn(self, state: LoopState[Learned, Row, AgentCarry]) -> LoopState[Learned, Row, AgentCarry]:
        key_next, key_learn = keys.split(keys.wrap(state.key))
        key_sample, key_update = keys.split(key_learn)
        batches = replay_jax.sample(state.replay, key_sample, self.agent.cadence.updates, self.agent.batch)
        learned = self.agent.learn(key_update, state.learned, batches, state.step)
        return state._replace(key=jax.random.key_data(key_next), learned=learned)

    def greedy(self, key: Key, state: LoopState[Learned, Row, AgentCarry], given: Mapping[str, Array]) -> Array:
        """Plays a greedy episode and returns its return."""
        key_reset, key_play, key_begin = keys.split(key, 3)
        acting, carry = self.agent.acting(state.learned), self.agent.begin(key_begin)

        def play(now: GreedyEpisode) -> GreedyEpisode:
            key_next, key_act, key_env = keys.split(now.key, 3)
            action = self.agent.exploit(key_act, acting, carry, now.obs, state.step, **given)
            obs, env_state, reward, terminated, truncated, _ = self.move(key_env, now.env, action)
            over = terminated | truncated | (now.steps + 1 >= self.evaluate_steps)
            return GreedyEpisode(key_next, obs, env_state, now.total + reward, now.steps + 1, over)

        start = *self.reset(key_reset), jnp.zeros(()), jnp.zeros((), jnp.int32), jnp.zeros((), bool)
        return jax.lax.while_loop(lambda now: ~now.over, play, GreedyEpisode(key_play, *start)).total

    def reset(self, key: Key) -> tuple[Array, object]:
        obs, env_state = self.env.reset_env(key, self.params)
        return flat(obs), jax.tree.map(jnp.asarray, env_state)

    def move(
        self, key: Key, env_state: object, action: Array
    ) -> tuple[Array, object, Array, Array, Array, Array | None]:
        obs, after, reward, terminated, info = self.env.step_env(key, env_state, action, self.params)
        truncated = jnp.zeros((), bool)
        if hasattr(self.env, "is_truncated"):
            truncated = jnp.asarray(self.env.is_truncated(after, self.params) & ~terminated)
        after = jax.tree.map(lambda new, old: jnp.asarray(new, jnp.result_type(old)), after, env_state)
        return flat(obs), after, jnp.asarray(reward, float), terminated, truncated, info.get("cost")
