"""f in the kernel: each mechanism is a NamedTuple of its parameters and tables, with scalar rules.

`measure(f, at)` returns f(s); `prepare(f, at, action)` stores values before the learner's update changes them;
`observe(f, at, seen, td_error)` learns from the step; `begin(f, rng)` starts an episode. The last three do nothing by
default.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.operation import operation
from adeu.tabular.stream import Stream

Floats = NDArray[np.float64]


class Scene(NamedTuple):
    """The inputs of a mechanism."""

    s: int
    step: int
    """The number of environment steps so far."""
    center: Floats
    """(A,): a preference per action, -inf for actions that are not allowed."""
    q: Floats
    """(S, learners, A)."""
    visits: NDArray[np.int64]
    """(S,): completed visits, without the current one."""
    rng: Stream


class Seen(NamedTuple):
    """The outcome of a step."""

    action: int
    reward: float
    next_state: int
    terminated: bool
    cost: float


@operation
def measure(f: Any, at: Scene) -> float:
    """Return f(s). `measure.register` adds a rule for the type of `f`."""
    raise TypeError(f"{f} has no rule for measure(f, at)")


@operation
def prepare(f: Any, at: Scene, action: int) -> None:
    """Store values before the learner's update changes them; by default do nothing."""


@operation
def observe(f: Any, at: Scene, seen: Seen, td_error: float) -> None:
    """Learn from a step; by default do nothing."""


@operation
def begin(f: Any, rng: Stream) -> None:
    """Start an episode; by default do nothing."""


class ConstantForm(NamedTuple):
    c: float


class LinearForm(NamedTuple):
    start: float
    end: float
    steps: float


class ExponentialForm(NamedTuple):
    start: float
    end: float
    steps: float


class CountsForm(NamedTuple):
    beta: float


class TdErrorForm(NamedTuple):
    sigma: float
    rate: float
    table: Floats


class ValueChangeForm(NamedTuple):
    sigma: float
    rate: float
    table: Floats
    before: Floats
    """(1,): Q(s, a) before the step's update."""


class ExpectedCostForm(NamedTuple):
    step_size: float
    table: Floats


class EnsembleStdForm(NamedTuple):
    lam: float


class BestActionGapForm(NamedTuple):
    actions: NDArray[np.int64]


class ReturnBanditForm(NamedTuple):
    arms: Floats
    decay: float
    width: float
    pulls: Floats
    total: Floats
    range: Floats
    """(2,): the lowest and the highest return so far."""
    arm: NDArray[np.int64]
    """(1,): the arm of this episode, -1 before the first episode."""
    earned: Floats
    """(1,): the return of this episode so far."""


@measure.register
def _(f: ConstantForm, at: Scene) -> float:
    return f.c


@measure.register
def _(f: LinearForm, at: Scene) -> float:
    return f.start + (f.end - f.start) * min(at.step / f.steps, 1.0)


@measure.register
def _(f: ExponentialForm, at: Scene) -> float:
    return f.start * (f.end / f.start) ** min(at.step / f.steps, 1.0)


@measure.register
def _(f: CountsForm, at: Scene) -> float:
    return 1.0 / (f.beta * math.sqrt(at.visits[at.s] + 1))


@measure.register
def _(f: TdErrorForm, at: Scene) -> float:
    return f.table[at.s]


@observe.register
def _(f: TdErrorForm, at: Scene, seen: Seen, td_error: float) -> None:
    surprise = math.tanh(abs(td_error) / (2 * f.sigma))
    f.table[at.s] += f.rate * (surprise - f.table[at.s])


@measure.register
def _(f: ValueChangeForm, at: Scene) -> float:
    return f.table[at.s]


@prepare.register
def _(f: ValueChangeForm, at: Scene, action: int) -> None:
    f.before[0] = np.mean(at.q[at.s, :, action])


@observe.register
def _(f: ValueChangeForm, at: Scene, seen: Seen, td_error: float) -> None:
    change = np.mean(at.q[at.s, :, seen.action]) - f.before[0]
    surprise = math.tanh(abs(change) / (2 * f.sigma))
    f.table[at.s] += f.rate * (surprise - f.table[at.s])


@measure.register
def _(f: ExpectedCostForm, at: Scene) -> float:
    worst = f.table[at.s, 0]
    for a in range(1, f.table.shape[1]):
        worst = max(worst, f.table[at.s, a])
    return worst


@observe.register
def _(f: ExpectedCostForm, at: Scene, seen: Seen, td_error: float) -> None:
    f.table[at.s, seen.action] += f.step_size * (seen.cost - f.table[at.s, seen.action])


@measure.register
def _(f: EnsembleStdForm, at: Scene) -> float:
    best = at.center[0]
    for a in range(1, at.center.size):
        best = max(best, at.center[a])
    total, ties = 0.0, 0
    for a in range(at.center.size):
        if at.center[a] == best:
            total += float(np.std(at.q[at.s, :, a]))
            ties += 1
    return f.lam * total / ties


@measure.register
def _(f: BestActionGapForm, at: Scene) -> float:
    best = at.center[0]
    for a in range(1, at.center.size):
        best = max(best, at.center[a])
    ties = 0
    for a in range(at.center.size):
        ties += at.center[a] == best
    return 1.0 - (at.center[f.actions[at.s]] == best) / ties


@measure.register
def _(f: ReturnBanditForm, at: Scene) -> float:
    return f.arms[f.arm[0]]


@observe.register
def _(f: ReturnBanditForm, at: Scene, seen: Seen, td_error: float) -> None:
    f.earned[0] += seen.reward


@begin.register
def _(f: ReturnBanditForm, rng: Stream) -> None:
    if f.arm[0] < 0:
        f.arm[0] = 0
        return
    f.range[0], f.range[1] = min(f.range[0], f.earned[0]), max(f.range[1], f.earned[0])
    n = 0.0
    for k in range(f.arms.size):
        f.pulls[k] = f.decay * f.pulls[k] + (k == f.arm[0])
        f.total[k] = f.decay * f.total[k] + (f.earned[0] if k == f.arm[0] else 0.0)
        n += f.pulls[k]
    f.earned[0], highest = 0.0, -math.inf
    for k in range(f.arms.size):
        score = math.inf
        if f.pulls[k] > 0:
            doubt = math.sqrt(math.log(max(n, 1.0)) / f.pulls[k])
            score = f.total[k] / f.pulls[k] + f.width * (f.range[1] - f.range[0]) * doubt
        if score > highest:
            f.arm[0], highest = k, score
