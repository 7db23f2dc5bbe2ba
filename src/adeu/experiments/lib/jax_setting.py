"""An agent in an environment in JAX, trained by a compiled loop, as data."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from adeu.agents.agent import Agent, AnyAgent
from adeu.agents.jax_loop import JaxLoop
from adeu.agents.tracing import QUARTERS
from adeu.core import check
from adeu.envs import (
    JaxCartPole,
    JaxContinuousLake,
    JaxDeepSea,
    JaxMountainCar,
    JaxMountainCarContinuous,
    JaxPendulum,
    JaxPointMaze,
    JaxSwingUp,
    Sea,
)
from adeu.experiments.lib.training_setting import controlled
from adeu.runs.trainers.jax_trainer import JaxTrainer
from adeu.runs.trainers.trainer import Arrays

TASKS: dict[str, tuple[Any, float]] = {
    "CartPole-v1": (JaxCartPole(), 475.0),
    "MountainCar-v0": (JaxMountainCar(), -110.0),
    "MountainCar-v0, sparse": (JaxMountainCar(sparse=True), 0.95),
    "MountainCarContinuous-v0": (JaxMountainCarContinuous(), 90.0),
    "Pendulum-v1": (JaxPendulum(), -200.0),
    "SparsePendulum": (JaxPendulum(sparse=True), 100.0),
    "SwingUp": (JaxSwingUp(), 125.0),
    "PointMaze": (JaxPointMaze(), 50.0),
    "ContinuousLake": (JaxContinuousLake(), 10.4),
    "ContinuousLake, another per seed": (lambda seed: JaxContinuousLake(directions_seed=seed), 10.4),
    "DeepSea-30": (JaxDeepSea(Sea(30), one_hot=True), 0.5),
}
"""Each task, or a function that returns it for a run's seed, with the mean return that solves it: Gymnasium's
threshold; -200 for Pendulum-v1, which has none; 95 of 100 episodes for the sparse MountainCar; else half an episode
at the goal, the whole path, or half the treasure."""


@dataclasses.dataclass(frozen=True)
class JaxSetting:
    """An agent and the settings of its compiled training loop.

    Args:
        env: a deep sea, or the name of one of `TASKS`.
        agent: the agent.
        steps: the maximal number of training steps.
        warmup: steps before the first update.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes per evaluation.
        enough: the run ends after this many solved evaluations in a row; 0 to train to the end.
        source: makes this run a control of the source case's run with the same seed; f must be `Recorded`.
        control: how the source's spreads are used, "mean" or "shuffled"; see `TrainingSetting`.
        recorded: whether the run stores the spread of every step, for controls.
        traced_at: fractions of training at which an episode is recorded step by step; see `JaxTrainer`.
    """

    env: Sea | str
    agent: AnyAgent
    steps: int
    warmup: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 1
    enough: int = 1
    source: str = ""
    control: Literal["mean", "shuffled"] = "mean"
    recorded: bool = False
    traced_at: tuple[float, ...] = QUARTERS

    def __post_init__(self) -> None:
        check.instance(self, "agent", Agent)
        check.one_of(self, "control", ("mean", "shuffled"))
        if not isinstance(self.env, Sea) and self.env not in TASKS:
            check.refuse(self, "env", f"a Sea or {' or '.join(map(repr, TASKS))}", self.env)

    def trainer(self, seed: int, kept: Arrays | None = None) -> JaxTrainer:
        env: Any
        if isinstance(self.env, Sea):
            env, goal = JaxDeepSea(self.env), self.env.treasure / 2
        else:
            env, goal = TASKS[self.env]
            env = env(seed) if callable(env) else env
        loop = JaxLoop(
            self.agent,
            env,
            warmup=self.warmup,
            evaluate_every=self.evaluate_every,
            evaluate_episodes=self.evaluate_episodes,
            given=("recorded",) if self.source else (),
        )
        given: Arrays = {}
        if kept is not None:
            given = {"recorded": controlled(self, seed, kept)}
        return JaxTrainer(loop, seed, self.steps, goal, self.enough, given, self.recorded, self.traced_at)
