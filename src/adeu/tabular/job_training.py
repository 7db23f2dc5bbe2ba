"""Trains a job in pieces, with saving, resuming and tracing."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.tabular.cache import compile_kernel
from adeu.tabular.job import Job, Result
from adeu.tabular.kernels import LoopSettings, Record, train
from adeu.tabular.stream import Stream, streams
from adeu.tabular.trace import NoTrace, Trace, TraceRows

PIECE = 2**22
"""The maximal number of steps per kernel call in `run`: below a second, because Ctrl-C takes effect between calls."""


class KernelArguments(NamedTuple):
    """The arguments of `kernels.train`, except the episodes to train and the trace."""

    model: Any
    learner: Any
    f: Any
    g: Any
    D: Any
    guard: Any
    settings: LoopSettings
    record: Record
    rng: Stream
    evaluation_rng: Stream


WRITTEN = ("learner", "f", "g", "D", "record", "rng", "evaluation_rng")
"""The arguments that training modifies."""


class Training:
    """A job in training. Splitting it into pieces or across processes gives bitwise the same result.

    Args:
        job: built by an agent's `job`; it is not modified.

    Examples:
        >>> import adeu
        >>> from adeu import tabular
        >>> model = tabular.from_arrays([[0, 1], [0, 1]], [[0, 0], [0, 1]], [[False, False], [False, True]])
        >>> explorer = adeu.Explorer(adeu.Counts(), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
        >>> job = tabular.QLearning(explorer).job(model, episodes=30, max_steps=9, seed=0)
        >>> training = tabular.Training(job)
        >>> training.advance(10)
        >>> later = tabular.Training(job)
        >>> later.restore(training.arrays())
        >>> later.episode, later.steps == training.steps
        (10, True)
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.episode = 0
        """The number of episodes trained so far."""
        self.arguments = prepare(job)
        """The arguments of the kernel, some of which it modifies."""

    @property
    def steps(self) -> int:
        """The number of environment steps so far."""
        return int(self.arguments.record.steps[: self.episode].sum())

    @property
    def left(self) -> int:
        """The number of remaining episodes."""
        return self.job.settings.episodes - self.episode

    def advance(self, episodes: int) -> None:
        """Train this many more episodes, or all remaining ones."""
        last = self.episode + min(check.as_whole(self, "episodes", episodes, at_least=0), self.left)
        self._kernel(*self.arguments, self.episode, last, NoTrace())
        self.episode = last

    def trace(self) -> Trace:
        """Train one more episode in Python, with the same result as `advance(1)`, and return its trace."""
        if self.left == 0:
            raise ValueError(f"Training: all {self.episode} episodes are done")
        rows = TraceRows([], [])
        with np.errstate(all="ignore"):  # as in compiled code
            train(*self.arguments, self.episode, self.episode + 1, rows)
        self.episode += 1
        return rows.trace()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays that training modifies, by name, for `restore` and `np.savez`."""
        return {"episode": np.array(self.episode), **{name: array.copy() for name, array in self._arrays()}}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the `arrays()` of another training of the same job."""
        given = {name: np.asarray(arrays[name]) for name in arrays}
        own = {"episode": np.array(self.episode), **dict(self._arrays())}
        if own.keys() != given.keys():
            name = min(own.keys() ^ given.keys())
            raise ValueError(f"Training: {name} is {'missing' if name in own else 'not of this job'}")
        for name, array in own.items():
            takes, got = (f"{each.dtype} of shape {each.shape}" for each in (array, given[name]))
            if takes != got:
                check.refuse(self, name, takes, got)
        episode = int(given["episode"])
        if not 0 <= episode <= self.job.settings.episodes:
            check.refuse(self, "episode", f"0 .. {self.job.settings.episodes}", episode)
        for name, array in self._arrays():
            array[...] = given[name]
        self.episode = episode

    def result(self) -> Result:
        """Return the learned values so far, and the metrics of each episode."""
        learner, record = self.arguments.learner, self.arguments.record
        q = learner.q.mean(axis=1)
        if hasattr(self.job.model.mask, "table"):
            q[~self.job.model.mask.table] = -np.inf
        every = self.job.settings.evaluate_every
        evaluations = self.episode // every
        return Result(
            q,
            record.visits.copy(),
            record.steps[: self.episode].copy(),
            record.violations[: self.episode].copy(),
            record.explored[: self.episode].copy(),
            record.switches[: self.episode].copy(),
            record.uncertainty[: self.episode] / record.steps[: self.episode],
            record.spread[: self.episode] / record.steps[: self.episode],
            every * np.arange(1, evaluations + 1),
            record.returns[:evaluations].copy(),
        )

    @functools.cached_property
    def _kernel(self) -> Any:
        return compile_kernel(train, *self.arguments, NoTrace())

    def _arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        for name in WRITTEN:
            yield from _named(name, getattr(self.arguments, name))


def prepare(job: Job) -> KernelArguments:
    """Return the kernel's arguments before the first episode, with copies of all arrays that training modifies."""
    episodes, every = job.settings.episodes, job.settings.evaluate_every
    steps, violations, explored, switches = np.zeros((4, episodes), np.int64)
    uncertainty, spread = np.zeros((2, episodes))
    returns = np.zeros(episodes // every)
    record = Record(job.visits.copy(), steps, violations, explored, switches, uncertainty, spread, returns)
    parts = copy.deepcopy((job.learner, job.f, job.g, job.D, job.guard))
    return KernelArguments(job.model, *parts, job.settings, record, *streams(job.seed, 2))


def run(job: Job) -> Result:
    """Run a job to the end; the result is the same in any process."""
    training = Training(job)
    while training.left:
        training.advance(max(1, PIECE // job.settings.max_steps))
    return training.result()


def _named(name: str, value: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield all arrays in a value, by name."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, tuple):
        for field, item in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            yield from _named(f"{name}.{field}", item)
