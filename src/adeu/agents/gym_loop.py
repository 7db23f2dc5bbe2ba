"""Trains any agent in a Gymnasium environment, with a loop in Python.

until all steps are taken:
    reset, with a seed for this episode
    until the episode ends:
        the agent decides, the environment steps, the agent learns
        every `evaluate_every` steps, and before the first: greedy episodes in a separate environment

A loop is saved between two episodes, so that no environment state needs saving, and resumes bit for bit.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import Agent, AnyAgent, Opaque, check_needs
from adeu.agents.checked_env import CheckedEnv
from adeu.agents.hosting import agent_hosts, unsaved_hosts
from adeu.agents.player import Arrays, Player
from adeu.agents.reading import Reader
from adeu.agents.tracing import Columns, EpisodeTrace, check_fractions, reached
from adeu.behavior.tally import Tally
from adeu.core import check
from adeu.core.contract import Transition
from adeu.core.environments import SingleEnv

TRAINING, EVALUATION, SINGLE = 0, 1, 2
"""Streams of the environments' seeds."""
PLAYER, TALLY = "player/", "tally/"


@dataclasses.dataclass
class GymLoop:
    """Trains an agent in an environment, one episode at a time.

    Args:
        agent: an `Agent`, such as a `Dqn`, a `Td3` or a `Sac`.
        env: the training environment.
        evaluation_env: another environment of the same kind, for greedy episodes.
        steps: training steps, a multiple of `evaluate_every`.
        seed: the seed of all random numbers.
        warmup: steps before the first update; TD3 and SAC act at random during the warm-up.
        evaluate_every: steps between evaluations.
        evaluate_episodes: greedy episodes per evaluation.
        traced: the numbers of the episodes to record step by step, counted from 1.
        traced_at: fractions of `steps`; for each, the first episode that begins at or after it is recorded too, up to
            25,000 numbers; 1 records the last complete episode.
        given: arrays with an entry per step, passed to f by name.
        overlap: whether the environment steps while the networks train. Decisions then use the networks before the
            latest update, except at the start of an episode. Needs several threads; deviates slightly from the
            algorithm.
        recorded: whether to store the spread of every step in `spreads`, and whether f decided it in `asked`.
        single_every: training episodes between single greedy episodes, stored in `singles`; 0 disables them.
        stream: 0 or 1, selects the random numbers drawn at the start of episodes, such as the coins of rollout
            episodes, so that two runs of one seed can differ in them.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.agents import GymLoop, Td3
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> env, other = gymnasium.make("Pendulum-v1"), gymnasium.make("Pendulum-v1")
        >>> td3 = Td3(explorer, hidden=(8,))
        >>> loop = GymLoop(td3, env, other, 200, seed=0, warmup=100, evaluate_every=200, evaluate_episodes=1)
        >>> rows, _ = loop.advance()
        >>> [row["step"] for row in rows], rows[1]["explored"]
        ([0, 200], 1.0)
    """

    agent: AnyAgent
    env: SingleEnv
    evaluation_env: SingleEnv
    steps: int
    seed: int
    warmup: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 10
    traced: tuple[int, ...] = ()
    traced_at: tuple[float, ...] = ()
    given: Mapping[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    overlap: bool = False
    recorded: bool = False
    single_every: int = 0
    stream: int = 0

    def __post_init__(self) -> None:
        check_arguments(self)
        check.whole(self, "single_every", at_least=0)
        check.whole(self, "stream", at_least=0, at_most=1)
        check_fractions(self, "traced_at", self.traced_at)
        if hasattr(self.env, "num_envs"):
            check.refuse(self, "env", "a single environment; VectorLoop takes a vector", self.env)
        spaces = self.env.observation_space, self.env.action_space
        self.agent = self.agent.bind(*spaces)
        check_needs(self.agent, frozenset(self.given).union(host.name for host in agent_hosts(self.agent)))
        self._reader = Reader(*spaces)
        self._tally = Tally(self.agent.explorer)
        self.step = self.episode = 0
        self._begun = -1
        """The step at which the last episode began."""
        kept = self.steps if self.recorded else 0
        self.spreads, self.asked = np.zeros(kept, np.float32), np.zeros(kept, bool)
        self.singles: list[tuple[int, int, float]] = []
        """For each single greedy episode: the number of training episodes and steps before it, and its return."""

    @functools.cached_property
    def _player(self) -> Player[Opaque, Opaque, Opaque, Opaque]:
        """Created on first use, because it compiles and takes memory."""
        return Player(self.agent, self._reader, self.seed, self.warmup, self.overlap, self.stream)

    def advance(self) -> tuple[list[dict[str, float]], dict[str, Columns]]:
        """Plays one episode, or until `steps` is reached; returns a row per evaluation, and the traces by name."""
        player, reader, rows = self._player, self._reader, []
        trace, before, ended = self._trace(), False, False
        env = CheckedEnv(self.env, reader)
        obs = env.reset(self._place, seed=seed_of(self.seed, TRAINING, self.episode))
        player.begin(obs)
        if self.step == 0:
            rows.append(self._row())
            self._play_single()
        while not ended and self.step < self.steps:
            decision = player.act(self.step, {name: values[self.step] for name, values in self.given.items()})
            action = reader.action(decision.action)
            best = reader.action(self._exploit(obs)) if trace.open else None
            next_obs, reward, terminated, truncated, _, cost, _ = env.step(self._place, action)
            if trace.open:
                trace.add(self.step, best, decision, action, float(reward))
            ended = bool(terminated or truncated)
            self.step += 1
            transition = Transition(obs, reader.taken(action), reward, next_obs, terminated, truncated, cost)
            player.observe(transition, decision, self.step)
            if self.recorded:
                self.spreads[self.step - 1], self.asked[self.step - 1] = decision.spread, decision.asked
            explored = bool(decision.explored)
            self._tally.add(decision, float(explored != before), float(ended))
            before, obs = explored, next_obs
            self.episode += ended
            if ended:
                self._play_single()
            if self.step % self.evaluate_every == 0:
                rows.append(self._row())
        return rows, trace.named(ended)

    def arrays(self) -> Arrays:
        """Returns the state between two calls of `advance`; empty if a part has state that cannot be saved."""
        if unsaved_hosts(self.agent):
            return {}
        counts = {"step": np.array(self.step), "episode": np.array(self.episode), "begun": np.array(self._begun)}
        recorded = {"spreads": self.spreads, "asked": self.asked} if self.recorded else {}
        spreads = {name: array[: self.step].copy() for name, array in recorded.items()}
        tally = {TALLY + name: array for name, array in self._tally.arrays().items()}
        counts["singles"] = np.array(self.singles, float).reshape(-1, 3)
        return counts | spreads | tally | {PLAYER + name: array for name, array in self._player.arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        """Restores a state returned by `arrays`."""
        self.step, self.episode = int(arrays["step"]), int(arrays["episode"])
        self._begun = int(arrays.get("begun", arrays["step"]))
        self.singles = [(int(episode), int(step), float(value)) for episode, step, value in arrays["singles"]]
        if self.recorded:
            self.spreads[: self.step], self.asked[: self.step] = arrays["spreads"], arrays["asked"]
        self._tally.restore({n.removeprefix(TALLY): a for n, a in arrays.items() if n.startswith(TALLY)})
        self._player.restore({n.removeprefix(PLAYER): a for n, a in arrays.items() if n.startswith(PLAYER)})

    def _trace(self) -> EpisodeTrace:
        """Returns the trace of the episode that begins now.

        The episode counts as the last if two episodes as long as the previous one would not fit into the steps left.
        """
        begun, self._begun = self._begun, self.step
        fractions = reached(sorted(self.traced_at), begun, self.step, self.steps)
        if 1 in self.traced_at and begun >= 0 and self.step + 2 * (self.step - begun) > self.steps:
            fractions.append(1.0)
        number = self.episode + 1
        return EpisodeTrace(number * (number in self.traced), fractions, self.env.action_space.shape or ())

    def _place(self) -> str:
        return f"at step {self.step + 1} of training, in episode {self.episode + 1}"

    def _exploit(self, obs: NDArray[Any]) -> NDArray[Any]:
        return self._player.exploit(obs, dict.fromkeys(self.given, 0.0))

    def _row(self) -> dict[str, float]:
        self._player.check_converged()
        first = self.step // self.evaluate_every * self.evaluate_episodes
        seeds = (seed_of(self.seed, EVALUATION, first + number) for number in range(self.evaluate_episodes))
        place = f"in the evaluation after step {self.step}"
        returned = evaluate(self.evaluation_env, self._exploit, self._reader, seeds, place)
        row = {"step": self.step, "episode": self.episode, "return": returned}
        return row | self._tally.columns() | self._player.figures()

    def _play_single(self) -> None:
        if self.single_every and self.episode % self.single_every == 0:
            seeds = [seed_of(self.seed, SINGLE, self.episode)]
            place = f"in a greedy episode after step {self.step}"
            returned = evaluate(self.evaluation_env, self._exploit, self._reader, seeds, place)
            self.singles.append((self.episode, self.step, returned))


class GymnasiumLoop(Protocol):
    """The fields that the Gymnasium loops share."""

    steps: int
    evaluate_every: int


def check_arguments(loop: GymnasiumLoop) -> None:
    """Checks the agent and the numbers that every Gymnasium loop takes."""
    check.instance(loop, "agent", Agent)
    for argument in ("steps", "evaluate_every", "evaluate_episodes"):
        check.whole(loop, argument)
    check.whole(loop, "warmup", at_least=0)
    check.whole(loop, "seed", at_least=0, at_most=check.LARGEST_SEED)
    if loop.steps % loop.evaluate_every:
        check.refuse(loop, "steps", f"a multiple of evaluate_every={loop.evaluate_every}", loop.steps)


def seed_of(seed: int, stream: int, number: int) -> int:
    """Returns the seed for an environment's reset."""
    return int(np.random.SeedSequence((seed, stream, number)).generate_state(1)[0])


def evaluate(
    env: SingleEnv, exploit: Callable[[NDArray[Any]], NDArray[Any]], reader: Reader, seeds: Iterable[int], place: str
) -> float:
    """Plays greedy episodes, one per seed, and returns their mean return."""
    checked, returns = CheckedEnv(env, reader), []
    for seed in seeds:
        obs = checked.reset(lambda: place, seed=seed)
        total, ended = 0.0, False
        while not ended:
            step = checked.step(lambda: place, reader.action(exploit(obs)))
            obs = step.obs
            total, ended = total + float(step.paid), bool(step.terminated or step.truncated)
        returns.append(total)
    return float(np.mean(returns))
