"""What the experiments on frozen lakes have in common: their settings, and the shared cases."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import adeu
from adeu.core import check
from adeu.core.contract import Mechanism
from adeu.core.json_data import Json
from adeu.envs import Lake, Mdp, lake_mdp
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.tabular import Learners, QLearning


@dataclasses.dataclass(frozen=True)
class LakeSetting:
    """Tabular Q-learning on a frozen lake.

    Args:
        agent: the agent.
        lake: the environment.
        episodes: how many to train.
        evaluate_every: episodes between two greedy ones.
        mentor_q: a mentor's initial value for actions that enter an unsafe cell; None: no mentor.
        mentor_visits: how often the mentor visited the cells next to an unsafe one.
        traced: the episodes to record step by step, each by its place in training: 0.5 is halfway, 1.0 the last.
    """

    agent: QLearning
    lake: Lake = Lake()  # noqa: RUF009
    episodes: int = 30_000
    evaluate_every: int = 100
    mentor_q: float | None = None
    mentor_visits: int = 0
    traced: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not all(0 < place <= 1 for place in self.traced):
            check.refuse(self, "traced", "places in training, above 0 and at most 1", self.traced)

    def adopt(self, stored: dict[str, Json]) -> dict[str, Json]:
        """A stored setting in today's form: traced episodes used to go by their numbers; they change no figure."""
        traced = stored.get("traced")
        numbered = isinstance(traced, list) and any(type(each) is int for each in traced)
        return stored | {"traced": list(self.traced)} if numbered else stored

    def trainer(self, seed: int) -> TabularTrainer:
        mdp = lake_mdp(self.lake)
        q, visits = self._lessons(mdp)
        job = self.agent.job(
            adeu.tabular.from_mdp(mdp),
            episodes=self.episodes,
            max_steps=self.lake.max_steps,
            seed=seed,
            evaluate_every=self.evaluate_every,
            q=q,
            visits=visits,
        )
        _, goal = self.lake.rewards
        return TabularTrainer(job, goal, tuple(max(1, round(place * self.episodes)) for place in self.traced))

    def _lessons(self, mdp: Mdp) -> tuple[np.ndarray, np.ndarray]:
        """Values and visits before the first episode."""
        unsafe = mdp.cost > 0
        q = np.full(mdp.reward.shape, self.agent.q)
        if self.mentor_q is not None:
            q[unsafe] = self.mentor_q
        return q, np.where(unsafe.any(axis=1), self.mentor_visits, 0)


def adaptive(f: Mechanism, shift: float = 2.0) -> LakeSetting:
    """ADEU: softmax of sigmoid(1/f(s) - shift) * Q(s, .)."""
    return LakeSetting(QLearning(adeu.Explorer(f, adeu.ShiftedSigmoid(shift), adeu.Categorical())))


def adeu_counts(beta: float = 0.9, shift: float = 2.0) -> LakeSetting:
    """ADEU by visits: 1/f(s) = beta * sqrt(n(s))."""
    return adaptive(adeu.Counts(beta=beta), shift)


def epsilon_greedy(epsilon: float = 0.01, **agent: Any) -> LakeSetting:
    """Epsilon-greedy, with further fields of the agent."""
    return LakeSetting(QLearning(adeu.Explorer(adeu.Constant(epsilon), adeu.Identity(), adeu.Bernoulli()), **agent))


def intrinsic_motivation(beta: float = 0.9, epsilon: float = 0.01) -> LakeSetting:
    """A bonus of beta/sqrt(n(s')). The paper's text says that it acts greedily, which is an epsilon of 0."""
    return epsilon_greedy(epsilon, intrinsic=beta)


def ucb(lam: float = 10.0, mask_probability: float = 0.5, alpha: float = 1.0) -> LakeSetting:
    learners = Learners(size=5, mask_probability=mask_probability, start=1.0, ucb=lam)
    return epsilon_greedy(0.0, learners=learners, alpha=alpha)
