"""Trains any agent in a vector of Gymnasium environments.

until all steps are taken:
    decide for all environments in one compiled call, each with a separate carry and random stream
    step all environments; a transition that ends an episode has the final observation, not the next episode's first
    update once per `update_every` steps taken
    every `evaluate_every` steps: greedy episodes in a separate environment

The loop cannot be saved, because environments cannot be restored in the middle of an episode.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import PAID, AnyAgent, Opaque, OpaqueAgent, check_needs, needs_reward
from adeu.agents.checked_env import CheckedEnv
from adeu.agents.compiling import AgentSteps, VectorSteps, compile_agent, compile_vector, own
from adeu.agents.gym_loop import EVALUATION, TRAINING, check_arguments, evaluate, seed_of
from adeu.agents.player import COINS, SAMPLE, check_converged, check_learned, draws
from adeu.agents.reading import Reader
from adeu.agents.replay_numpy import NumpyReplay, RowLayout
from adeu.behavior import autoreset
from adeu.behavior.tally import Tally
from adeu.core import check
from adeu.core.contract import Decision, Transition
from adeu.core.environments import SingleEnv, VectorOfEnvs


@dataclasses.dataclass
class VectorLoop:
    """Trains an agent in a `gymnasium.vector` environment with any autoreset mode.

    Args:
        agent: an `Agent`; its `capacity` is divided among the environments.
        envs: the training environments.
        evaluation_env: a single environment of the same kind, for greedy episodes.
        steps: training steps, summed over all environments, a multiple of `evaluate_every`.
        seed: the seed of all random numbers.
        warmup: steps before the first update, summed over all environments.
        evaluate_every: steps between evaluations, summed over all environments.
        evaluate_episodes: greedy episodes per evaluation.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import Td3, VectorLoop
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> envs, other = gymnasium.make_vec("Pendulum-v1", num_envs=2), gymnasium.make("Pendulum-v1")
        >>> td3 = Td3(explorer, hidden=(8,))
        >>> loop = VectorLoop(td3, envs, other, 400, warmup=300, evaluate_every=200, evaluate_episodes=1)
        >>> [row["step"] for row in loop.run()]
        [0, 200, 400]
    """

    agent: AnyAgent
    envs: VectorOfEnvs
    evaluation_env: SingleEnv
    steps: int
    seed: int = 0
    warmup: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 10

    def __post_init__(self) -> None:
        check_arguments(self)
        if not hasattr(self.envs, "num_envs"):
            check.refuse(self, "envs", "a vector of environments; GymLoop takes a single one", self.envs)
        spaces = self.envs.single_observation_space, self.envs.single_action_space
        count = check.as_whole(self, "envs.num_envs", self.envs.num_envs)
        self._agent: OpaqueAgent = self.agent.bind(*spaces)
        self.agent = self._agent
        check_needs(self.agent)
        self.agent.explorer.check_environments(count)
        self._reader = Reader(*spaces)
        self._checked = CheckedEnv(self.envs, self._reader, (count,))
        self._tally = Tally(self.agent.explorer)
        self._run: AgentSteps[Opaque, Opaque, Opaque] = compile_agent(self.agent)
        self._all: VectorSteps[Opaque, Opaque] = compile_vector(self.agent, count)
        self._key = jax.random.key_data(jax.random.key(self.seed))
        self._absorbs = "observe" in self.agent.explorer.learns_from
        if self.agent.capacity < count:
            takes = f"at least one row for each of {count} environments"
            check.refuse(self.agent, "capacity", takes, self.agent.capacity)
        size, layout = self.agent.capacity // count, RowLayout.of(self._agent)
        self._replays = [NumpyReplay(size, layout, self._reader.dtype) for _ in range(count)]
        self.step = self.episode = self._moves = self._updates = 0
        self._mode = autoreset.mode_of(self.envs)
        self._obs = self._checked.reset(self._place, seed=seed_of(self.seed, TRAINING, 0))
        self._learned: Opaque = own(self._run.init(self._key, self._obs[0]))
        self._begun, self._resetting, self._explored = (
            np.ones(count, bool),
            np.zeros(count, bool),
            np.zeros(count, bool),
        )
        self._paid = {PAID: np.zeros(count, np.float32)} if needs_reward(self.agent) else {}
        self._carry: Opaque = self._all.begin(self._key, np.int32(0), None, self._begun)

    def run(self) -> list[dict[str, float]]:
        """Trains to the end; returns a row per evaluation, including one before training."""
        rows = [] if self.step else [self._row()]
        while self.step < self.steps:
            before = self.step // self.evaluate_every
            self.advance()
            if self.step // self.evaluate_every > before:
                rows.append(self._row())
        return rows

    def advance(self) -> None:
        """Steps all environments once and makes the updates that are due."""
        early, real = self.step < self.warmup, ~self._resetting
        acting, step = self._agent.acting(self._learned), np.int32(self.step)
        decided, self._carry = self._all.decide(
            self._key, acting, self._carry, self._obs, step, np.bool_(early), real, self._paid
        )
        decision = Decision(*map(np.asarray, decided))
        check_converged(self.agent, f"after step {self.step} an action", decision.action)
        action = self._reader.action(decision.action)
        returned, reward, terminated, truncated, info, cost, _ = self._checked.step(self._place, action)
        ended = terminated | truncated
        last, obs = self._last_and_next(returned, ended, info)
        transitions = Transition(self._obs, self._reader.taken(action), reward, last, terminated, truncated, cost)
        self._moves += 1
        self.step += int(np.count_nonzero(real))
        self.episode += int(np.count_nonzero(ended))
        self._take_in(transitions, decision, np.flatnonzero(real), early)
        explored: NDArray[np.bool_] = decision.explored & real
        switches = np.count_nonzero((explored != (self._explored & ~self._begun))[real])
        self._tally.add(Decision(*(each[real] for each in decision)), float(switches), float(np.count_nonzero(ended)))
        self._explored = explored & ~ended
        self._paid = dict.fromkeys(self._paid, np.where(self._begun, 0.0, reward).astype(np.float32))
        if self._begun.any():
            self._carry = self._all.begin(self._key, np.int32(self._moves), self._carry, self._begun)
        self._obs = obs
        while self._updates < (self.step - self.warmup) // self.agent.cadence.update_every:
            self._learn()

    def exploit(self, obs: NDArray[Any]) -> NDArray[Any]:
        """Returns the greedy action for a single environment."""
        carry: Opaque = jax.tree.map(lambda value: value[0], self._carry)
        given = {name: values[0] for name, values in self._paid.items()}
        return np.asarray(self._run.exploit(self._key, self._agent.acting(self._learned), carry, obs, given))

    def _place(self) -> str:
        return f"after step {self.step} of training"

    def _last_and_next(
        self, obs: NDArray[Any], ended: NDArray[np.bool_], info: Mapping[str, object]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Returns the step's next observations, and those to act on: the first of a new episode if one ended."""
        if self._mode.name == "NEXT_STEP":  # the next step is the reset
            self._begun, self._resetting = self._resetting, ended
            return obs, obs
        self._begun = ended
        try:
            last: NDArray[Any] = autoreset.last_observations(self._mode, obs, ended, info, self._reader.obs)
        except ValueError as error:
            raise self._checked.named("step", self._place, error) from None
        return last, autoreset.first_observations(self._mode, self._reset, obs, ended)

    def _reset(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        return self._checked.reset(self._place, options={"reset_mask": mask})

    def _take_in(self, transitions: Transition, decision: Decision, real: NDArray[np.intp], early: bool) -> None:
        """Stores the rows that enter the replay and lets the explorer learn from each transition."""
        coins = draws(self.seed, self._moves, COINS).random((self.envs.num_envs, self.agent.coins))
        for env in real.tolist():
            one = Transition(*(None if each is None else each[env] for each in transitions))
            row, enters = self._agent.row(
                coins[env] if self.agent.coins else None, one, Decision(*(each[env] for each in decision))
            )
            if enters or early or not len(self._replays[env]):  # an empty replay accepts any row
                self._replays[env].add(row, bool(one.terminated or one.truncated))
            if self._absorbs:
                self._learned = self._run.absorb(self._key, self._learned, one, np.int32(self.step - 1))

    def _learn(self) -> None:
        update_every, updates, target_every = self.agent.cadence
        if target_every and self._updates * update_every % target_every == 0:
            self._learned = own(self._run.sync(self._learned))
        self._updates += 1
        step = self.warmup + self._updates * update_every
        ends = list(itertools.accumulate(map(len, self._replays)))
        places = draws(self.seed, step, SAMPLE).integers(ends[-1], size=updates * self.agent.batch)
        owners = np.searchsorted(ends, places, side="right")
        parts = [
            replay.read(places[owners == env] - (ends[env] - len(replay))) for env, replay in enumerate(self._replays)
        ]
        order, shape = np.argsort(np.argsort(owners, kind="stable")), (updates, self.agent.batch)
        rows, next_obs = (np.concatenate(each)[order].reshape(*shape, -1) for each in zip(*parts, strict=True))
        self._learned = self._run.learn(self._key, self._learned, rows, next_obs, np.int32(step))

    def _row(self) -> dict[str, float]:
        check_learned(self.agent, self._learned)
        first = self.step // self.evaluate_every * self.evaluate_episodes
        seeds = (seed_of(self.seed, EVALUATION, first + number) for number in range(self.evaluate_episodes))
        place = f"in the evaluation after step {self.step}"
        returned = evaluate(self.evaluation_env, self.exploit, self._reader, seeds, place)
        return {"step": self.step, "episode": self.episode, "return": returned} | self._tally.columns()
