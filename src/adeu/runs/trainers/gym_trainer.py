"""Trains an agent in a Gymnasium environment as a run."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from adeu.agents.gym_loop import GymLoop
from adeu.runs.trainers.trainer import Arrays, Piece, Row


@dataclasses.dataclass
class GymTrainer:
    """Trains a `GymLoop`, one episode at a time.

    Args:
        build: creates the loop, in the worker.
        total: the number of training steps.
        goal: the mean return of greedy episodes that solves the task.
        alone: whether its worker executes no other run; needed for parts outside of JAX with state in their modules.
    """

    build: Callable[[], GymLoop]
    total: int
    goal: float = float("inf")
    alone: bool = False
    unit = "steps"

    @functools.cached_property
    def _loop(self) -> GymLoop:
        return self.build()

    @property
    def most_steps(self) -> int:
        return self.total

    @property
    def done(self) -> int:
        return self._loop.step

    @property
    def steps(self) -> int:
        return self._loop.step

    def advance(self) -> Piece:
        rows, traces = self._loop.advance()
        solved: list[Row] = [row | {"solved": int(row["return"] >= self.goal)} for row in rows]
        return Piece(solved, traces)

    def kept(self) -> Arrays:
        """Returns the recorded spreads, whether f decided them, and the single greedy episodes, if enabled."""
        loop = self._loop
        spreads: Arrays = {"spread": loop.spreads, "asked": loop.asked} if loop.recorded else {}
        return spreads | ({"singles": np.array(loop.singles, float)} if loop.single_every else {})

    def arrays(self) -> Arrays:
        return self._loop.arrays()

    def restore(self, arrays: Arrays) -> None:
        self._loop.restore(arrays)
