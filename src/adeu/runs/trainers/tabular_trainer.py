"""Trains tabular Q-learning as a run."""

from __future__ import annotations

import dataclasses
import functools
import math

from adeu.core import check
from adeu.runs.trainers.trainer import Arrays, Piece, Row
from adeu.tabular.expected import expected_return
from adeu.tabular.job import Job
from adeu.tabular.job_training import Training
from adeu.tabular.model import Stochastic

SUMMED = ("steps", "violations", "explored", "switches", "uncertainty", "spread")


@dataclasses.dataclass
class TabularTrainer:
    """Trains a job, one evaluation at a time, and traces single episodes.

    Args:
        job: the job to train.
        goal: the return of a greedy episode that solves the task. In a stochastic table, where a single episode may
            be lucky, it is compared with the expected return of the greedy policy instead.
        traced: the numbers of the episodes to trace, counted from 1.
    """

    job: Job
    goal: float
    traced: tuple[int, ...] = ()
    unit = "episodes"

    def __post_init__(self) -> None:
        every = self.job.settings.evaluate_every
        if self.total < every:
            check.refuse("training", "episodes", f"at least evaluate_every={every}", self.total)

    @functools.cached_property
    def _training(self) -> Training:
        return Training(self.job)

    @property
    def total(self) -> int:
        return self.job.settings.episodes

    @property
    def most_steps(self) -> int:
        return self.total * self.job.settings.max_steps

    @property
    def done(self) -> int:
        return self._training.episode

    @property
    def steps(self) -> int:
        return self._training.steps

    def advance(self) -> Piece:
        first, every = self.done, self.job.settings.evaluate_every
        last = min(first - first % every + every, self.total)
        traces = {}
        for episode in sorted(set(self.traced)):
            if first < episode <= last:
                self._training.advance(episode - 1 - self.done)
                traces[f"episode-{episode}"] = self._training.trace()._asdict()
        self._training.advance(last - self.done)
        return Piece([self._row(first)] if last % every == 0 else [], traces)

    def _row(self, first: int) -> Row:
        record, episodes = self._training.arguments.record, self.done - first
        returned = record.returns[self.done // self.job.settings.evaluate_every - 1]
        sums: dict[str, float] = {name: getattr(record, name)[first : self.done].sum().item() for name in SUMMED}
        steps = sums["steps"]
        return {
            "step": self.steps,
            "episode": self.done,
            "return": float(returned),
            "solved": int(self._expected(float(returned)) >= self.goal),
            "violations": sums["violations"] / episodes,
            "uncertainty": sums["uncertainty"] / steps,
            "spread": sums["spread"] / steps,
            "explored": sums["explored"] / steps,
            "switches": sums["switches"] / episodes,
        }

    def _expected(self, returned: float) -> float:
        """Returns the return to compare with the goal: `returned`, or the expected one in a stochastic table."""
        job = self.job
        if not isinstance(job.model, Stochastic) or self.goal == math.inf:
            return returned
        return expected_return(job.model, self._training.result().q, job.settings.max_steps, job.guard)

    def arrays(self) -> Arrays:
        return self._training.arrays()

    def restore(self, arrays: Arrays) -> None:
        self._training.restore(arrays)
