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
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.agents import keys
from adeu.agents.agent import Agent, AnyAgent, OpaqueAgent, check_needs
from adeu.agents.jax_player import AnyLoopState, Given, JaxPlayer, StepTally
from adeu.agents.player import check_learned
from adeu.behavior.tally import PERCENTILES
from adeu.core import check
from adeu.core.contract import Array, Normalizer
from adeu.core.environments import GymnaxEnv
from adeu.core.value import check_value


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
