"""Triggers in the kernel: `Every`, `Triggered`, `Homeostasis` and `ValuePromise`; see `f_forms`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.combined_forms import begin_one, observe_one, prepare_one
from adeu.tabular.f_forms import Floats, Scene, Seen, begin, measure, observe, prepare
from adeu.tabular.stream import Stream, uniform

Ints = NDArray[np.int64]


class EveryForm(NamedTuple):
    n: int
    passed: Ints
    """(1,): the number of steps since f was last 1."""


@measure.register
def _(f: EveryForm, at: Scene) -> float:
    f.passed[0] += 1
    if f.passed[0] < f.n:
        return 0.0
    f.passed[0] = 0
    return 1.0


class TriggeredForm(NamedTuple):
    f: Any
    duration: int
    random: bool
    by_episode: bool
    explores_first: bool
    c: float
    now: Ints
    """(2,): remaining steps (or episodes) of the period; 1 before an episode's first step, 0 after, -1 at first."""


@begin.register
def _(f: TriggeredForm, rng: Stream) -> None:
    if f.by_episode and f.now[1] >= 0:
        if f.now[1] == 0:
            f.now[0] = max(f.now[0] - 1, 0)
    else:
        f.now[0] = period(f, rng) if f.explores_first else 0
    f.now[1] = 1
    begin(f.f, rng)


@measure.register
def _(f: TriggeredForm, at: Scene) -> float:
    if f.now[1] == 1 or not f.by_episode:
        chance = measure(f.f, at)
        if f.now[0] == 0 and uniform(at.rng) < chance:
            f.now[0] = period(f, at.rng)
    explores = f.now[0] > 0
    if explores and not f.by_episode:
        f.now[0] -= 1
    f.now[1] = 0
    return f.c if explores else 0.0


@register_jitable(forceinline=True)
def period(f: TriggeredForm, rng: Stream) -> int:
    """Return the length of a period: fixed, or sampled from a geometric distribution."""
    if not f.random or f.duration == 1:
        return f.duration
    return 1 + int(math.log1p(-uniform(rng)) / math.log1p(-1.0 / f.duration))


class HomeostasisForm(NamedTuple):
    f: Any
    rate: float
    running: Floats
    """(4,): tau, the mean and the variance of the signal, and the logarithm of the mean of y."""


@measure.register
def _(f: HomeostasisForm, at: Scene) -> float:
    x = measure(f.f, at)
    tau = min(f.running[0] + 1.0, 100.0 / f.rate)
    mean = f.running[1] + (x - f.running[1]) / tau
    variance = f.running[2] + ((x - mean) ** 2 - f.running[2]) / tau
    log_y = (x - mean) / math.sqrt(variance) if variance > 0 else 0.0
    log_mean = log_y
    if tau > 1:
        old, new = math.log1p(-1.0 / tau) + f.running[3], log_y - math.log(tau)
        highest = max(old, new)
        log_mean = highest + math.log(math.exp(old - highest) + math.exp(new - highest))
    f.running[0], f.running[1], f.running[2], f.running[3] = tau, mean, variance, log_mean
    return f.rate * math.exp(min(log_y - log_mean, -math.log(f.rate)))


class ValuePromiseForm(NamedTuple):
    gamma: float
    td: bool
    values: Floats
    """(k,): the values of the last k states; step t is at index t mod k."""
    rewards: Floats
    """(k,): the rewards of the steps that led to them, at the same indices."""
    reward: Floats
    """(1,): the reward of the previous step."""
    step: Ints
    """(1,): the step of the episode."""


@begin.register
def _(f: ValuePromiseForm, rng: Stream) -> None:
    f.step[0], f.reward[0] = 0, 0.0


@observe.register
def _(f: ValuePromiseForm, at: Scene, seen: Seen, td_error: float) -> None:
    f.reward[0] = seen.reward


@measure.register
def _(f: ValuePromiseForm, at: Scene) -> float:
    k, t, value = f.values.size, f.step[0], -math.inf
    for a in range(at.center.size):
        if at.center[a] > -math.inf:
            value = max(value, float(np.mean(at.q[at.s, :, a])))
    promised = f.values[t % k]
    f.values[t % k], f.rewards[t % k], f.step[0] = value, f.reward[0], t + 1
    if t < k:
        return 0.0
    paid = 0.0
    for i in range(k):
        paid += f.gamma ** (k - 1 - i if f.td else i) * f.rewards[(t - i) % k]
    return abs(promised - paid - (f.gamma**k if f.td else 1.0) * value)


begin.register(HomeostasisForm, begin_one)
for one in (TriggeredForm, HomeostasisForm):
    prepare.register(one, prepare_one)
    observe.register(one, observe_one)
