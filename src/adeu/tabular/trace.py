"""The trace of an episode, step by step: `note(trace, step, center)` records a step, or does nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.operation import operation

Floats = NDArray[np.float64]


class Trace(NamedTuple):
    """The steps of an episode; each array has one entry per step."""

    state: NDArray[np.int64]
    best: NDArray[np.int64]
    """The action that pi(s) prefers, the first of ties; the mentor's action if the mentor is active."""
    action: NDArray[np.int64]
    explored: NDArray[np.bool_]
    uncertainty: Floats
    """f(s)."""
    spread: Floats
    """g(f(s)); 0 if the mentor is active."""
    reward: Floats
    """The environment's reward, without intrinsic reward."""
    cost: Floats


class Step(NamedTuple):
    state: int
    action: int
    explored: bool
    uncertainty: float
    spread: float
    reward: float
    cost: float


class NoTrace(NamedTuple):
    """Records nothing, at no cost; for compiled training."""


class TraceRows(NamedTuple):
    """Records all steps; for the loop in Python."""

    best: list[int]
    steps: list[Step]

    def trace(self) -> Trace:
        columns: dict[str, Any] = dict(zip(Step._fields, map(np.array, zip(*self.steps, strict=True)), strict=True))
        columns["state"] = columns["state"].astype(np.int64)
        return Trace(best=np.array(self.best), **columns)


@operation
def note(trace: Any, step: Step, center: Floats) -> None:
    raise TypeError(f"{trace} has no rule for note(trace, step, center)")


@note.register
def _(trace: NoTrace, step: Step, center: Floats) -> None:
    pass


@note.register
def _(trace: TraceRows, step: Step, center: Floats) -> None:
    trace.best.append(int(center.argmax()))
    trace.steps.append(step)
