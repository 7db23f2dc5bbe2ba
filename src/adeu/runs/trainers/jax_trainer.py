"""Trains an agent in a JAX environment as a run, with a compiled loop."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np

from adeu.agents.jax_loop import JaxLoop, LoopPiece
from adeu.agents.jax_player import AnyLoopState
from adeu.agents.jax_trace import trace_episode
from adeu.agents.tracing import Columns, check_fractions, reached, trace_name
from adeu.behavior.storage import arrays_of, tree_of
from adeu.core import check
from adeu.runs.trainers.trainer import Arrays, Piece

OWN = ("episode", "first_hit", "streak")
RECORDED = ("spreads", "asked")
WATCHED = ("spread", "explored", "saturated", "spread_p10", "spread_p90")


@dataclasses.dataclass
class JaxTrainer:
    """Trains a `JaxLoop`, one evaluation at a time.

    Args:
        loop: the loop to train.
        seed: the seed of all random numbers.
        most: the maximum number of steps, a multiple of the loop's `evaluate_every`.
        goal: the mean return of greedy episodes that solves the task.
        enough: ends the run after this many solved evaluations in a row; 0 disables this.
        given: the arrays that the loop takes, with an entry per step.
        recorded: whether the complete run keeps each step's spread and whether f decided it.
        traced_at: fractions of `most` at which `trace_episode` records an episode; 1 is the end of the run.
    """

    loop: JaxLoop
    seed: int
    most: int
    goal: float
    enough: int = 0
    given: Arrays = dataclasses.field(default_factory=dict)
    recorded: bool = False
    traced_at: tuple[float, ...] = ()
    unit = "steps"

    def __post_init__(self) -> None:
        every = self.loop.evaluate_every
        if check.as_whole("a run", "steps", self.most) % every:
            check.refuse("a run", "steps", f"a multiple of evaluate_every={every}", self.most)
        check_fractions("a run", "traced_at", self.traced_at)
        self.episode = self.first_hit = self.streak = 0
        kept = self.most if self.recorded else 0
        self.spreads, self.asked = np.zeros(kept, np.float32), np.zeros(kept, bool)

    @property
    def _watched(self) -> tuple[str, ...]:
        return (*WATCHED, "deviation") if self.loop.agent.explorer.D.has_deviation else WATCHED

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
        before = self.steps
        traces = {} if before else self._trace(reached(self.traced_at, -1, 0, self.most))
        self._state, found = self.loop.advance(self._state, self.given)
        piece: LoopPiece = jax.device_get(found)
        if self.recorded:
            self.spreads[before : self.steps], self.asked[before : self.steps] = piece.spreads, piece.asked
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
            **{name: float(getattr(piece, name)) for name in self._watched},
            "first_hit": self.first_hit,
        }
        fractions = reached(self.traced_at, before, self.steps, self.most)
        fractions += [1.0] * (1 in self.traced_at and self.done >= self.total)
        return Piece([row], traces | self._trace(fractions))

    def _trace(self, fractions: list[float]) -> dict[str, Columns]:
        """Records an episode with the current state, named after the largest fraction; empty without fractions."""
        if not fractions:
            return {}
        return {trace_name(max(fractions)): trace_episode(self.loop, self._state, self.given)}

    def kept(self) -> Arrays:
        """Returns each step's spread and whether f decided it, if `recorded`."""
        steps = self.steps
        return {"spread": self.spreads[:steps], "asked": self.asked[:steps]} if self.recorded else {}

    def arrays(self) -> Arrays:
        recorded: Arrays = {"spreads": self.spreads, "asked": self.asked} if self.recorded else {}
        kept = {name: array[: self.steps].copy() for name, array in recorded.items()}
        return arrays_of(self._state) | {name: np.array(getattr(self, name)) for name in OWN} | kept

    def restore(self, arrays: Arrays) -> None:
        ours = (*OWN, *RECORDED) if self.recorded else OWN
        self._state = tree_of({name: array for name, array in arrays.items() if name not in ours}, self._state)
        self.episode, self.first_hit, self.streak = (int(arrays[name]) for name in OWN)
        if self.recorded:
            self.spreads[: self.steps], self.asked[: self.steps] = arrays["spreads"], arrays["asked"]
