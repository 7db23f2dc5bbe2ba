"""One training as data: arrays and NamedTuples, which a worker process runs without JAX."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.cache import compiled
from adeu.tabular.kernels import Record, Settings, train
from adeu.tabular.stream import streams


class Job(NamedTuple):
    model: Any
    learner: Any
    f: Any
    g: Any
    D: Any
    guard: Any
    settings: Settings
    visits: NDArray[np.int64]
    seed: int


class Result(NamedTuple):
    """What was learned, and how it went."""

    q: NDArray[np.float64]
    """(S, A): of an ensemble, the mean; -inf where an action is not allowed."""
    visits: NDArray[np.int64]
    """(S,)."""
    steps: NDArray[np.int64]
    """(episodes,)."""
    violations: NDArray[np.int64]
    """(episodes,): steps that cost something."""
    evaluated: NDArray[np.int64]
    """(evaluations,): how many episodes were over."""
    returns: NDArray[np.float64]
    """(evaluations,): the undiscounted return of a greedy episode."""

    def first_solved(self, at_least: float) -> int | None:
        """How many episodes were over when a greedy one first returned so much; None: it never did."""
        solved = self.returns >= at_least
        return int(self.evaluated[solved.argmax()]) if solved.any() else None


def arguments(job: Job) -> tuple[Any, ...]:
    """What `train` takes: fresh copies of all that it writes to."""
    fresh = copy.deepcopy(job)
    episodes, every = job.settings.episodes, job.settings.evaluate_every
    counts = np.zeros((2, episodes), np.int64)
    record = Record(fresh.visits, counts[0], counts[1], np.zeros(episodes // every))
    center, scratch = np.zeros((2, job.model.num_actions))
    return job.model, *fresh[1:6], job.settings, record, center, scratch, *streams(job.seed, 2)


def run(job: Job) -> Result:
    """The same job gives the same result, in whichever process."""
    given = arguments(job)
    compiled(train, *given)(*given)
    return result(job, given)


def result(job: Job, given: tuple[Any, ...]) -> Result:
    """What stands in the arguments after `train`."""
    learner, record = given[1], given[7]
    q = learner.q.mean(axis=1)
    if hasattr(job.model.mask, "table"):
        q[~job.model.mask.table] = -np.inf
    every = job.settings.evaluate_every
    evaluated = every * np.arange(1, len(record.returns) + 1)
    return Result(q, record.visits, record.steps, record.violations, evaluated, record.returns)
