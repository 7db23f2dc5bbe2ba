"""Base of the tabular agents: builds a job from an agent."""

from __future__ import annotations

from typing import Any, Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.core import check
from adeu.core.contract import Part
from adeu.core.explorer import Explorer
from adeu.tabular.array_check import as_array
from adeu.tabular.job import Job, Result
from adeu.tabular.job_training import run
from adeu.tabular.kernels import LoopSettings
from adeu.tabular.lower import lower_explorer
from adeu.tabular.model import Model


class JobArguments(TypedDict, total=False):
    """The arguments of `TableAgent.job` except the model."""

    episodes: Required[int]
    max_steps: Required[int]
    seed: Required[int]
    evaluate_every: int
    q: ArrayLike | None
    visits: ArrayLike


class TableAgent(Part):
    """A tabular agent: its fields are hyper-parameters, and it is trained on a model.

    A subclass defines `lower_learner` and has the fields `explorer` and `gamma`.
    """

    explorer: Explorer
    gamma: float

    @property
    def intrinsic(self) -> float:
        """Beta of an intrinsic reward beta/sqrt(n(s')) for reaching s'."""
        return 0.0

    @property
    def q(self) -> float:
        """The tables' initial value."""
        return 0.0

    def lower_learner(self, q: NDArray[np.float64], seed: int) -> Any:
        """Return the learner's form for the kernel, with tables initialised at or around `q`, of shape (S, A)."""
        raise NotImplementedError(f"{type(self).__name__} has no lower_learner(q, seed)")

    def job(
        self,
        model: Model,
        *,
        episodes: int,
        max_steps: int,
        seed: int,
        evaluate_every: int = 100,
        q: ArrayLike | None = None,
        visits: ArrayLike = 0,
    ) -> Job:
        """Build a training job, checked and converted for the kernel; `run(job)` runs it in any process, without JAX.

        Args:
            model: built by `from_mdp`, `from_gymnasium`, `from_arrays` or `from_table`.
            episodes: the number of training episodes, >= 1.
            max_steps: the number of steps after which an episode is truncated.
            seed: the seed of all random numbers; the same seed gives the same result.
            evaluate_every: training episodes between two greedy ones, which do not affect training.
            q: the tables' initial values, a number or one per (s, a), such as a mentor's; by default the field `q`.
            visits: the initial visit counts, a number or one per state.
        """
        settings = LoopSettings(
            check.as_whole(self, "episodes", episodes),
            check.as_whole(self, "max_steps", max_steps),
            self.gamma,
            self.intrinsic,
            check.as_whole(self, "evaluate_every", evaluate_every),
        )
        seed = check.as_whole(self, "seed", seed, at_least=0)
        size = (model.num_states, model.num_actions)
        counted = as_array(self, "visits", visits, size[:1], np.int64)
        if (counted < 0).any():
            check.refuse(self, "visits", "whole numbers >= 0", counted.min())
        first = as_array(self, "q", self.q if q is None else q, size, np.float64)
        return Job(
            model, self.lower_learner(first, seed), *lower_explorer(self.explorer, model), settings, counted, seed
        )

    def train(self, model: Model, **arguments: Unpack[JobArguments]) -> Result:
        """Train on a model: run the `job` with these arguments."""
        return run(self.job(model, **arguments))
