"""Learned lengths in the kernel: a D with a table that learns from every step; see `decision_forms`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.decision_forms import Floats, Numbers, any_from, follow, greedy, restart, sample
from adeu.tabular.f_forms import Seen
from adeu.tabular.stream import Stream, uniform

ANY = -1.7976931348623157e308


class LearnedLengthsForm(NamedTuple):
    gamma: float
    lam: float
    mask_probability: float
    step_size: float
    start: float
    values: Floats
    """(S, heads, A, lengths)."""
    score: Floats
    """(lengths,)."""
    now: NDArray[np.int64]
    """(4,): the action, its remaining steps, whether it or its length was random, whether `values` is initialised."""


@restart.register
def _(D: LearnedLengthsForm, episode_ended: bool) -> None:
    D.now[1] = 0


@sample.register
def _(
    D: LearnedLengthsForm, s: int, numbers: Numbers, center: Floats, spread: float, scratch: Floats, rng: Stream
) -> tuple[int, bool]:
    if D.now[3] == 0:
        scatter(D, rng)
    if D.now[1] == 0 or center[D.now[0]] == -math.inf:
        coin = uniform(rng) < spread
        action = any_from(center, numbers, ANY, rng) if coin else greedy(center, numbers, rng)
        any_length = D.values.shape[1] == 1 and uniform(rng) < spread
        lowest = -math.inf if any_length else judge(D, s, action)
        D.now[0], D.now[1] = action, 1 + any_from(D.score, D.score, lowest, rng)
        D.now[2] = coin or any_length
    D.now[1] -= 1
    return D.now[0], D.now[2] == 1


@register_jitable(forceinline=True)
def judge(D: LearnedLengthsForm, s: int, a: int) -> float:
    """Write the score of each length, and return the best."""
    heads, highest = D.values.shape[1], -math.inf
    for n in range(D.score.size):
        mean, squares = 0.0, 0.0
        for h in range(heads):
            mean += D.values[s, h, a, n] / heads
        for h in range(heads):
            squares += (D.values[s, h, a, n] - mean) ** 2 / heads
        D.score[n] = mean + D.lam * math.sqrt(squares)
        highest = max(highest, D.score[n])
    return highest


@register_jitable(forceinline=True)
def scatter(D: LearnedLengthsForm, rng: Stream) -> None:
    """Sample the table's initial values, by the Box-Muller transform."""
    D.now[3] = 1
    if D.start > 0:
        table = D.values.reshape(-1)
        for i in range(table.size):
            far = math.sqrt(-2.0 * math.log(1.0 - uniform(rng)))
            table[i] = D.start * far * math.cos(2.0 * math.pi * uniform(rng))


@follow.register
def _(D: LearnedLengthsForm, s: int, seen: Seen, rng: Stream) -> None:
    a, there = seen.action, seen.next_state
    for h in range(D.values.shape[1]):
        if D.mask_probability < 1 and uniform(rng) >= D.mask_probability:
            continue
        first = -math.inf
        for b in range(D.values.shape[2]):
            for n in range(D.score.size):
                first = max(first, D.values[there, h, b, n])
        for n in range(D.score.size - 1, -1, -1):  # downwards, so that n - 1 is not updated yet if s' = s
            after = D.values[there, h, a, n - 1] if n > 0 else first
            target = seen.reward + (0.0 if seen.terminated else D.gamma * after)
            D.values[s, h, a, n] += D.step_size * (target - D.values[s, h, a, n])
