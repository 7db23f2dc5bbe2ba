"""An agent in a Gymnasium environment, as data."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import warnings
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import Agent, AnyAgent
from adeu.agents.gym_loop import GymLoop
from adeu.agents.hosting import agent_hosts, unsaved_hosts
from adeu.agents.tracing import QUARTERS
from adeu.core import check
from adeu.experiments.lib.composition import written
from adeu.experiments.lib.experiment import read
from adeu.experiments.lib.gym_env import goal_of, make_env
from adeu.registry import describe
from adeu.runs.folder import stored_whole
from adeu.runs.trainers.gym_trainer import GymTrainer
from adeu.runs.trainers.trainer import Arrays

WINDOW = 1_000
"""A control's spreads are shuffled within windows of this many steps."""


@dataclasses.dataclass(frozen=True)
class TrainingSetting:
    """An agent and the settings of its training in a Gymnasium environment.

    Args:
        env: the environment's registered name.
        agent: the agent.
        steps: the number of training steps.
        warmup: steps before the first update, during which TD3 and SAC act at random.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes per evaluation.
        source: makes this run a control of the source case's run with the same seed: f gets `recorded` spreads, and
            rollout episodes are drawn independently.
        control: how the spreads that f decided in the source are used. "mean": every step has the mean of those after
            the warm-up; "shuffled": each step has a random one from the same 1,000 steps.
        traced: the episodes to record step by step, counted from 1.
        overlap: whether the environment steps while the networks train; see `adeu.agents.GymLoop`.
        single_every: training episodes between two single greedy episodes, whose returns are stored; 0 for none.
        traced_at: further episodes to record, as fractions of training; see `adeu.agents.GymLoop`.
    """

    env: str
    agent: AnyAgent
    steps: int = 100_000
    warmup: int = 25_000
    evaluate_every: int = 5_000
    evaluate_episodes: int = 10
    source: str = ""
    control: Literal["mean", "shuffled"] = "mean"
    traced: tuple[int, ...] = ()
    overlap: bool = False
    single_every: int = 0
    traced_at: tuple[float, ...] = QUARTERS

    def __post_init__(self) -> None:
        check.instance(self, "agent", Agent)
        check.one_of(self, "control", ("mean", "shuffled"))

    def trainer(self, seed: int, kept: Arrays | None = None) -> GymTrainer:
        if self.warmup >= self.steps:
            warnings.warn(
                f"nothing will be learned: the warm-up of {self.warmup:,} steps covers all {self.steps:,} steps; "
                "shorten it with --set warmup=...",
                stacklevel=2,
            )
        for host in unsaved_hosts(self.agent):
            warnings.warn(
                f"the state of {written(describe(host.learn))} is not saved: an interrupted run restarts from its "
                "first step; to save it, give adeu.from_host(..., state=...)",
                stacklevel=2,
            )
        recorded = None if kept is None else controlled(self, seed, kept)
        # Reject settings that do not fit before a worker starts.
        loop = self._build(seed, np.zeros(self.steps, np.float32) if self.source else None)
        build, alone = functools.partial(self._build, seed, recorded), bool(agent_hosts(self.agent))
        return GymTrainer(build, self.steps, goal_of(loop.env), alone)

    def _build(self, seed: int, recorded: NDArray[np.float32] | None) -> GymLoop:
        return GymLoop(
            self.agent,
            make_env(self.env),
            make_env(self.env),
            steps=self.steps,
            seed=seed,
            warmup=self.warmup,
            evaluate_every=self.evaluate_every,
            evaluate_episodes=self.evaluate_episodes,
            traced=self.traced,
            traced_at=self.traced_at,
            given={} if recorded is None else {"recorded": recorded},
            overlap=self.overlap,
            recorded=not self.source,
            single_every=self.single_every,
            stream=int(bool(self.source)),
        )


class Controlled(Protocol):
    """A setting that may be a control."""

    @property
    def steps(self) -> int: ...

    @property
    def warmup(self) -> int: ...

    @property
    def control(self) -> str: ...


def controlled(setting: Controlled, seed: int, kept: Arrays) -> NDArray[np.float32]:
    """Return the spread of each step of a control, from the spreads that f decided in the source run.

    Rollout episodes of the source are left out, because the control draws its own. A window in which f decided no
    spread uses the nearest earlier window with some, or else the first later one.
    """
    if "asked" not in kept:
        check.refuse(
            "a control", "its source", "a run that recorded where f decided the spread; delete it to run it again", ""
        )
    spreads, asked = np.asarray(kept["spread"], np.float32), np.asarray(kept["asked"], bool)
    if len(spreads) != setting.steps:
        check.refuse("a control", "its source", f"a run of {setting.steps:,} steps", f"{len(spreads):,}")
    trained = np.arange(setting.steps) >= setting.warmup
    if not (asked & trained).any():
        check.refuse("a control", "its source", "a run in which f decided a spread after the warm-up", "none")
    if setting.control == "mean":
        return np.full_like(spreads, spreads[asked & trained].mean(dtype=np.float64))
    rng, windows = np.random.default_rng(seed), _windows(setting)
    found = [spreads[window][asked[window]] for window in windows]
    known = [number for number, values in enumerate(found) if values.size]
    shuffled = np.empty_like(spreads)
    for number, window in enumerate(windows):
        nearest = max((each for each in known if each <= number), default=known[0])
        shuffled[window] = np.resize(rng.permutation(found[nearest]), window.stop - window.start)
    return shuffled


def _windows(setting: Controlled) -> list[slice]:
    """Return windows of 1,000 steps; none spans the end of the warm-up."""
    ends = min(setting.warmup, setting.steps), setting.steps
    starts = (range(0, ends[0], WINDOW), range(ends[0], ends[1], WINDOW))
    return [slice(at, min(at + WINDOW, end)) for start, end in zip(starts, ends, strict=True) for at in start]


def read_run(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's metrics and, in `trained`, which rows lie after the warm-up."""
    columns = read(folder)
    return columns | {"trained": columns["step"] > stored_whole(folder, "warmup")}
