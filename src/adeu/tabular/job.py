"""A training run as data: arrays and NamedTuples, which a worker process runs without JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.kernels import LoopSettings


class Job(NamedTuple):
    """A training as arrays and NamedTuples, which can be pickled. `TableAgent.job` makes it."""

    model: Any
    learner: Any
    f: Any
    g: Any
    D: Any
    guard: Any
    settings: LoopSettings
    visits: NDArray[np.int64]
    seed: int


class Result(NamedTuple):
    """The result of a training: what was learned, and the metrics of each episode."""

    q: NDArray[np.float64]
    """(S, A): of an ensemble, the mean; -inf where an action is not allowed."""
    visits: NDArray[np.int64]
    """(S,)."""
    steps: NDArray[np.int64]
    """(episodes,)."""
    violations: NDArray[np.int64]
    """(episodes,): steps that cost something."""
    explored: NDArray[np.int64]
    """(episodes,): steps that explored."""
    switches: NDArray[np.int64]
    """(episodes,): how often an episode switched between exploiting, with which it starts, and exploring."""
    uncertainty: NDArray[np.float64]
    """(episodes,): f(s), averaged over the steps."""
    spread: NDArray[np.float64]
    """(episodes,): g(f(s)), averaged over the steps."""
    evaluated: NDArray[np.int64]
    """(evaluations,): how many episodes were done."""
    returns: NDArray[np.float64]
    """(evaluations,): the undiscounted return of a greedy episode."""

    def first_solved(self, at_least: float) -> int | None:
        """How many episodes were done when a greedy one first reached this return; None: never.

        In a stochastic model this may be by chance.
        """
        solved = self.returns >= at_least
        return int(self.evaluated[solved.argmax()]) if solved.any() else None
