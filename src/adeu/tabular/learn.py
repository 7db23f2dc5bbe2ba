"""Q-learning that explores by a ~ D(pi(s), g(f(s))), at native speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.core import check
from adeu.core.explorer import Explorer
from adeu.tabular.arrays import as_array
from adeu.tabular.job import Job, Result
from adeu.tabular.kernels import Settings
from adeu.tabular.learners import ConstantStep, Ensemble, Single, VisitStep
from adeu.tabular.lower import lower_explorer
from adeu.tabular.model import Model
from adeu.tabular.training import run


class Learners(NamedTuple):
    """Several Q tables that start apart and learn from different steps.

    Args:
        size: how many.
        mask_probability: the share of the steps that each learns from, in (0, 1].
        start: the standard deviation of their first values.
        ucb: lambda; behaviour prefers Q_mean + lambda * Q_std. Evaluation goes by Q_mean.

    Reference: Chen et al., "UCB Exploration via Q-Ensembles", 2017.
    """

    size: int = 5
    mask_probability: float = 0.5
    start: float = 1.0
    ucb: float = 0.0


def q_learning(
    model: Model,
    explorer: Explorer,
    *,
    episodes: int,
    max_steps: int,
    seed: int,
    alpha: float | str = 1.0,
    gamma: float = 0.99,
    evaluate_every: int = 100,
    intrinsic: float = 0.0,
    learners: Learners | None = None,
    q: ArrayLike = 0.0,
    visits: ArrayLike = 0,
) -> Result:
    """Trains on a model.

        Q(s, a) <- Q(s, a) + alpha * (r + gamma * max_a' Q(s', a') - Q(s, a)),  a ~ D(Q(s, .), g(f(s)))

    Args:
        model: what `from_mdp`, `from_gymnasium`, `from_arrays` or `from_table` made.
        explorer: f, g, D and perhaps a guard, all of them with a tabular form.
        episodes: how many to train, >= 1.
        max_steps: after so many steps an episode is truncated.
        seed: of all random numbers; the same seed gives the same result.
        alpha: the step size, in (0, 1], or "1/n", one over how often (s, a) was tried.
        gamma: the discount, in [0, 1].
        evaluate_every: after so many episodes there is a greedy one, which trains nothing and disturbs nothing.
        intrinsic: beta of an intrinsic reward beta/sqrt(n(s')) for coming to s'.
        learners: several Q tables in place of one.
        q: where the tables start, a number or one per (s, a).
        visits: how often the states were visited before, a number or one per state.

    Examples:
        >>> import adeu
        >>> from adeu.envs import Lake, lake_mdp
        >>> model = adeu.tabular.from_mdp(lake_mdp(Lake(size=10)))
        >>> explorer = adeu.Explorer(adeu.Counts(model.num_states), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
        >>> result = adeu.tabular.q_learning(model, explorer, episodes=300, max_steps=30, seed=0)
        >>> result.first_solved(1e5)
        100

    Reference: Watkins and Dayan, "Q-Learning", 1992.
    Paper: the motivating example.
    """
    return run(make_job(**locals()))


def make_job(
    model: Model,
    explorer: Explorer,
    *,
    episodes: int,
    max_steps: int,
    seed: int,
    alpha: float | str = 1.0,
    gamma: float = 0.99,
    evaluate_every: int = 100,
    intrinsic: float = 0.0,
    learners: Learners | None = None,
    q: ArrayLike = 0.0,
    visits: ArrayLike = 0,
) -> Job:
    """What `q_learning` would run, checked and lowered: `run(job)` runs it, in any process and without JAX."""
    me = "q_learning"
    settings = Settings(
        check.as_whole(me, "episodes", episodes),
        check.as_whole(me, "max_steps", max_steps),
        check.as_number(me, "gamma", gamma, at_least=0, at_most=1),
        check.as_number(me, "intrinsic", intrinsic, at_least=0),
        check.as_whole(me, "evaluate_every", evaluate_every),
    )
    seed = check.as_whole(me, "seed", seed, at_least=0)
    size = (model.num_states, model.num_actions)
    steps: ConstantStep | VisitStep
    if alpha == "1/n":
        steps = VisitStep(np.zeros(size, np.int64))
    elif isinstance(alpha, str):
        check.refuse(me, "alpha", "a number in (0, 1] or '1/n'", alpha)
    else:
        steps = ConstantStep(check.as_number(me, "alpha", alpha, above=0, at_most=1))
    counted = as_array(me, "visits", visits, size[:1], np.int64)
    if (counted < 0).any():
        check.refuse(me, "visits", "whole numbers >= 0", counted.min())
    first = as_array(me, "q", q, size, np.float64)
    learner = _learner(first, steps, learners, seed)
    return Job(model, learner, *lower_explorer(explorer, model), settings, counted, seed)


def _learner(
    q: NDArray[np.float64], steps: ConstantStep | VisitStep, learners: Learners | None, seed: int
) -> Single | Ensemble:
    if learners is None:
        return Single(q[:, None].copy(), steps)
    count = check.as_whole("Learners", "size", learners.size)
    mask = check.as_number("Learners", "mask_probability", learners.mask_probability, above=0, at_most=1)
    start = check.as_number("Learners", "start", learners.start, at_least=0)
    ucb = check.as_number("Learners", "ucb", learners.ucb, at_least=0)
    apart = np.random.default_rng(seed).standard_normal((len(q), count, q.shape[1]))
    return Ensemble(q[:, None] + start * apart, steps, mask, ucb)
