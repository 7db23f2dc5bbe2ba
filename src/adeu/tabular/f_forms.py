"""f in the kernel: each mechanism is a NamedTuple of its parameters and tables, with scalar rules.

`measure(f, at)` returns f(s); `prepare(f, at, action)` stores values before the learner's update changes them;
`observe(f, at, seen, td_error)` learns from the step; `begin(f, rng)` starts an episode. The last three do nothing by
default.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.operation import operation
from adeu.tabular.stream import Stream, uniform

Floats = NDArray[np.float64]
UNDECIDED = -1.0


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


class SumForm(NamedTuple):
    f: Any
    other: Any


class ProductForm(NamedTuple):
    f: Any
    other: Any


class InverseForm(NamedTuple):
    f: Any
    floor: float


class RatioForm(NamedTuple):
    f: Any
    other: Any
    lam: float
    floor: float


class ConditionedRatioForm(NamedTuple):
    f: Any
    other: Any
    floor: float


class HyperStatesForm(NamedTuple):
    f: Any
    groups: NDArray[np.int64]
    visits: NDArray[np.int64]


class RolloutsForm(NamedTuple):
    f: Any
    rho: Any
    c: Any
    coin: Floats
    """(2,): a uniform number, and whether the episode is a rollout, UNDECIDED before its first step."""


@measure.register
def _(f: SumForm, at: Scene) -> float:
    return measure(f.f, at) + measure(f.other, at)


@measure.register
def _(f: ProductForm, at: Scene) -> float:
    return measure(f.f, at) * measure(f.other, at)


@measure.register
def _(f: InverseForm, at: Scene) -> float:
    return 1.0 / max(measure(f.f, at), f.floor)


@measure.register
def _(f: RatioForm, at: Scene) -> float:
    return measure(f.f, at) / (f.lam * max(measure(f.other, at), f.floor))


@measure.register
def _(f: ConditionedRatioForm, at: Scene) -> float:
    cost, best = measure(f.other, at), -math.inf
    for a in range(at.center.size):
        mean = float(np.mean(at.q[at.s, :, a]))
        if at.center[a] > -math.inf and mean > best:
            best = mean
    lam = max(best, 1.0) if cost > best else 1.0
    return measure(f.f, at) / (lam * max(cost, f.floor))


@measure.register
def _(f: HyperStatesForm, at: Scene) -> float:
    return measure(f.f, Scene(f.groups[at.s], at.step, at.center, at.q, f.visits, at.rng))


@observe.register
def _(f: HyperStatesForm, at: Scene, seen: Seen, td_error: float) -> None:
    group = f.groups[at.s]
    next_group = f.groups[seen.next_state]
    grouped = Seen(seen.action, seen.reward, next_group, seen.terminated, seen.cost)
    observe(f.f, Scene(group, at.step, at.center, at.q, f.visits, at.rng), grouped, td_error)
    f.visits[group] += 1


@measure.register
def _(f: RolloutsForm, at: Scene) -> float:
    if f.coin[1] == UNDECIDED:
        f.coin[1] = 1.0 if f.coin[0] < measure(f.rho, at) else 0.0
    usual, rolled = measure(f.f, at), measure(f.c, at)  # call both, because a mechanism may count its calls
    return rolled if f.coin[1] == 1.0 else usual


@begin.register
def _(f: RolloutsForm, rng: Stream) -> None:
    f.coin[0], f.coin[1] = uniform(rng), UNDECIDED
    begin(f.f, rng)
    begin(f.rho, rng)
    begin(f.c, rng)


@prepare.register
def _(f: RolloutsForm, at: Scene, action: int) -> None:
    prepare(f.f, at, action)
    prepare(f.rho, at, action)
    prepare(f.c, at, action)


@observe.register
def _(f: RolloutsForm, at: Scene, seen: Seen, td_error: float) -> None:
    observe(f.f, at, seen, td_error)
    observe(f.rho, at, seen, td_error)
    observe(f.c, at, seen, td_error)


def begin_one(f: Any, rng: Stream) -> None:
    begin(f.f, rng)


def _begin_both(f: Any, rng: Stream) -> None:
    begin(f.f, rng)
    begin(f.other, rng)


def prepare_one(f: Any, at: Scene, action: int) -> None:
    prepare(f.f, at, action)


def _prepare_both(f: Any, at: Scene, action: int) -> None:
    prepare(f.f, at, action)
    prepare(f.other, at, action)


def observe_one(f: Any, at: Scene, seen: Seen, td_error: float) -> None:
    observe(f.f, at, seen, td_error)


def _observe_both(f: Any, at: Scene, seen: Seen, td_error: float) -> None:
    observe(f.f, at, seen, td_error)
    observe(f.other, at, seen, td_error)


begin.register(HyperStatesForm, begin_one)
begin.register(InverseForm, begin_one)
prepare.register(InverseForm, prepare_one)
observe.register(InverseForm, observe_one)
for both in (SumForm, ProductForm, RatioForm, ConditionedRatioForm):
    begin.register(both, _begin_both)
    prepare.register(both, _prepare_both)
    observe.register(both, _observe_both)
