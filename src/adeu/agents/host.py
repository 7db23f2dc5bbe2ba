"""Any agent on a Gymnasium environment, where the loop is Python's.

until all steps are taken:
    reset, with the episode's own seed
    until the episode ends:
        the agent acts, the environment steps, the agent learns
        every so often: greedy episodes in an environment of their own

Between two episodes nothing of the environment is left, so a loop that was saved there goes on bit for bit.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.contract import Decision, Normalizer, Transition

Arrays = dict[str, NDArray[np.generic]]
SUMMED = ("uncertainty", "spread", "explored", "switches")
TRAINING, EVALUATION = 0, 1
PREFIX = "agent/"


class HostAgent(Protocol):
    """An agent in one environment. What it draws derives from its seed and the step, and so needs no saving."""

    def begin(self, obs: Any) -> None:
        """An episode begins."""
        ...

    def act(self, step: int) -> Decision:
        """What to do next, in numbers: the action as the environment takes it."""
        ...

    def observe(self, transition: Transition, step: int) -> None:
        """Takes in what came of it, and trains where that is due; `step` counts it."""
        ...

    def exploit(self, obs: Any) -> Any:
        """The greedy action; it changes nothing."""
        ...

    def arrays(self) -> Arrays:
        """Between two episodes, all there is of it."""
        ...

    def restore(self, arrays: Arrays) -> None: ...


@dataclasses.dataclass
class HostLoop:
    """Trains an agent in an environment, an episode at a time.

    Args:
        agent: the agent, untrained.
        env: where it trains.
        evaluation_env: another one of the same kind, for greedy episodes.
        steps: how many to train.
        seed: of the environments' resets.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        traced: the episodes to write down step by step, counted from 1.
        saturation: the agent's g, which adds the column "saturated": the share of the steps that f decided at which g
            was saturated.
        recorded: whether to keep the spread of every step, in `spreads`.
    """

    agent: HostAgent
    env: Any
    evaluation_env: Any
    steps: int
    seed: int
    evaluate_every: int = 1_000
    evaluate_episodes: int = 10
    traced: tuple[int, ...] = ()
    saturation: Normalizer | None = None
    recorded: bool = False

    def __post_init__(self) -> None:
        for argument in ("steps", "evaluate_every", "evaluate_episodes"):
            check.whole(self, argument)
        check.whole(self, "seed", at_least=0, at_most=check.LARGEST_SEED)
        if self.steps % self.evaluate_every:
            check.refuse(self, "steps", f"a multiple of evaluate_every={self.evaluate_every}", self.steps)
        self.step = self.episode = 0
        self._sums = dict.fromkeys((*SUMMED, "episodes", "saturated", "adaptive"), 0.0)
        self.spreads = np.zeros(self.steps if self.recorded else 0, np.float32)

    def advance(self) -> tuple[list[dict[str, float]], Mapping[str, NDArray[np.generic]]]:
        """Plays one episode, cut where the steps end: a row for each evaluation in it, and its trace if asked for."""
        rows, noted = [], list[tuple[Any, ...]]()
        traced, before, ended = self.episode + 1 in self.traced, False, False
        obs = copy.copy(self.env.reset(seed=self._seed(TRAINING, self.episode))[0])
        self._check("reset", obs)
        self.agent.begin(obs)
        while not ended and self.step < self.steps:
            decision = self.agent.act(self.step)
            best = self.agent.exploit(obs) if traced else None
            returned, reward, terminated, truncated, info = self.env.step(decision.action)
            next_obs = copy.copy(returned)  # an environment may write into what it returned
            self._check("step", next_obs, reward)
            if traced:
                noted.append((best, *decision[:4], float(reward)))
            ended = bool(terminated or truncated)
            cost = info.get("cost")
            self.step += 1
            self.agent.observe(
                Transition(obs, decision.action, reward, next_obs, terminated, truncated, cost), self.step
            )
            explored = bool(decision.explored)
            self._add(decision, float(explored != before))
            before, obs = explored, next_obs
            self.episode += ended
            self._sums["episodes"] += ended
            if self.step % self.evaluate_every == 0:
                rows.append(self._row())
        return rows, _columns(noted) if traced else {}

    def arrays(self) -> Arrays:
        """Between two calls of `advance`, all there is."""
        counts = {"step": np.array(self.step), "episode": np.array(self.episode)}
        sums = {name: np.array(value) for name, value in self._sums.items()}
        spreads = {"spreads": self.spreads[: self.step].copy()} if self.recorded else {}
        return counts | sums | spreads | {PREFIX + name: array for name, array in self.agent.arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        self.step, self.episode = int(arrays["step"]), int(arrays["episode"])
        self._sums = {name: float(arrays[name]) for name in self._sums}
        if self.recorded:
            self.spreads[: self.step] = arrays["spreads"]
        self.agent.restore({n.removeprefix(PREFIX): array for n, array in arrays.items() if n.startswith(PREFIX)})

    def _add(self, decision: Decision, switches: float) -> None:
        self._sums["uncertainty"] += float(decision.uncertainty)
        self._sums["spread"] += float(decision.spread)
        self._sums["explored"] += float(decision.explored)
        self._sums["switches"] += switches
        if self.recorded:
            self.spreads[self.step - 1] = decision.spread
        if self.saturation and decision.asked:
            self._sums["adaptive"] += 1.0
            self._sums["saturated"] += float(self.saturation.saturated(decision.spread))

    def _row(self) -> dict[str, float]:
        sums, every = self._sums, self.evaluate_every
        row = {"step": self.step, "episode": self.episode, "return": self._evaluate()}
        row |= {name: sums[name] / every for name in ("uncertainty", "spread", "explored")}
        row["switches"] = sums["switches"] / max(sums["episodes"], 1.0)
        if self.saturation:
            row["saturated"] = sums["saturated"] / max(sums["adaptive"], 1.0)
        self._sums = dict.fromkeys(sums, 0.0)
        return row

    def _evaluate(self) -> float:
        """The mean return of greedy episodes."""
        first = self.step // self.evaluate_every * self.evaluate_episodes
        returns = []
        for number in range(first, first + self.evaluate_episodes):
            place = f"in the evaluation after step {self.step}"
            obs, _ = self.evaluation_env.reset(seed=self._seed(EVALUATION, number))
            self._check("reset", obs, place=place)
            total, ended = 0.0, False
            while not ended:
                obs, reward, terminated, truncated, _ = self.evaluation_env.step(self.agent.exploit(obs))
                self._check("step", obs, reward, place)
                total, ended = total + float(reward), bool(terminated or truncated)
            returns.append(total)
        return float(np.mean(returns))

    def _seed(self, stream: int, number: int) -> int:
        return int(np.random.SeedSequence((self.seed, stream, number)).generate_state(1)[0])

    def _check(self, call: str, obs: Any, reward: Any = 0.0, place: str = "") -> None:
        for name, value in (("observation", obs), ("reward", reward)):
            if not np.isfinite(value).all():
                place = place or f"at step {self.step + 1} of training, in episode {self.episode + 1}"
                raise ValueError(f"{self.env}: {call}() returned the {name} {value} {place}; it takes finite numbers")


def _columns(noted: list[tuple[Any, ...]]) -> dict[str, NDArray[np.generic]]:
    """One entry per step; an action of several numbers has a column for each."""
    best, action, *rest = (np.array(column) for column in zip(*noted, strict=True))
    columns = dict(zip(("explored", "uncertainty", "spread", "reward"), rest, strict=True))
    for name, values in (("best", best), ("action", action)):
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}_{place}": column for place, column in enumerate(values.reshape(len(values), -1).T)}
    return columns
