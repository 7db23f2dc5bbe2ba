"""A learner with replay: DQN over one table or an ensemble, with target tables.

`learn` stores the step and, every `update_every` steps, moves the tables towards the targets of a minibatch.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.f_forms import Seen
from adeu.tabular.learner_forms import learn, prefer, renew, value
from adeu.tabular.model import allowed
from adeu.tabular.stream import Stream, below, uniform

Floats = NDArray[np.float64]


class ReplayTable(NamedTuple):
    """A ring buffer of steps."""

    state: NDArray[np.uint32]
    action: NDArray[np.uint8]
    reward: Floats
    next_state: NDArray[np.uint32]
    terminated: NDArray[np.bool_]
    mask: NDArray[np.bool_]
    """(capacity, tables): which tables learn from the step."""


class Clock(NamedTuple):
    steps: NDArray[np.int64]
    """(1,): the number of steps stored so far."""
    table: NDArray[np.int64]
    """(1,): the acting table, if one is sampled for each episode."""
    highest: Floats
    """(1,): the highest reward so far."""
    highest_at: NDArray[np.int64]
    """(1,): the step that first reached it, counted from 1."""


class ReplayedForm(NamedTuple):
    q: Floats
    """(S, tables, A)."""
    target: Floats
    store: ReplayTable
    clock: Clock
    alpha: float
    batch: int
    update_every: int
    target_every: int
    mask_probability: float
    sampled: bool
    ucb: float


@register_jitable(forceinline=True)
def _mean(q: Floats, s: int, a: int) -> float:
    total = 0.0
    for i in range(q.shape[1]):
        total += q[s, i, a]
    return total / q.shape[1]


@value.register
def _(learner: ReplayedForm, mask: Any, s: int, center: Floats) -> None:
    for a in range(len(mask.numbers)):
        center[a] = _mean(learner.q, s, a) if allowed(mask, s, a) else -math.inf


@prefer.register
def _(learner: ReplayedForm, mask: Any, s: int, center: Floats) -> None:
    q, acting = learner.q, learner.clock.table[0]
    for a in range(len(mask.numbers)):
        if not allowed(mask, s, a):
            center[a] = -math.inf
        elif learner.sampled:
            center[a] = q[s, acting, a]
        else:
            mean, squares = _mean(q, s, a), 0.0
            if learner.ucb > 0:
                for i in range(q.shape[1]):
                    squares += (q[s, i, a] - mean) ** 2
            center[a] = mean + learner.ucb * math.sqrt(squares / q.shape[1])


@register_jitable(forceinline=True)
def _best_after(target: Floats, mask: Any, s: int, i: int) -> float:
    highest = -math.inf
    for a in range(len(mask.numbers)):
        if allowed(mask, s, a) and target[s, i, a] > highest:
            highest = target[s, i, a]
    return highest


@register_jitable(forceinline=True)
def _keep(learner: ReplayedForm, s: int, seen: Seen, rng: Stream) -> None:
    store, clock = learner.store, learner.clock
    place = clock.steps[0] % store.reward.size
    store.state[place] = s
    store.action[place] = seen.action
    store.reward[place] = seen.reward
    store.next_state[place] = seen.next_state
    store.terminated[place] = seen.terminated
    for i in range(learner.q.shape[1]):
        store.mask[place, i] = learner.mask_probability >= 1 or uniform(rng) < learner.mask_probability
    clock.steps[0] += 1
    if seen.reward > clock.highest[0]:
        clock.highest[0] = seen.reward
        clock.highest_at[0] = clock.steps[0]


@register_jitable(forceinline=True)
def _replay(learner: ReplayedForm, mask: Any, gamma: float, rng: Stream) -> None:
    q, store = learner.q, learner.store
    filled = min(learner.clock.steps[0], store.reward.size)
    for _ in range(learner.batch):
        j = below(filled, rng)
        s, a, after = store.state[j], store.action[j], store.next_state[j]
        for i in range(q.shape[1]):
            if store.mask[j, i]:
                y = store.reward[j]
                if not store.terminated[j]:
                    y += gamma * _best_after(learner.target, mask, after, i)
                q[s, i, a] += learner.alpha * (y - q[s, i, a])


@learn.register
def _(learner: ReplayedForm, mask: Any, s: int, seen: Seen, gamma: float, rng: Stream) -> float:
    q, target, clock = learner.q, learner.target, learner.clock
    _keep(learner, s, seen, rng)
    total = 0.0
    for i in range(q.shape[1]):
        y = seen.reward
        if not seen.terminated:
            y += gamma * _best_after(target, mask, seen.next_state, i)
        total += y - q[s, i, seen.action]
    if clock.steps[0] % learner.update_every == 0:
        _replay(learner, mask, gamma, rng)
    if clock.steps[0] % learner.target_every == 0:
        for state in range(q.shape[0]):
            for i in range(q.shape[1]):
                for a in range(len(mask.numbers)):
                    target[state, i, a] = q[state, i, a]
    return total / q.shape[1]


@renew.register
def _(learner: ReplayedForm, rng: Stream) -> None:
    if learner.sampled:
        learner.clock.table[0] = below(learner.q.shape[1], rng)
