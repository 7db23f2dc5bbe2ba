"""Tabular Q-learning in a Gymnasium environment, as data."""

from __future__ import annotations

import dataclasses

import adeu
from adeu.agents.tracing import QUARTERS, check_fractions
from adeu.experiments.lib.gym_env import goal_of, make_env, max_steps_of
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.tabular import QLearning


@dataclasses.dataclass(frozen=True)
class TableSetting:
    """Tabular Q-learning in a Gymnasium environment that has a transition table.

    Args:
        env: the environment's registered name.
        agent: the agent.
        episodes: the number of training episodes.
        evaluate_every: training episodes between two greedy ones.
        traced_at: fractions of training at which an episode is recorded step by step.
    """

    env: str
    agent: QLearning
    episodes: int = 20_000
    evaluate_every: int = 100
    traced_at: tuple[float, ...] = QUARTERS

    def __post_init__(self) -> None:
        check_fractions(self, "traced_at", self.traced_at)

    def trainer(self, seed: int) -> TabularTrainer:
        env = make_env(self.env)
        job = self.agent.job(
            adeu.tabular.from_gymnasium(env),
            episodes=self.episodes,
            max_steps=max_steps_of(env),
            seed=seed,
            evaluate_every=self.evaluate_every,
        )
        traced = tuple(max(1, round(fraction * self.episodes)) for fraction in self.traced_at)
        return TabularTrainer(job, goal_of(env), traced)
