"""What the experiments on frozen lakes have in common: their settings, and the shared cases."""

from __future__ import annotations

import dataclasses

import numpy as np

import adeu
from adeu.core.contract import Distribution, Mechanism, Normalizer
from adeu.envs import Lake, Mdp, lake_mdp
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.tabular import Learners


@dataclasses.dataclass(frozen=True)
class LakeSetting:
    """Tabular Q-learning on a frozen lake.

    Args:
        f: the uncertainty.
        g: the normaliser.
        D: the distribution.
        lake: the environment.
        episodes: how many to train.
        evaluate_every: episodes between two greedy ones.
        alpha: the step size, or "1/n".
        gamma: the discount.
        q: where the table starts.
        intrinsic: beta of an intrinsic reward beta/sqrt(n(s')).
        learners: several tables in place of one.
        mentor_q: what a mentor taught of the actions that enter an unsafe cell: their first value; None: nothing.
        mentor_visits: how often the mentor visited the cells next to an unsafe one.
        traced: the episodes to write down step by step, counted from 1.
    """

    f: Mechanism
    g: Normalizer
    D: Distribution
    lake: Lake = Lake()  # noqa: RUF009
    episodes: int = 30_000
    evaluate_every: int = 100
    alpha: float | str = 1.0
    gamma: float = 0.99
    q: float = 0.0
    intrinsic: float = 0.0
    learners: Learners | None = None
    mentor_q: float | None = None
    mentor_visits: int = 0
    traced: tuple[int, ...] = ()

    def trainer(self, seed: int) -> TabularTrainer:
        mdp = lake_mdp(self.lake)
        q, visits = self._lessons(mdp)
        job = adeu.tabular.make_job(
            adeu.tabular.from_mdp(mdp),
            adeu.Explorer(self.f, self.g, self.D),
            episodes=self.episodes,
            max_steps=self.lake.max_steps,
            seed=seed,
            alpha=self.alpha,
            gamma=self.gamma,
            evaluate_every=self.evaluate_every,
            intrinsic=self.intrinsic,
            learners=self.learners,
            q=q,
            visits=visits,
        )
        _, goal = self.lake.rewards
        return TabularTrainer(job, goal, self.traced)

    def _lessons(self, mdp: Mdp) -> tuple[np.ndarray, np.ndarray]:
        """Values and visits before the first episode."""
        unsafe = mdp.cost > 0
        q = np.full(mdp.reward.shape, float(self.q))
        if self.mentor_q is not None:
            q[unsafe] = self.mentor_q
        return q, np.where(unsafe.any(axis=1), self.mentor_visits, 0)


def adeu_counts(beta: float = 0.9, shift: float = 2.0) -> LakeSetting:
    """ADEU: softmax of sigmoid(beta * sqrt(n(s)) - shift) * Q(s, .)."""
    return LakeSetting(adeu.Counts(beta=beta), adeu.ShiftedSigmoid(shift), adeu.Categorical())


def epsilon_greedy(epsilon: float = 0.01) -> LakeSetting:
    return LakeSetting(adeu.Constant(epsilon), adeu.Identity(), adeu.Bernoulli())


def intrinsic_motivation(beta: float = 0.9) -> LakeSetting:
    return dataclasses.replace(epsilon_greedy(), intrinsic=beta)


def ucb(lam: float = 10.0, mask_probability: float = 0.5, alpha: float = 1.0) -> LakeSetting:
    learners = Learners(size=5, mask_probability=mask_probability, start=1.0, ucb=lam)
    return dataclasses.replace(epsilon_greedy(0.0), learners=learners, alpha=alpha)
