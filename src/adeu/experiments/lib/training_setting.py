"""An agent in a Gymnasium environment, as data."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import Agent, AnyAgent
from adeu.agents.gym_loop import GymLoop
from adeu.core import check
from adeu.experiments.lib.experiment import read
from adeu.experiments.lib.gym_env import goal_of, make_env
from adeu.runs.folder import SPEC, read_json
from adeu.runs.trainers.gym_trainer import GymTrainer
from adeu.runs.trainers.trainer import Arrays

WINDOW = 1_000
"""Steps within which a control's spreads are shuffled."""


@dataclasses.dataclass(frozen=True)
class TrainingSetting:
    """What a loop in Gymnasium needs beside its agent.

    Args:
        env: the environment's registered name.
        agent: the agent.
        steps: how many to train.
        warmup: steps before the first update; TD3 and SAC act at random there.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        source: the case whose run of the same seed this one is a control of; f is then `Recorded`.
        control: of the source's spreads after the warm-up, "mean": each step has their mean; "shuffled": each has
            another's, from the same 1,000 steps.
        traced: the episodes to write down step by step, counted from 1.
        overlap: whether the environment steps while the networks train; see `adeu.agents.GymLoop`.
        single_every: training episodes between two single greedy episodes, whose returns the run keeps; 0: none.
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
        recorded = None if kept is None else controlled(self, seed, np.asarray(kept["spread"], np.float32))
        # Rejects what does not fit, before a worker starts.
        loop = self._build(seed, np.zeros(self.steps, np.float32) if self.source else None)
        return GymTrainer(functools.partial(self._build, seed, recorded), self.steps, goal_of(loop.env))

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
            given={} if recorded is None else {"recorded": recorded},
            overlap=self.overlap,
            recorded=not self.source,
            single_every=self.single_every,
        )


def controlled(setting: TrainingSetting, seed: int, spreads: NDArray[np.float32]) -> NDArray[np.float32]:
    """The spread of each step of a control, from those of the run it is a control of."""
    if len(spreads) != setting.steps:
        check.refuse("a control", "its source", f"a run of {setting.steps:,} steps", f"{len(spreads):,}")
    after = spreads[setting.warmup :]
    if setting.control == "mean":
        return np.full_like(spreads, after.mean(dtype=np.float64) if after.size else 0.0)
    rng, shuffled = np.random.default_rng(seed), spreads.copy()
    for first in range(setting.warmup, len(spreads), WINDOW):
        shuffled[first : first + WINDOW] = rng.permutation(shuffled[first : first + WINDOW])
    return shuffled


def read_run(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """A run's metrics, and which of its rows lie after the warm-up."""
    columns, spec = read(folder), read_json(folder / SPEC)
    return columns | {"trained": columns["step"] > spec["setting"]["warmup"]}
