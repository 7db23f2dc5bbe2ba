"""A finite MDP for the kernel: arrays over (s, a), or over the possible outcomes of (s, a)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from adeu.tabular.operation import operation
from adeu.tabular.stream import Stream, draw


class AllActions(NamedTuple):
    numbers: tuple[int, ...]
    """0 .. A - 1. The tuple's length is part of its type, so that the compiler unrolls loops over actions."""


class SomeActions(NamedTuple):
    numbers: tuple[int, ...]
    table: NDArray[np.bool_]
    """(S, A): whether each action is allowed."""


class Deterministic(NamedTuple):
    """A deterministic model: the outcome of action a in state s is at index k = s * num_actions + a."""

    num_states: int
    num_actions: int
    next_state: NDArray[np.uint32]
    reward: NDArray[np.float64]
    terminal: NDArray[np.bool_]
    cost: NDArray[np.float64]
    start: NDArray[np.float64]
    """(S,): the cumulative probabilities of the initial state."""
    mask: Any


class Stochastic(NamedTuple):
    """A stochastic model: (s, a) has the outcomes offsets[k] .. offsets[k + 1] - 1, k = s * num_actions + a."""

    num_states: int
    num_actions: int
    next_state: NDArray[np.uint32]
    reward: NDArray[np.float64]
    terminal: NDArray[np.bool_]
    cost: NDArray[np.float64]
    start: NDArray[np.float64]
    mask: Any
    offsets: NDArray[np.int64]
    cumulative: NDArray[np.float64]


Model = Deterministic | Stochastic


@operation
def outcome(model: Any, s: int, a: int, rng: Stream) -> int:
    """Return the index of the outcome in the arrays."""
    raise TypeError(f"{model} has no rule for outcome(model, s, a, rng)")


@outcome.register
def _(model: Deterministic, s: int, a: int, rng: Stream) -> int:
    return s * len(model.mask.numbers) + a


@outcome.register
def _(model: Stochastic, s: int, a: int, rng: Stream) -> int:
    k = s * len(model.mask.numbers) + a
    return draw(model.cumulative, model.offsets[k], model.offsets[k + 1], rng)


@operation
def allowed(mask: Any, s: int, a: int) -> bool:
    raise TypeError(f"{mask} has no rule for allowed(mask, s, a)")


@allowed.register
def _(mask: AllActions, s: int, a: int) -> bool:
    return True


@allowed.register
def _(mask: SomeActions, s: int, a: int) -> bool:
    return mask.table[s, a]


@register_jitable(forceinline=True)
def first_state(model: Any, rng: Stream) -> int:
    return draw(model.start, 0, model.num_states, rng)
