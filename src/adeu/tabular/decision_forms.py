"""g, D and the guard in the kernel: they turn an uncertainty into an action.

`normalize(g, uncertainty)` returns the spread; `sample(D, s, numbers, center, spread, scratch, rng)` the action and
whether it explores; `advise(guard, s)` the mentor's action, or -1. `follow(D, s, seen, rng)` learns from the step;
`restart(D, episode_ended)` resets D's carry.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.f_forms import Seen
from adeu.tabular.operation import operation
from adeu.tabular.stream import Stream, below, uniform

Floats = NDArray[np.float64]
Numbers = tuple[int, ...]
"""0 .. A - 1. The tuple's length is part of its type, so that the compiler unrolls loops over actions."""


@operation
def normalize(g: Any, uncertainty: float) -> float:
    raise TypeError(f"{g} has no rule for normalize(g, uncertainty)")


@operation
def sample(
    D: Any, s: int, numbers: Numbers, center: Floats, spread: float, scratch: Floats, rng: Stream
) -> tuple[int, bool]:
    raise TypeError(f"{D} has no rule for sample(D, s, numbers, center, spread, scratch, rng)")


@operation
def follow(D: Any, s: int, seen: Seen, rng: Stream) -> None:
    """Learn from a step; by default do nothing."""


@operation
def restart(D: Any, episode_ended: bool) -> None:
    pass


@operation
def advise(guard: Any, s: int) -> int:
    raise TypeError(f"{guard} has no rule for advise(guard, s)")


class SigmoidForm(NamedTuple):
    c: float


class SaturatingForm(NamedTuple):
    c: float


class ShiftedSigmoidForm(NamedTuple):
    shift: float


class IdentityForm(NamedTuple):
    pass


class ClipForm(NamedTuple):
    low: float
    high: float


@register_jitable(forceinline=True)
def sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    small = math.exp(x)
    return small / (1.0 + small)


@normalize.register
def _(g: SigmoidForm, uncertainty: float) -> float:
    return g.c * sigmoid(uncertainty)


@normalize.register
def _(g: SaturatingForm, uncertainty: float) -> float:
    return -g.c * math.expm1(-uncertainty)


@normalize.register
def _(g: ShiftedSigmoidForm, uncertainty: float) -> float:
    return sigmoid(g.shift - 1.0 / uncertainty) if uncertainty > 0 else 0.0


@normalize.register
def _(g: IdentityForm, uncertainty: float) -> float:
    return uncertainty


@normalize.register
def _(g: ClipForm, uncertainty: float) -> float:
    return min(max(uncertainty, g.low), g.high)


class CategoricalForm(NamedTuple):
    temperature: float


class BernoulliForm(NamedTuple):
    pass


class StickyForm(NamedTuple):
    mean: float
    last: NDArray[np.int64]
    """(1,): the action to repeat, or -1."""


@restart.register
def _(D: StickyForm, episode_ended: bool) -> None:
    D.last[0] = -1


class OptionsForm(NamedTuple):
    carried: bool
    table: NDArray[np.int64]
    lengths: NDArray[np.int64]
    weights: Floats
    tail: Floats
    """-P(n > k) for k = 1, 2, ...; increasing, for a binary search of n."""
    scratch: Floats
    now: NDArray[np.int64]
    """(2,): the current option and its remaining steps."""


@register_jitable(forceinline=True)
def best(values: Floats, numbers: Numbers) -> float:
    highest = values[0]
    for a in range(1, len(numbers)):
        if values[a] > highest:
            highest = values[a]
    return highest


@register_jitable(forceinline=True)
def choose(weights: Floats, numbers: Any, rng: Stream) -> int:
    """Sample an index below len(numbers) with a probability proportional to its weight."""
    total = 0.0
    for a in range(len(numbers)):
        total += weights[a]
    point, chosen = uniform(rng) * total, 0
    for a in range(len(numbers)):
        if weights[a] > 0:
            chosen = a
            point -= weights[a]
            if point < 0:
                break
    return chosen


