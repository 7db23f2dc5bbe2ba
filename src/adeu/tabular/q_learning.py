"""Q-learning that explores by a ~ D(pi(s), g(f(s))), at native speed."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.contract import Part
from adeu.core.explorer import Explorer
from adeu.tabular.learner_forms import ConstantStepForm, EnsembleForm, SingleForm, VisitStepForm
from adeu.tabular.table_agent import TableAgent


@dataclasses.dataclass(frozen=True)
class Learners(Part):
    """Several Q tables with different initial values that learn from different steps.

    Args:
        size: the number of tables.
        mask_probability: the share of steps from which each table learns, in (0, 1].
        start: the standard deviation of the initial values.
        ucb: lambda; the preferences of behaviour are Q_mean + lambda * Q_std. Evaluation uses Q_mean.

    Reference: Chen et al., "UCB Exploration via Q-Ensembles", 2017.
    """

    size: int = 5
    mask_probability: float = 0.5
    start: float = 1.0
    ucb: float = 0.0

    def __post_init__(self) -> None:
        check.whole(self, "size")
        check.number(self, "mask_probability", above=0, at_most=1)
        check.number(self, "start", at_least=0)
        check.number(self, "ucb", at_least=0)


@dataclasses.dataclass(frozen=True)
class QLearning(TableAgent):
    """Q-learning over a finite MDP.

        Q(s, a) <- Q(s, a) + alpha * (r + gamma * max_a' Q(s', a') - Q(s, a)),  a ~ D(Q(s, .), g(f(s)))

    Args:
        explorer: f, g, D and optionally a guard, all with a tabular form.
        alpha: the step size, in (0, 1], or "1/n", one over the number of times (s, a) was tried.
        gamma: the discount, in [0, 1].
        intrinsic: beta of an intrinsic reward beta/sqrt(n(s')) for reaching s'.
        learners: several Q tables instead of one.
        q: the tables' initial value.

    Examples:
        >>> import adeu
        >>> from adeu import tabular
        >>> from adeu.envs import Lake, lake_mdp
        >>> model = tabular.from_mdp(lake_mdp(Lake(size=10)))
        >>> agent = tabular.QLearning(adeu.Explorer(adeu.Counts(), adeu.ShiftedSigmoid(2.0), adeu.Categorical()))
        >>> agent.train(model, episodes=300, max_steps=30, seed=0).first_solved(1e5)
        100

    Reference: Watkins and Dayan, "Q-Learning", 1992.
    Paper: the motivating example.
    """

    explorer: Explorer
    alpha: float | Literal["1/n"] = 1.0
    gamma: float = 0.99
    intrinsic: float = 0.0
    learners: Learners | None = None
    q: float = 0.0

    def __post_init__(self) -> None:
        check.instance(self, "explorer", Explorer)
        if isinstance(self.alpha, str):
            if self.alpha != "1/n":
                check.refuse(self, "alpha", "a number in (0, 1] or '1/n'", self.alpha)
        else:
            check.number(self, "alpha", above=0, at_most=1)
        check.number(self, "gamma", at_least=0, at_most=1)
        check.number(self, "intrinsic", at_least=0)
        if self.learners is not None:
            check.instance(self, "learners", Learners)
        check.number(self, "q")

    def lower_learner(self, q: NDArray[np.float64], seed: int) -> SingleForm | EnsembleForm:
        steps = VisitStepForm(np.zeros(q.shape, np.int64)) if self.alpha == "1/n" else ConstantStepForm(self.alpha)
        if self.learners is None:
            return SingleForm(q[:, None].copy(), steps)
        apart = np.random.default_rng(seed).standard_normal((len(q), self.learners.size, q.shape[1]))
        first = q[:, None] + self.learners.start * apart
        return EnsembleForm(first, steps, self.learners.mask_probability, self.learners.ucb)
