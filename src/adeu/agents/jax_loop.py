"""Trains any agent in a JAX environment. Acting, replay, learning and evaluation are compiled into one scan.

for each piece of `evaluate_every` steps:
    every `target_every` steps:
        the agent syncs its targets
        every `update_every` steps:
            the agent decides, the environment steps, the replay stores the row   (update_every times)
            the agent learns from minibatches
    greedy episodes, without training

The first `warmup` steps only fill the replay.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.agents import keys, replay_jax
from adeu.agents.agent import (
    PAID,
    Acting,
    Agent,
    AgentCarry,
    AnyAgent,
    Learned,
    Opaque,
    OpaqueAgent,
    Row,
    check_needs,
    needs_reward,
)
from adeu.agents.compiling import select
from adeu.agents.player import check_learned
from adeu.agents.replay_jax import JaxReplay
from adeu.behavior.tally import PERCENTILES
from adeu.core import check
from adeu.core.contract import Array, Decision, Key, Normalizer, Transition
from adeu.core.environments import GymnaxEnv
from adeu.core.value import check_value


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


class LoopPiece(NamedTuple):
    """The results of a piece of `evaluate_every` steps: one number per seed. `train` stacks them over pieces."""

    step: Array | NDArray[Any]
    evaluation: Array | NDArray[Any]
    """The mean return of the greedy episodes after the piece."""
    episodes: Array | NDArray[Any]
    """The number of training episodes that ended in the piece."""
    training: Array | NDArray[Any]
    """The mean return of these episodes, NaN if there were none."""
    best: Array | NDArray[Any]
    """The best return of these episodes, -inf if there were none."""
    explored: Array | NDArray[Any]
    """The share of steps that explored."""
    spread: Array | NDArray[Any]
    best_at: Array | NDArray[Any]
    """The step that ended the first episode with the best return."""
    saturated: Array | NDArray[Any]
    """The share of steps in which g was saturated, among those in which f decided the spread; NaN if it never did."""
    spread_p10: Array | NDArray[Any]
    """The 10th percentile of the spread in the steps in which f decided it."""
    spread_p90: Array | NDArray[Any]
    deviation: Array | NDArray[Any]
    """The mean distance from the policy's action, 0 in a Discrete space; see `adeu.Distribution.deviation`."""
    spreads: Array | NDArray[Any]
    """The spread of each step: an array of `evaluate_every` numbers for each seed."""
    asked: Array | NDArray[Any]
    """Whether f decided the spread of each step."""


Given = Mapping[str, Array | NDArray[Any]]


def flat(value: Array) -> Array:
    obs = jnp.asarray(value)
    return obs.astype(jnp.int32) if obs.ndim == 0 else obs.astype(jnp.float32).ravel()


@dataclasses.dataclass(frozen=True)
class ByValue:
    """Environment parameters, hashed by value even if they contain arrays."""

    params: object = dataclasses.field(compare=False)
    value: tuple[object, ...]

    @classmethod
    def of(cls, params: object) -> ByValue:
        leaves, structure = jax.tree.flatten(params)
        return cls(params, (structure, *map(cls._value, leaves)))

    @staticmethod
    def _value(leaf: object) -> object:
        array = np.asarray(leaf)
        # The bytes of an object array are memory addresses, not values.
        return leaf if array.dtype == object else (str(array.dtype), array.shape, array.tobytes())


