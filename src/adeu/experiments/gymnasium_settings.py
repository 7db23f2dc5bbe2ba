"""Training in a Gymnasium environment, as data: a setting for each agent that `adeu train` knows."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import adeu
from adeu.agents.host import HostLoop
from adeu.core.contract import Distribution, Mechanism, Normalizer
from adeu.experiments.from_setting import agent_of
from adeu.runs.host import HostTrainer
from adeu.runs.tabular import TabularTrainer
from adeu.tabular import QLearning

ENDLESS = 1_000
"""After so many steps an episode is truncated, where the environment has no limit of its own."""


def make_env(name: str) -> Any:
    """A Gymnasium environment by its registered name, refused by a clear word; its episodes have an end."""
    import gymnasium

    try:
        env = gymnasium.make(name)
        if env.spec is not None and env.spec.max_episode_steps is None:
            env = gymnasium.make(name, max_episode_steps=ENDLESS)
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        raise ValueError(f"env takes a registered name, got {name!r}: {error}") from None
    return env


def goal_of(env: Any) -> float:
    """The return that has solved it; infinite where nobody said."""
    threshold = env.spec.reward_threshold if env.spec else None
    return float("inf") if threshold is None else float(threshold)


@dataclasses.dataclass(frozen=True)
class TableSetting:
    """Tabular Q-learning in a Gymnasium environment that has a transition table.

    Args:
        env: its registered name.
        agent: who learns.
        episodes: how many to train.
        evaluate_every: episodes between two greedy ones.
    """

    env: str
    agent: QLearning
    episodes: int = 20_000
    evaluate_every: int = 100

    def trainer(self, seed: int) -> TabularTrainer:
        env = make_env(self.env)
        job = self.agent.job(
            adeu.tabular.from_gymnasium(env),
            episodes=self.episodes,
            max_steps=env.spec.max_episode_steps,
            seed=seed,
            evaluate_every=self.evaluate_every,
        )
        return TabularTrainer(job, goal_of(env))


@dataclasses.dataclass(frozen=True)
class DqnSetting:
    """DQN in a Gymnasium environment with Discrete actions.

    Args:
        env: its registered name.
        f: the uncertainty.
        g: the normaliser.
        D: the distribution.
        steps: how many to train.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        traced: the episodes to write down step by step, counted from 1.

    The others are those of `adeu.agents.Dqn`.
    """

    env: str
    f: Mechanism
    g: Normalizer
    D: Distribution
    steps: int = 50_000
    evaluate_every: int = 1_000
    evaluate_episodes: int = 5
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    gamma: float = 0.99
    capacity: int = 50_000
    batch: int = 64
    update_every: int = 1
    target_every: int = 200
    warmup: int = 500
    double: bool = True
    ensemble: int = 1
    traced: tuple[int, ...] = (10, 100)

    def trainer(self, seed: int) -> HostTrainer:
        from adeu.agents.dqn import bound

        env = make_env(self.env)
        bound(self._agent(), env.observation_space, env.action_space)
        self._loop(None, env, seed)  # refuses what does not fit, before a worker starts
        return HostTrainer(functools.partial(self._build, seed), self.steps, goal_of(env))

    def _agent(self) -> Any:
        from adeu.agents import Dqn

        return agent_of(Dqn, self, evaluate_every=self.target_every)  # HostLoop evaluates

    def _build(self, seed: int) -> HostLoop:
        from adeu.agents import DqnAgent

        env = make_env(self.env)
        return self._loop(DqnAgent(self._agent(), env, seed), env, seed)

    def _loop(self, agent: Any, env: Any, seed: int) -> HostLoop:
        return HostLoop(
            agent,
            env,
            make_env(self.env),
            steps=self.steps,
            seed=seed,
            evaluate_every=self.evaluate_every,
            evaluate_episodes=self.evaluate_episodes,
            traced=self.traced,
        )
