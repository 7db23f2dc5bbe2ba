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
"""Steps within which a control's spreads are shuffled."""


@dataclasses.dataclass(frozen=True)
class TrainingSetting:
    """The settings of a loop in Gymnasium and its agent.

    Args:
        env: the environment's registered name.
        agent: the agent.
        steps: how many to train.
        warmup: steps before the first update; TD3 and SAC act at random there.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        source: the case whose run of the same seed this one is a control of; its f gets `recorded` spreads, and its
            episodes have their own rollout coins.
        control: of the source's spreads in steps in which f was asked, "mean": each step has the mean of those after
            the warm-up; "shuffled": each has one of those of the same 1,000 steps, at random.
        traced: the episodes to record step by step, counted from 1.
        overlap: whether the environment steps while the networks train; see `adeu.agents.GymLoop`.
        single_every: training episodes between two single greedy episodes, whose returns the run keeps; 0: none.
        traced_at: further episodes to write down, by fractions of training; see `adeu.agents.GymLoop`.
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
                f"nothing will be learned: all of the {self.steps:,} steps belong to the warm-up of {self.warmup:,}; "
                "--set warmup=... shortens it",
                stacklevel=2,
            )
        for host in unsaved_hosts(self.agent):
            warnings.warn(
                f"what {written(describe(host.learn))} learns is not saved: an interrupted run starts again from its "
                "first step; adeu.from_host(..., state=...) saves it",
                stacklevel=2,
            )
        recorded = None if kept is None else controlled(self, seed, kept)
        # Rejects what does not fit, before a worker starts.
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
    """A setting whose runs may be controls."""

    @property
    def steps(self) -> int: ...

    @property
    def warmup(self) -> int: ...

    @property
    def control(self) -> str: ...


def controlled(setting: Controlled, seed: int, kept: Arrays) -> NDArray[np.float32]:
    """The spread of each step of a control, from those that f decided in the run it is a control of.

    Rollout episodes are left out: the control has its own. A window in which f decided no spread uses the spreads of
    the nearest earlier window that has some, or else of the nearest later one.
    """
    if "asked" not in kept:
        check.refuse("a control", "its source", "a run that recorded when f was asked; delete it to run it again", "")
    spreads, asked = np.asarray(kept["spread"], np.float32), np.asarray(kept["asked"], bool)
    if len(spreads) != setting.steps:
        check.refuse("a control", "its source", f"a run of {setting.steps:,} steps", f"{len(spreads):,}")
    trained = np.arange(setting.steps) >= setting.warmup
    if not (asked & trained).any():
        check.refuse("a control", "its source", "a run in which f was asked after the random start", "none")
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
    """Windows of 1,000 steps; none spans the end of the warm-up."""
    ends = min(setting.warmup, setting.steps), setting.steps
    starts = (range(0, ends[0], WINDOW), range(ends[0], ends[1], WINDOW))
    return [slice(at, min(at + WINDOW, end)) for start, end in zip(starts, ends, strict=True) for at in start]


def read_run(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """A run's metrics, and which of its rows lie after the warm-up."""
    columns = read(folder)
    return columns | {"trained": columns["step"] > stored_whole(folder, "warmup")}