@dataclasses.dataclass(frozen=True)
class JaxLoop:
    """Trains an agent in an environment with gymnax's interface; equal loops share one compilation.

    `init(seed)` creates a state, `advance(state)` runs a piece of `evaluate_every` steps. Both also accept a batch of
    seeds or states. If f is a `Recorded`, pass its values with `advance(state, {"recorded": spreads})`.

    Args:
        agent: an `Agent`, such as a `Dqn`, a `Td3` or a `Sac`.
        env: has `reset_env(key, params)`, `step_env(key, state, action, params)`, `observation_space(params)`,
            `action_space(params)`, `default_params` and optionally `is_truncated(state, params)`.
        params: the environment's parameters; the default is `env.default_params`.
        warmup: steps before the first update, a multiple of the agent's `target_every`, or of `update_every` if it
            has none; TD3 and SAC act at random during the warm-up.
        evaluate_every: steps between evaluations, a multiple of the same number.
        evaluate_episodes: greedy episodes per evaluation.
        evaluate_steps: the maximum length of a greedy episode.
        given: the names of the arrays that `advance` takes.
    """

    agent: AnyAgent
    env: Any
    params: Any = None
    warmup: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 1
    evaluate_steps: int = 10_000
    given: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check.instance(self, "agent", Agent)
        if not hasattr(self.env, "default_params"):
            check.refuse(self, "env", "an environment with gymnax's interface (GymLoop takes Gymnasium's)", self.env)
        if dataclasses.is_dataclass(self.env):
            check_value(self.env)
        for argument in ("evaluate_every", "evaluate_episodes", "evaluate_steps"):
            check.whole(self, argument)
        check.whole(self, "warmup", at_least=0)
        env: GymnaxEnv = self.env
        params: object = env.default_params if self.params is None else self.params
        bound = self.agent.bind(env.observation_space(params), env.action_space(params))
        check_needs(bound, frozenset(self.given))
        inner = bound.cadence.target_every or bound.cadence.update_every
        for argument in ("warmup", "evaluate_every"):
            steps: int = getattr(self, argument)
            if steps % inner:
                check.refuse(self, argument, f"a multiple of the agent's {inner} steps per update", steps)
        object.__setattr__(self, "agent", bound)
        object.__setattr__(self, "params", params if isinstance(params, ByValue) else ByValue.of(params))

    def init(self, seed: ArrayLike) -> AnyLoopState:
        """Returns the state before the first step, for one seed or several."""
        run = _compile(self)
        seeds = jnp.asarray(seed, jnp.uint32)
        return run.init_many(seeds) if seeds.ndim else run.init(seeds)

    def advance(self, state: AnyLoopState, given: Given | None = None) -> tuple[AnyLoopState, LoopPiece]:
        """Runs a piece of `evaluate_every` steps from one state, or from several at the same step.

        Args:
            state: the result of `init` or of the previous call.
            given: an array for each name in the loop's `given`, with one entry per step, starting at step 0. f gets
                the current entry under that name, and 0 in greedy episodes. With several states, arrays have a
                leading axis for them.

        Raises a `ValueError` if training diverged in any state.
        """
        given = dict(given or {})
        run, step = _compile(self), int(np.ravel(state.step)[0])
        if given.keys() != set(self.given):
            check.refuse(self, "given", f"arrays named {self.given}", tuple(given))
        for name, values in given.items():
            shape = (*np.shape(state.step), step + self.evaluate_every)
            if (
                np.ndim(values) != len(shape)
                or np.shape(values)[:-1] != shape[:-1]
                or np.shape(values)[-1] < shape[-1]
            ):
                check.refuse(self, f"given[{name!r}]", f"an array of at least shape {shape}", np.shape(values))
        early = min(max(self.warmup - step, 0), self.evaluate_every)
        after, piece = (run.advance_many if np.ndim(state.step) else run.advance)(state, given, early)
        check_learned(self.agent, after.learned)
        return after, piece


class _LoopFunctions(NamedTuple):
    """The compiled functions of a loop, for one state and for several."""

    init: Callable[[Array], AnyLoopState]
    init_many: Callable[[Array], AnyLoopState]
    advance: Callable[[AnyLoopState, Given, int], tuple[AnyLoopState, LoopPiece]]
    advance_many: Callable[[AnyLoopState, Given, int], tuple[AnyLoopState, LoopPiece]]