@register_jitable(forceinline=True)
def any_from(values: Floats, numbers: Any, lowest: float, rng: Stream) -> int:
    """Sample an index below len(numbers) whose value is at least `lowest`; a single one uses no random number."""
    count, chosen = 0, 0
    for a in range(len(numbers)):
        if values[a] >= lowest:
            count += 1
            chosen = a
    if count > 1:
        left = below(count, rng)
        for a in range(len(numbers)):
            if values[a] >= lowest:
                if left == 0:
                    return a
                left -= 1
    return chosen


@register_jitable(forceinline=True)
def greedy(values: Floats, numbers: Numbers, rng: Stream) -> int:
    return any_from(values, numbers, best(values, numbers), rng)


@sample.register
def _(
    D: CategoricalForm, s: int, numbers: Numbers, center: Floats, spread: float, scratch: Floats, rng: Stream
) -> tuple[int, bool]:
    trust = (1.0 - min(max(spread, 0.0), 1.0)) / D.temperature
    highest = best(center, numbers)
    for a in range(len(numbers)):
        scratch[a] = math.exp(trust * (center[a] - highest)) if center[a] > -math.inf else 0.0
    action = choose(scratch, numbers, rng)
    return action, center[action] < highest


@sample.register
def _(
    D: BernoulliForm, s: int, numbers: Numbers, center: Floats, spread: float, scratch: Floats, rng: Stream
) -> tuple[int, bool]:
    explored = uniform(rng) < spread
    lowest = -1.7976931348623157e308 if explored else best(center, numbers)
    return any_from(center, numbers, lowest, rng), explored


@sample.register
def _(
    D: StickyForm, s: int, numbers: Numbers, center: Floats, spread: float, scratch: Floats, rng: Stream
) -> tuple[int, bool]:
    explored = uniform(rng) < spread
    if not explored:
        D.last[0] = -1
        return greedy(center, numbers, rng), False
    if D.last[0] < 0 or center[D.last[0]] == -math.inf or uniform(rng) >= 1.0 - 1.0 / D.mean:
        D.last[0] = any_from(center, numbers, -1.7976931348623157e308, rng)
    return D.last[0], True


@sample.register
def _(
    D: OptionsForm, s: int, numbers: Numbers, center: Floats, spread: float, scratch: Floats, rng: Stream
) -> tuple[int, bool]:
    option, left = D.now[0], D.now[1]
    if left == 0 and uniform(rng) < spread:
        possible = False
        for o in range(D.weights.size):
            D.scratch[o] = D.weights[o] if center[D.table[o, 0]] > -math.inf else 0.0
            possible = possible or D.scratch[o] > 0
        if possible:
            option = choose(D.scratch, D.scratch, rng)
            left = (1 + np.searchsorted(D.tail, uniform(rng) - 1.0)) * D.lengths[option]
    # `left` counts down from a multiple of the length, so -left modulo the length is the index into the sequence.
    action = D.table[option, -left % D.lengths[option]]
    explored = left > 0 and center[action] > -math.inf
    D.now[0] = option
    D.now[1] = left - 1 if explored else 0
    return (action if explored else greedy(center, numbers, rng)), explored


@restart.register
def _(D: OptionsForm, episode_ended: bool) -> None:
    if not (episode_ended and D.carried):
        D.now[1] = 0


class NoGuardForm(NamedTuple):
    pass


class KnownUnsafeForm(NamedTuple):
    advice: NDArray[np.int64]
    """(S,): the mentor's action, or -1."""


@advise.register
def _(guard: NoGuardForm, s: int) -> int:
    return -1


@advise.register
def _(guard: KnownUnsafeForm, s: int) -> int:
    return guard.advice[s]


class ReturningForm(NamedTuple):
    advice: NDArray[np.int64]
    """(1,): the array of `FirstReturnForm`, which writes to it."""


@advise.register
def _(guard: ReturningForm, s: int) -> int:
    return guard.advice[0]
