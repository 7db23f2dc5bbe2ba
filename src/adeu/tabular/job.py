"""A training job and its result: arrays and NamedTuples, which a worker process can use without JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.kernels import LoopSettings


class Job(NamedTuple):
    """A training job as arrays and NamedTuples, which can be pickled; built by `TableAgent.job`."""

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
    """The result of training: the learned values, and the metrics of each episode."""

    q: NDArray[np.float64]
    """(S, A): the values, averaged over an ensemble; -inf for actions that are not allowed."""
    visits: NDArray[np.int64]
    """(S,): the visit counts."""
    steps: NDArray[np.int64]
    """(episodes,): the length of each episode."""
    violations: NDArray[np.int64]
    """(episodes,): steps with a cost."""
    explored: NDArray[np.int64]
    """(episodes,): steps that explored."""
    switches: NDArray[np.int64]
    """(episodes,): switches between exploiting and exploring; an episode starts exploiting."""
    uncertainty: NDArray[np.float64]
    """(episodes,): f(s), averaged over the steps."""
    spread: NDArray[np.float64]
    """(episodes,): g(f(s)), averaged over the steps."""
    evaluated: NDArray[np.int64]
    """(evaluations,): the number of episodes trained before each evaluation."""
    returns: NDArray[np.float64]
    """(evaluations,): the undiscounted return of a greedy episode."""

    def first_solved(self, at_least: float) -> int | None:
        """Return the number of episodes trained before a greedy one first reached this return, or None.

        In a stochastic model this may happen by chance.
        """
        solved = self.returns >= at_least
        return int(self.evaluated[solved.argmax()]) if solved.any() else None
