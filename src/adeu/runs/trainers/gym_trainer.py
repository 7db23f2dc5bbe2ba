"""An agent in a Gymnasium environment, as a run."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from adeu.agents.gym_loop import GymLoop
from adeu.runs.trainers.trainer import Arrays, Piece, Row


@dataclasses.dataclass
class GymTrainer:
    """Trains a loop, an episode at a time.

    Args:
        build: makes the loop, in the worker.
        total: how many steps the loop trains.
        goal: the mean return of greedy episodes that solves the task.
        alone: whether its worker takes no other run: parts outside of JAX may keep what they learn in their module.
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
        """Each step's spread and whether f decided it, and the single greedy episodes, if the loop records them."""
        loop = self._loop
        spreads: Arrays = {"spread": loop.spreads, "asked": loop.asked} if loop.recorded else {}
        return spreads | ({"singles": np.array(loop.singles, float)} if loop.single_every else {})

    def arrays(self) -> Arrays:
        return self._loop.arrays()

    def restore(self, arrays: Arrays) -> None:
        self._loop.restore(arrays)
