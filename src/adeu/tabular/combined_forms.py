"""Mechanisms of mechanisms in the kernel: sums, products, ratios, hyper states and rollouts; see `f_forms`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.f_forms import Floats, Scene, Seen, begin, measure, observe, prepare
from adeu.tabular.stream import Stream, uniform

UNDECIDED = -1.0


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
