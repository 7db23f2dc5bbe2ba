"""Any agent in an environment in JAX, compiled from end to end: acting, replay, learning and evaluation in one scan.

for each piece of `evaluate_every` steps:
    for each `target_every` steps:
        the agent syncs its targets
        for each `update_every` steps:
            it decides, the environment steps, the replay stores the row   (update_every times)
            it learns from minibatches
    greedy episodes, which train nothing

The first `warmup` steps fill the replay alone.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.agents import keys, replay_jax
from adeu.agents.agent import Acting, Agent, AgentCarry, AnyAgent, Learned, Row, check_needs
from adeu.agents.compiling import select
from adeu.agents.player import check_learned
from adeu.agents.replay_jax import JaxReplay
from adeu.core import check
from adeu.core.contract import Array, Decision, Key, Transition
from adeu.core.value import check_value


class LoopState(NamedTuple, Generic[Learned, Row, AgentCarry]):
    """Everything that changes, as arrays: saved by `np.savez` of its leaves, a run resumes with the same bits."""

    key: Array
    step: Array
    learned: Learned
    replay: JaxReplay[Row]
    carry: AgentCarry
    obs: Array
    total: Array
    """The reward of the episode so far."""
    env: Any


AnyLoopState = LoopState[Any, Any, Any]


class StepTally(NamedTuple):
    """What is kept of each training step of a piece."""

    episodes: Array
    returns: Array
    best: Array
    explored: Array
    spread: Array


class LoopPiece(NamedTuple):
    """What a piece of `evaluate_every` steps came to: a number for each seed, or an array of them per piece."""

    step: Array | NDArray[Any]
    evaluation: Array | NDArray[Any]
    """The mean return of the greedy episodes after it."""
    episodes: Array | NDArray[Any]
    """How many training episodes ended in it."""
    training: Array | NDArray[Any]
    """Their mean return, NaN if there was none."""
    best: Array | NDArray[Any]
    """Their best return, -inf if there was none."""
    explored: Array | NDArray[Any]
    """The share of steps that explored."""
    spread: Array | NDArray[Any]
    best_at: Array | NDArray[Any]
    """The step that ended the first episode with the best return."""


def flat(obs: Any) -> Array:
    obs = jnp.asarray(obs)
    return obs.astype(jnp.int32) if obs.ndim == 0 else obs.astype(jnp.float32).ravel()


@dataclasses.dataclass(frozen=True)
class ByValue:
    """Parameters of an environment, some of which may be arrays: equal ones have equal hashes."""

    params: Any = dataclasses.field(compare=False)
    value: Any

    @classmethod
    def of(cls, params: Any) -> ByValue:
        leaves, structure = jax.tree.flatten(params)
        return cls(params, (structure, *map(cls._value, leaves)))

    @staticmethod
    def _value(leaf: Any) -> Any:
        array = np.asarray(leaf)
        # The bytes of an object's array are its address.
        return leaf if array.dtype == object else (str(array.dtype), array.shape, array.tobytes())


@dataclasses.dataclass(frozen=True)
class JaxLoop:
    """Trains an agent in an environment with the interface of gymnax; equal loops share one compilation.

    `init(seed)` makes a state, `advance(state)` plays a piece of `evaluate_every` steps; both take a batch of seeds
    and states as well.

    Args:
        agent: an `Agent`, such as a `Dqn`, a `Td3` or a `Sac`.
        env: has `reset_env(key, params)`, `step_env(key, state, action, params)`, `is_truncated(state, params)`,
            `observation_space(params)`, `action_space(params)`, `default_params`.
        params: of the environment; None: its `default_params`.
        warmup: steps before the first update, a multiple of the agent's `target_every`; TD3 and SAC act at random
            there.
        evaluate_every: steps per evaluation, a multiple of the agent's `target_every`.
        evaluate_episodes: greedy episodes in one.
        evaluate_steps: after so many steps such an episode is cut.
    """

    agent: AnyAgent
    env: Any
    params: Any = None
    warmup: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 1
    evaluate_steps: int = 10_000

    def __post_init__(self) -> None:
        check.instance(self, "agent", Agent)
        if not hasattr(self.env, "default_params"):
            check.refuse(self, "env", "an environment with gymnax's interface (GymLoop takes Gymnasium's)", self.env)
        if dataclasses.is_dataclass(self.env):
            check_value(self.env)
        for argument in ("evaluate_every", "evaluate_episodes", "evaluate_steps"):
            check.whole(self, argument)
        check.whole(self, "warmup", at_least=0)
        params = self.env.default_params if self.params is None else self.params
        spaces = self.env.observation_space(params), self.env.action_space(params)
        bound = self.agent.bind(*spaces)
        check_needs(bound)
        inner = bound.cadence.target_every or bound.cadence.update_every
        for argument in ("warmup", "evaluate_every"):
            if getattr(self, argument) % inner:
                check.refuse(
                    self, argument, f"a multiple of the agent's {inner} steps per update", getattr(self, argument)
                )
        object.__setattr__(self, "agent", bound)
        object.__setattr__(self, "params", params if isinstance(params, ByValue) else ByValue.of(params))

    def init(self, seed: Any) -> AnyLoopState:
        """The state before the first step, of one seed or of several."""
        run = _compile(self)
        seeds = jnp.asarray(seed, jnp.uint32)
        return run.init_many(seeds) if seeds.ndim else run.init(seeds)

    def advance(self, state: AnyLoopState) -> tuple[AnyLoopState, LoopPiece]:
        """Plays a piece of `evaluate_every` steps, in one state or in several that are equally far.

        Raises a `ValueError` where training diverged in any of them.
        """
        run, step = _compile(self), np.ravel(state.step)[0]
        early = min(max(self.warmup - int(step), 0), self.evaluate_every)
        after, piece = (run.advance_many if np.ndim(state.step) else run.advance)(state, early)
        check_learned(self.agent, after.learned)
        return after, piece


class _LoopFunctions(NamedTuple):
    """The compiled functions of a loop, for one state and for several."""

    init: Callable[[Array], AnyLoopState]
    init_many: Callable[[Array], AnyLoopState]
    advance: Callable[[AnyLoopState, int], tuple[AnyLoopState, LoopPiece]]
    advance_many: Callable[[AnyLoopState, int], tuple[AnyLoopState, LoopPiece]]


@functools.lru_cache(maxsize=64)
def _compile(loop: JaxLoop) -> _LoopFunctions:
    player = JaxPlayer(loop.agent, loop.env, loop.params.params, loop.evaluate_steps)
    cadence = loop.agent.cadence
    inner = cadence.target_every or cadence.update_every

    def update(state: AnyLoopState, _: None) -> tuple[AnyLoopState, StepTally]:
        state, tally = jax.lax.scan(functools.partial(player.interact, False), state, length=cadence.update_every)
        return player.learn(state), tally

    def period(state: AnyLoopState, _: None) -> tuple[AnyLoopState, StepTally]:
        state = state._replace(learned=loop.agent.sync(state.learned))
        return jax.lax.scan(update, state, length=inner // cadence.update_every)

    def advance(state: AnyLoopState, early: int) -> tuple[AnyLoopState, LoopPiece]:
        """`early` of the steps belong to the warm-up."""
        tallies = []
        if early:
            state, tally = jax.lax.scan(functools.partial(player.interact, True), state, length=early)
            tallies.append(tally)
        if early < loop.evaluate_every:
            state, tally = jax.lax.scan(period, state, length=(loop.evaluate_every - early) // inner)
            tallies.append(tally)
        steps = tallies[0]
        if len(tallies) > 1:
            both = zip(*tallies, strict=True)
            steps = StepTally(*(jnp.concatenate([each.ravel() for each in column]) for column in both))
        key_next, key_evaluate = jax.random.split(keys.wrap(state.key))
        returns = jax.vmap(player.greedy, (0, None))(jax.random.split(key_evaluate, loop.evaluate_episodes), state)
        episodes = jnp.sum(steps.episodes)
        piece = LoopPiece(
            state.step,
            jnp.mean(returns),
            episodes,
            jnp.sum(steps.returns) / episodes,
            jnp.max(steps.best),
            jnp.mean(steps.explored),
            jnp.mean(steps.spread),
            state.step - loop.evaluate_every + 1 + jnp.argmax(steps.best),
        )
        return state._replace(key=jax.random.key_data(key_next)), piece

    def advance_many(states: AnyLoopState, early: int) -> tuple[AnyLoopState, LoopPiece]:
        return jax.vmap(functools.partial(advance, early=early))(states)

    return _LoopFunctions(
        jax.jit(player.init),
        jax.jit(jax.vmap(player.init)),
        jax.jit(advance, static_argnums=1),
        jax.jit(advance_many, static_argnums=1),
    )


@dataclasses.dataclass(frozen=True)
class JaxPlayer(Generic[Learned, Acting, Row, AgentCarry]):
    """An agent in an environment: single steps, updates and greedy episodes, as pure functions of the state."""

    agent: Agent[Learned, Acting, Row, AgentCarry]
    env: Any
    params: Any
    evaluate_steps: int

    def init(self, seed: Array) -> LoopState[Learned, Row, AgentCarry]:
        key_reset, key_init, key_begin, key_next = jax.random.split(keys.new(seed), 4)
        obs, env_state = self._reset(key_reset)
        learned, carry = self.agent.init(key_init, obs), self.agent.begin(key_begin)
        step, zero, no = jnp.zeros((), jnp.int32), jnp.zeros(()), jnp.zeros((), bool)
        acting = self.agent.acting(learned)
        decision, _ = jax.eval_shape(self.agent.decide, key_init, acting, carry, obs, step, no)
        action = jnp.zeros(decision.action.shape, decision.action.dtype)
        example, _ = self.agent.row(
            None, Transition(obs, action, zero, obs, no, no), Decision(action, no, zero, zero)
        )
        replay = replay_jax.create(self.agent.capacity, example)
        return LoopState(jax.random.key_data(key_next), step, learned, replay, carry, obs, zero, env_state)

    def interact(
        self, early: bool, state: LoopState[Learned, Row, AgentCarry], _: None
    ) -> tuple[LoopState[Learned, Row, AgentCarry], StepTally]:
        """One step of the environment; where it ended the episode, the next one begins."""
        key_next, key_act, key_move, key_reset, key_coins, key_absorb, key_begin = jax.random.split(
            keys.wrap(state.key), 7
        )
        agent, acting = self.agent, self.agent.acting(state.learned)
        decision, carry = agent.decide(key_act, acting, state.carry, state.obs, state.step, jnp.asarray(early))
        next_obs, after, reward, terminated, truncated, cost = self._move(key_move, state.env, decision.action)
        transition = Transition(state.obs, decision.action, reward, next_obs, terminated, truncated, cost)
        coins = jax.random.uniform(key_coins, (agent.coins,)) if agent.coins else None
        row, enters = agent.row(coins, transition, decision)
        first_obs, afresh = self._reset(key_reset)
        total, ended = state.total + reward, terminated | truncated
        if enters is not True:
            enters = enters | (state.replay.added == 0)  # an empty one takes any row
        replay = replay_jax.add(state.replay, row, True if early else enters)
        learned = agent.absorb(key_absorb, state.learned, transition, state.step)
        begun = agent.begin(key_begin, carry), first_obs, jnp.zeros(()), afresh
        carry, obs, so_far, env = select(ended, begun, (carry, next_obs, total, after))
        best = jnp.where(ended, total, -jnp.inf)
        tally = StepTally(ended, jnp.where(ended, total, 0.0), best, decision.explored, decision.spread)
        key = jax.random.key_data(key_next)
        return LoopState(key, state.step + 1, learned, replay, carry, obs, so_far, env), tally

    def learn(self, state: LoopState[Learned, Row, AgentCarry]) -> LoopState[Learned, Row, AgentCarry]:
        key_next, key_learn = jax.random.split(keys.wrap(state.key))
        key_sample, key_update = jax.random.split(key_learn)
        batches = replay_jax.sample(state.replay, key_sample, self.agent.cadence.updates, self.agent.batch)
        learned = self.agent.learn(key_update, state.learned, batches, state.step)
        return state._replace(key=jax.random.key_data(key_next), learned=learned)

    def greedy(self, key: Key, state: LoopState[Learned, Row, AgentCarry]) -> Array:
        """The return of a greedy episode."""
        key_reset, key_play, key_begin = jax.random.split(key, 3)
        acting, carry = self.agent.acting(state.learned), self.agent.begin(key_begin)

        def play(now: Any) -> Any:
            key, obs, env_state, total, steps, _ = now
            key_next, key_act, key_env = jax.random.split(key, 3)
            action = self.agent.exploit(key_act, acting, carry, obs, state.step)
            obs, env_state, reward, terminated, truncated, _ = self._move(key_env, env_state, action)
            over = terminated | truncated | (steps + 1 >= self.evaluate_steps)
            return key_next, obs, env_state, total + reward, steps + 1, over

        start = (key_play, *self._reset(key_reset), jnp.zeros(()), jnp.zeros((), jnp.int32), jnp.zeros((), bool))
        played: Array = jax.lax.while_loop(lambda now: ~now[-1], play, start)[3]
        return played

    def _reset(self, key: Key) -> tuple[Array, Any]:
        obs, env_state = self.env.reset_env(key, self.params)
        return flat(obs), jax.tree.map(jnp.asarray, env_state)

    def _move(self, key: Key, env_state: Any, action: Array) -> tuple[Array, Any, Array, Array, Array, Any]:
        obs, after, reward, terminated, info = self.env.step_env(key, env_state, action, self.params)
        truncated = jnp.zeros((), bool)
        if hasattr(self.env, "is_truncated"):
            truncated = jnp.asarray(self.env.is_truncated(after, self.params) & ~terminated)
        after = jax.tree.map(lambda new, old: jnp.asarray(new, jnp.result_type(old)), after, env_state)
        return flat(obs), after, jnp.asarray(reward, float), terminated, truncated, info.get("cost")


def train(agent: AnyAgent, env: Any, *, steps: int, seeds: Sequence[int] | NDArray[Any], **loop: Any) -> LoopPiece:
    """Trains with each of the seeds at once; the pieces' arrays have shape (pieces, seeds).

    Args:
        agent: an `Agent`, such as a `Dqn`, a `Td3` or a `Sac`.
        env: with the interface of gymnax.
        steps: a multiple of `evaluate_every`.
        seeds: whole numbers.
        loop: further arguments of `JaxLoop`.
    """
    run = JaxLoop(agent, env, **loop)
    if check.as_whole("train", "steps", steps) % run.evaluate_every:
        check.refuse("train", "steps", f"a multiple of evaluate_every={run.evaluate_every}", steps)
    state, pieces = run.init(np.asarray(seeds)), []
    for _ in range(steps // run.evaluate_every):
        state, piece = run.advance(state)
        pieces.append(piece)
    return LoopPiece(*(np.stack(column) for column in zip(*jax.device_get(pieces), strict=True)))
