"""An agent whose loop is compiled with its environment, as data."""

from __future__ import annotations

import dataclasses
from typing import Any

from adeu.agents.agent import Agent, AnyAgent
from adeu.agents.jax_loop import JaxLoop
from adeu.core import check
from adeu.envs import JaxCartPole, JaxDeepSea, JaxMountainCar, Sea
from adeu.runs.trainers.jax_trainer import JaxTrainer

TASKS: dict[str, tuple[Any, float]] = {
    "CartPole-v1": (JaxCartPole(), 475.0),
    "MountainCar-v0": (JaxMountainCar(), -110.0),
    "MountainCar-v0, sparse": (JaxMountainCar(sparse=True), 0.95),
}
"""Each with the mean return that solves it: Gymnasium's own threshold; where only the hill pays, 95 of 100."""


@dataclasses.dataclass(frozen=True)
class JaxSetting:
    """What a compiled loop needs beside its agent.

    Args:
        env: a deep sea, or one of `TASKS`.
        agent: the agent.
        steps: how many to train at most.
        warmup: steps before the first update.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        enough: after so many evaluations in a row that solved the task, the run ends.
    """

    env: Sea | str
    agent: AnyAgent
    steps: int
    warmup: int = 0
    evaluate_every: int = 1_000
    evaluate_episodes: int = 1
    enough: int = 1

    def __post_init__(self) -> None:
        check.instance(self, "agent", Agent)
        if not isinstance(self.env, Sea) and self.env not in TASKS:
            check.refuse(self, "env", f"a Sea or {' or '.join(map(repr, TASKS))}", self.env)

    def trainer(self, seed: int) -> JaxTrainer:
        env: Any
        if isinstance(self.env, Sea):
            env, goal = JaxDeepSea(self.env), self.env.treasure / 2
        else:
            env, goal = TASKS[self.env]
        loop = JaxLoop(
            self.agent,
            env,
            warmup=self.warmup,
            evaluate_every=self.evaluate_every,
            evaluate_episodes=self.evaluate_episodes,
        )
        return JaxTrainer(loop, seed, self.steps, goal, self.enough)
