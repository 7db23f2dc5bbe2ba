"""Any agent in a Gymnasium environment, where the loop is Python's.

until all steps are taken:
    reset, with the episode's own seed
    until the episode ends:
        the agent decides, the environment steps, the agent learns
        every `evaluate_every` steps, and before the first: greedy episodes in an environment of their own

A loop is saved between two episodes, when nothing of the environment is left, and so resumes with the same bits.
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
from adeu.behavior.tally import Tally
from adeu.core import check
from adeu.core.contract import Transition
from adeu.core.environments import SingleEnv

TRAINING, EVALUATION, SINGLE = 0, 1, 2
"""Streams of the environments' seeds."""
PLAYER, TALLY = "player/", "tally/"


@dataclasses.dataclass
class GymLoop:
    """Trains an agent in an environment, an episode at a time.

    Args:
        agent: an `Agent`, such as a `Dqn`, a `Td3` or a `Sac`.
        env: where it trains.
        evaluation_env: another one of the same kind, for greedy episodes.
        steps: how many to train, a multiple of `evaluate_every`.
        seed: of everything that is drawn.
        warmup: steps before the first update; TD3 and SAC act at random there.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        traced: the episodes to write down step by step, counted from 1.
        given: arrays with an entry per step, which f gets by their names.
        overlap: whether the environment steps while the networks train, with decisions by those of the update before
            (an episode begins with the newest). For several threads; not the algorithm to the letter.
        recorded: whether to keep the spread of every step, in `spreads`, and whether f was asked, in `asked`.
        single_every: training episodes between two single greedy episodes, kept in `singles`; 0: none.
        stream: which random numbers episodes begin with, such as the coins of rollout episodes: 0 or 1, so that two
            runs of one seed can have their own.

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
    given: Mapping[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    overlap: bool = False
    recorded: bool = False
    single_every: int = 0
    stream: int = 0

    def __post_init__(self) -> None:
        check_arguments(self)
        check.whole(self, "single_every", at_least=0)
        check.whole(self, "stream", at_least=0, at_most=1)
        if hasattr(self.env, "num_envs"):
            check.refuse(self, "env", "a single environment; VectorLoop takes a vector", self.env)
        spaces = self.env.observation_space, self.env.action_space
        self.agent = self.agent.bind(*spaces)
        check_needs(self.agent, frozenset(self.given).union(host.name for host in agent_hosts(self.agent)))
        self._reader = Reader(*spaces)
        self._tally = Tally(self.agent.explorer)
        self.step = self.episode = 0
        kept = self.steps if self.recorded else 0
        self.spreads, self.asked = np.zeros(kept, np.float32), np.zeros(kept, bool)
        self.singles: list[tuple[int, int, float]] = []
        """Of each single greedy episode: the training episodes and steps before it, and its return."""

    @functools.cached_property
    def _player(self) -> Player[Opaque, Opaque, Opaque, Opaque]:
        """Made when it is first needed: it compiles and takes memory."""
        return Player(self.agent, self._reader, self.seed, self.warmup, self.overlap, self.stream)

    def advance(self) -> tuple[list[dict[str, float]], Mapping[str, NDArray[np.generic]]]:
        """Plays one episode, cut where the steps end: a row for each evaluation in it, and its trace if asked for."""
        player, reader, rows, noted = self._player, self._reader, [], list[tuple[object, ...]]()
        traced, before, ended = self.episode + 1 in self.traced, False, False
        env = CheckedEnv(self.env, reader)
        obs = env.reset(self._place, seed=seed_of(self.seed, TRAINING, self.episode))
        player.begin(obs)
        if self.step == 0:
            rows.append(self._row())
            self._play_single()
        while not ended and self.step < self.steps:
            decision = player.act(self.step, {name: values[self.step] for name, values in self.given.items()})
            action = reader.action(decision.action)
            best = reader.action(self._exploit(obs)) if traced else None
            next_obs, reward, terminated, truncated, _, cost, _ = env.step(self._place, action)
            if traced:
                noted.append((best, action, *decision[1:4], float(reward)))
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
        return rows, _columns(noted) if traced else {}

    def arrays(self) -> Arrays:
        """Between two calls of `advance`, everything that changes; nothing where a part learns what is not saved."""
        if unsaved_hosts(self.agent):
            return {}
        counts = {"step": np.array(self.step), "episode": np.array(self.episode)}
        recorded = {"spreads": self.spreads, "asked": self.asked} if self.recorded else {}
        spreads = {name: array[: self.step].copy() for name, array in recorded.items()}
        tally = {TALLY + name: array for name, array in self._tally.arrays().items()}
        counts["singles"] = np.array(self.singles, float).reshape(-1, 3)
        return counts | spreads | tally | {PLAYER + name: array for name, array in self._player.arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        """Continues from what `arrays` returned."""
        self.step, self.episode = int(arrays["step"]), int(arrays["episode"])
        self.singles = [(int(episode), int(step), float(value)) for episode, step, value in arrays["singles"]]
        if self.recorded:
            self.spreads[: self.step], self.asked[: self.step] = arrays["spreads"], arrays["asked"]
        self._tally.restore({n.removeprefix(TALLY): a for n, a in arrays.items() if n.startswith(TALLY)})
        self._player.restore({n.removeprefix(PLAYER): a for n, a in arrays.items() if n.startswith(PLAYER)})

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
    """What the loops in Gymnasium have in common."""

    steps: int
    evaluate_every: int


def check_arguments(loop: GymnasiumLoop) -> None:
    """Checks the agent and the numbers that every loop in Gymnasium takes."""
    check.instance(loop, "agent", Agent)
    for argument in ("steps", "evaluate_every", "evaluate_episodes"):
        check.whole(loop, argument)
    check.whole(loop, "warmup", at_least=0)
    check.whole(loop, "seed", at_least=0, at_most=check.LARGEST_SEED)
    if loop.steps % loop.evaluate_every:
        check.refuse(loop, "steps", f"a multiple of evaluate_every={loop.evaluate_every}", loop.steps)


def seed_of(seed: int, stream: int, number: int) -> int:
    """The seed of an environment's reset."""
    return int(np.random.SeedSequence((seed, stream, number)).generate_state(1)[0])


def evaluate(
    env: SingleEnv, exploit: Callable[[NDArray[Any]], NDArray[Any]], reader: Reader, seeds: Iterable[int], place: str
) -> float:
    """The mean return of greedy episodes, one per seed."""
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


def _columns(noted: list[tuple[object, ...]]) -> dict[str, NDArray[np.generic]]:
    """One entry per step; an action of several numbers has a column for each."""
    best, action, *rest = (np.array(column) for column in zip(*noted, strict=True))
    columns = dict(zip(("explored", "uncertainty", "spread", "reward"), rest, strict=True))
    for name, values in (("best", best), ("action", action)):
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}_{place}": column for place, column in enumerate(values.reshape(len(values), -1).T)}
    return columns
