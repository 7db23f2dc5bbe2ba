"""Settings and cases shared by the experiments on frozen lakes."""

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
        episodes: the number of training episodes.
        evaluate_every: training episodes between two greedy ones.
        mentor_q: a mentor's initial value of actions that enter an unsafe cell; None for no mentor.
        mentor_visits: the initial visit count of the cells next to an unsafe one.
        traced: the episodes to record step by step, as fractions of training: 0.5 is halfway, 1.0 the last.
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
            check.refuse(self, "traced", "fractions of training, above 0 and at most 1", self.traced)

    def adopt(self, stored: dict[str, Json]) -> dict[str, Json]:
        """Replace the episode numbers that earlier versions stored in `traced`; tracing does not change results."""
        traced = stored.get("traced")
        numbered = isinstance(traced, list) and any(type(each) is int for each in traced)
        return stored | {"traced": list(self.traced)} if numbered else stored

    def trainer(self, seed: int) -> TabularTrainer:
        mdp = lake_mdp(self.lake)
        q, visits = self._initial(mdp)
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

    def _initial(self, mdp: Mdp) -> tuple[np.ndarray, np.ndarray]:
        """Return the initial values and visit counts."""
        unsafe = mdp.cost > 0
        q = np.full(mdp.reward.shape, self.agent.q)
        if self.mentor_q is not None:
            q[unsafe] = self.mentor_q
        return q, np.where(unsafe.any(axis=1), self.mentor_visits, 0)


def adaptive(f: Mechanism, shift: float = 2.0) -> LakeSetting:
    """Return the setting of ADEU: softmax of sigmoid(1/f(s) - shift) * Q(s, .)."""
    return LakeSetting(QLearning(adeu.Explorer(f, adeu.ShiftedSigmoid(shift), adeu.Categorical())))


def adeu_counts(beta: float = 0.9, shift: float = 2.0) -> LakeSetting:
    """Return the setting of ADEU with counts: 1/f(s) = beta * sqrt(n(s))."""
    return adaptive(adeu.Counts(beta=beta), shift)


def epsilon_greedy(epsilon: float = 0.01, **agent: Any) -> LakeSetting:
    """Return the setting of epsilon-greedy; `agent` has further fields of the agent."""
    return LakeSetting(QLearning(adeu.Explorer(adeu.Constant(epsilon), adeu.Identity(), adeu.Bernoulli()), **agent))


def intrinsic_motivation(beta: float = 0.9, epsilon: float = 0.01) -> LakeSetting:
    """Return the setting with a bonus of beta/sqrt(n(s')). In the paper's text it acts greedily (epsilon=0)."""
    return epsilon_greedy(epsilon, intrinsic=beta)


def ucb(lam: float = 10.0, mask_probability: float = 0.5, alpha: float = 1.0) -> LakeSetting:
    learners = Learners(size=5, mask_probability=mask_probability, start=1.0, ucb=lam)
    return epsilon_greedy(0.0, learners=learners, alpha=alpha)
