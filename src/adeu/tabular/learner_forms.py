"""The learners in the kernel, one Q table or an ensemble, and their step sizes.

`step_size(steps, s, a)` counts the visit and returns alpha; `prefer(learner, mask, s, center)` writes the preferences
of the behaviour policy, `value` those of the greedy policy; `learn` updates the tables and returns the TD error;
`renew(learner, rng)` is called after each episode.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.f_forms import Seen
from adeu.tabular.model import allowed
from adeu.tabular.operation import operation
from adeu.tabular.stream import Stream, uniform

Floats = NDArray[np.float64]


class ConstantStepForm(NamedTuple):
    alpha: float


class VisitStepForm(NamedTuple):
    """A step size of 1/n(s, a), which averages all targets."""

    visits: NDArray[np.int64]


@operation
def step_size(steps: Any, s: int, a: int) -> float:
    raise TypeError(f"{steps} has no rule for step_size(steps, s, a)")


@step_size.register
def _(steps: ConstantStepForm, s: int, a: int) -> float:
    return steps.alpha


@step_size.register
def _(steps: VisitStepForm, s: int, a: int) -> float:
    steps.visits[s, a] += 1
    return 1.0 / steps.visits[s, a]


class SingleForm(NamedTuple):
    q: Floats
    """(S, 1, A)."""
    steps: Any


class EnsembleForm(NamedTuple):
    q: Floats
    """(S, learners, A)."""
    steps: Any
    mask_probability: float
    ucb: float


@operation
def prefer(learner: Any, mask: Any, s: int, center: Floats) -> None:
    raise TypeError(f"{learner} has no rule for prefer")


@operation
def value(learner: Any, mask: Any, s: int, center: Floats) -> None:
    raise TypeError(f"{learner} has no rule for value")


@operation
def learn(learner: Any, mask: Any, s: int, seen: Seen, gamma: float, rng: Stream) -> float:
    raise TypeError(f"{learner} has no rule for learn")


@operation
def renew(learner: Any, rng: Stream) -> None:
    """Resample the learner's random choices after each episode; by default do nothing."""


@register_jitable(forceinline=True)
def target(q: Floats, learner: int, mask: Any, seen: Seen, gamma: float) -> float:
    """Return the target r + gamma * max_a Q(s', a)."""
    if seen.terminated:
        return seen.reward
    highest = -math.inf
    for a in range(len(mask.numbers)):
        if allowed(mask, seen.next_state, a) and q[seen.next_state, learner, a] > highest:
            highest = q[seen.next_state, learner, a]
    return seen.reward + gamma * highest


def _one_value(learner: SingleForm, mask: Any, s: int, center: Floats) -> None:
    for a in range(len(mask.numbers)):
        center[a] = learner.q[s, 0, a] if allowed(mask, s, a) else -math.inf


prefer.register(SingleForm, _one_value)
value.register(SingleForm, _one_value)


@learn.register
def _(learner: SingleForm, mask: Any, s: int, seen: Seen, gamma: float, rng: Stream) -> float:
    td_error = target(learner.q, 0, mask, seen, gamma) - learner.q[s, 0, seen.action]
    learner.q[s, 0, seen.action] += step_size(learner.steps, s, seen.action) * td_error
    return td_error


@register_jitable(forceinline=True)
def _mean(q: Floats, s: int, a: int) -> float:
    total = 0.0
    for i in range(q.shape[1]):
        total += q[s, i, a]
    return total / q.shape[1]


@prefer.register
def _(learner: EnsembleForm, mask: Any, s: int, center: Floats) -> None:
    for a in range(len(mask.numbers)):
        if not allowed(mask, s, a):
            center[a] = -math.inf
            continue
        mean, squares = _mean(learner.q, s, a), 0.0
        if learner.ucb > 0:
            for i in range(learner.q.shape[1]):
                squares += (learner.q[s, i, a] - mean) ** 2
        center[a] = mean + learner.ucb * math.sqrt(squares / learner.q.shape[1])


@value.register
def _(learner: EnsembleForm, mask: Any, s: int, center: Floats) -> None:
    for a in range(len(mask.numbers)):
        center[a] = _mean(learner.q, s, a) if allowed(mask, s, a) else -math.inf


@learn.register
def _(learner: EnsembleForm, mask: Any, s: int, seen: Seen, gamma: float, rng: Stream) -> float:
    alpha, total = step_size(learner.steps, s, seen.action), 0.0
    for i in range(learner.q.shape[1]):
        td_error = target(learner.q, i, mask, seen, gamma) - learner.q[s, i, seen.action]
        total += td_error
        if learner.mask_probability >= 1 or uniform(rng) < learner.mask_probability:
            learner.q[s, i, seen.action] += alpha * td_error
    return total / learner.q.shape[1]
