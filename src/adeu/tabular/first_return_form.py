"""`FirstReturn` in the kernel; see `f_forms`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.f_forms import Floats, Scene, Seen, begin, measure, observe
from adeu.tabular.stream import Stream, uniform


class FirstReturnForm(NamedTuple):
    visits: NDArray[np.int64]
    length: NDArray[np.int64]
    score: Floats
    actions: NDArray[np.int32]
    """(S, longest): the actions that lead to each cell."""
    taken: NDArray[np.int32]
    earned: Floats
    """(1,): the return of this episode so far."""
    coin: Floats
    """(1,): the uniform number that selects the goal."""
    now: NDArray[np.int64]
    """(4,): the step of the episode, the goal, its distance, whether it was reached."""
    advice: NDArray[np.int64]
    """(1,): the next action towards the goal, or -1; the guard reads it."""


@begin.register
def _(f: FirstReturnForm, rng: Stream) -> None:
    f.coin[0], f.earned[0], f.now[0] = uniform(rng), 0.0, 0


@measure.register
def _(f: FirstReturnForm, at: Scene) -> float:
    if f.now[0] == 0:
        f.now[1] = archived(f, at.s)
        f.now[2], f.now[3] = max(f.length[f.now[1]], 0), 0
    if f.now[0] >= f.now[2]:
        f.now[3] = 1
    f.advice[0] = -1 if f.now[3] == 1 else f.actions[f.now[1], f.now[0]]
    return float(f.now[3])


@observe.register
def _(f: FirstReturnForm, at: Scene, seen: Seen, td_error: float) -> None:
    step, there = f.now[0], seen.next_state
    if step == 0:
        f.length[at.s] = 0
    if step < f.taken.size:
        f.taken[step] = seen.action
    f.visits[at.s] += 1
    f.earned[0] += seen.reward
    f.now[0] = step + 1
    f.advice[0] = -1
    if seen.terminated or f.length[there] == 0 or step >= f.taken.size:
        return
    tied = f.earned[0] == f.score[there] and step + 1 < f.length[there]
    if f.length[there] < 0 or f.earned[0] > f.score[there] or tied:
        f.length[there], f.score[there] = step + 1, f.earned[0]
        for i in range(step + 1):
            f.actions[there, i] = f.taken[i]


@register_jitable(forceinline=True)
def archived(f: FirstReturnForm, s: int) -> int:
    """Sample a cell of the archive with weight 1/sqrt(visits + 1); return s if the archive is empty."""
    total = 0.0
    for cell in range(f.length.size):
        if f.length[cell] >= 0:
            total += 1.0 / math.sqrt(f.visits[cell] + 1.0)
    if total == 0.0:
        return s
    below, chosen = 0.0, s
    for cell in range(f.length.size):
        if f.length[cell] >= 0:
            chosen = cell
            below += 1.0 / math.sqrt(f.visits[cell] + 1.0)
            if below > f.coin[0] * total:
                break
    return chosen
