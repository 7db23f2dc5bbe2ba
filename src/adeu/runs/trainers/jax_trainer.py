"""An agent whose loop is compiled with its environment, as a run."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np

from adeu.agents.jax_loop import AnyLoopState, JaxLoop
from adeu.behavior.storage import arrays_of, tree_of
from adeu.core import check
from adeu.runs.trainers.trainer import Arrays, Piece

OWN = ("episode", "first_hit", "streak")


@dataclasses.dataclass
class JaxTrainer:
    """Trains an evaluation at a time.

    Args:
        loop: what to train.
        seed: of everything that is drawn.
        most: how many steps at most, a multiple of the loop's `evaluate_every`.
        goal: greedy episodes that return so much on average have solved the task.
        enough: after so many evaluations in a row that have, the run ends; 0: it does not.
    """

    loop: JaxLoop
    seed: int
    most: int
    goal: float
    enough: int = 0
    unit = "steps"

    def __post_init__(self) -> None:
        every = self.loop.evaluate_every
        if check.as_whole("a run", "steps", self.most) % every:
            check.refuse("a run", "steps", f"a multiple of evaluate_every={every}", self.most)
        self.episode = self.first_hit = self.streak = 0

    @functools.cached_property
    def _state(self) -> AnyLoopState:
        return self.loop.init(self.seed)

    @property
    def total(self) -> int:
        return self.done if self.enough and self.streak >= self.enough else self.most

    @property
    def most_steps(self) -> int:
        return self.most

    @property
    def done(self) -> int:
        return self.steps

    @property
    def steps(self) -> int:
        return int(self._state.step)

    def advance(self) -> Piece:
        self._state, found = self.loop.advance(self._state)
        piece = jax.device_get(found)
        self.episode += int(piece.episodes)
        if not self.first_hit and piece.best >= self.goal:
            self.first_hit = int(piece.best_at)
        solved = bool(piece.evaluation >= self.goal)
        self.streak = self.streak + 1 if solved else 0
        row = {
            "step": int(piece.step),
            "episode": self.episode,
            "return": float(piece.evaluation),
            "solved": int(solved),
            "spread": float(piece.spread),
            "explored": float(piece.explored),
            "first_hit": self.first_hit,
        }
        return Piece([row])

    def arrays(self) -> Arrays:
        return arrays_of(self._state) | {name: np.array(getattr(self, name)) for name in OWN}

    def restore(self, arrays: Arrays) -> None:
        self._state = tree_of({name: array for name, array in arrays.items() if name not in OWN}, self._state)
        self.episode, self.first_hit, self.streak = (int(arrays[name]) for name in OWN)