@functools.lru_cache(maxsize=64)
def _compile(loop: JaxLoop) -> _LoopFunctions:
    agent: OpaqueAgent = loop.agent
    player = JaxPlayer(agent, loop.env, loop.params.params, loop.evaluate_steps, loop.given)
    cadence, g = agent.cadence, agent.explorer.g
    inner = cadence.target_every or cadence.update_every

    def advance(state: AnyLoopState, given: Given, early: int) -> tuple[AnyLoopState, LoopPiece]:
        """`early`: the number of warm-up steps in this piece."""

        def update(state: AnyLoopState, _: None) -> tuple[AnyLoopState, StepTally]:
            interact = functools.partial(player.interact, False, given)
            state, tally = jax.lax.scan(interact, state, length=cadence.update_every)
            return player.learn(state), tally

        def period(state: AnyLoopState, _: None) -> tuple[AnyLoopState, StepTally]:
            state = state._replace(learned=agent.sync(state.learned))
            return jax.lax.scan(update, state, length=inner // cadence.update_every)

        tallies = []
        if early:
            state, tally = jax.lax.scan(functools.partial(player.interact, True, given), state, length=early)
            tallies.append(tally)
        if early < loop.evaluate_every:
            state, tally = jax.lax.scan(period, state, length=(loop.evaluate_every - early) // inner)
            tallies.append(tally)
        both = zip(*tallies, strict=True)
        steps = StepTally(*(jnp.concatenate([each.ravel() for each in column]) for column in both))
        key_next, key_evaluate = keys.split(keys.wrap(state.key))
        keys_evaluate = jax.random.split(key_evaluate, loop.evaluate_episodes)
        returns = jax.vmap(player.greedy, (0, None, None))(keys_evaluate, state, player.nothing)
        return state._replace(key=jax.random.key_data(key_next)), _sum_up(g, state.step, steps, jnp.mean(returns))

    def advance_many(states: AnyLoopState, given: Given, early: int) -> tuple[AnyLoopState, LoopPiece]:
        return jax.vmap(functools.partial(advance, early=early))(states, given)

    return _LoopFunctions(
        jax.jit(player.init),
        jax.jit(jax.vmap(player.init)),
        jax.jit(advance, static_argnums=2),
        jax.jit(advance_many, static_argnums=2),
    )


def _sum_up(g: Normalizer, step: Array, steps: StepTally, evaluation: Array) -> LoopPiece:
    episodes = jnp.sum(steps.episodes)
    asked = jnp.where(steps.asked, steps.spread, jnp.nan)
    return LoopPiece(
        step=step,
        evaluation=evaluation,
        episodes=episodes,
        training=jnp.sum(steps.returns) / episodes,
        best=jnp.max(steps.best),
        explored=jnp.mean(steps.explored),
        spread=jnp.mean(steps.spread),
        best_at=step - len(steps.best) + 1 + jnp.argmax(steps.best),
        saturated=jnp.sum(steps.asked & g.saturated(steps.spread)) / jnp.sum(steps.asked),
        spread_p10=jnp.nanpercentile(asked, PERCENTILES["spread_p10"]),
        spread_p90=jnp.nanpercentile(asked, PERCENTILES["spread_p90"]),
        deviation=jnp.mean(steps.deviation),
        spreads=steps.spread,
        asked=steps.asked,
    )


@dataclasses.dataclass(frozen=True)
class JaxPlayer(Generic[Learned, Acting, Row, AgentCarry]):
    """An agent in an environment: single steps, updates and greedy episodes, as pure functions of the state."""

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


def train(agent: AnyAgent, env: Any, *, steps: int, seeds: Sequence[int] | NDArray[Any], **loop: Any) -> LoopPiece:
    """Trains with all seeds in parallel; the arrays of the result have shape (pieces, seeds).

    Args:
        agent: an `Agent`, such as a `Dqn`, a `Td3` or a `Sac`.
        env: an environment with gymnax's interface.
        steps: training steps, a multiple of `evaluate_every`.
        seeds: integers.
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
