"""Builds and checks models from arrays, transition tables and Gymnasium environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.core import check
from adeu.envs.mdp import Mdp
from adeu.tabular.array_check import as_array
from adeu.tabular.model import AllActions, Deterministic, SomeActions, Stochastic

ROUNDING = 1e-6
"""The tolerance for the sum of probabilities."""


def from_arrays(
    next_state: ArrayLike,
    reward: ArrayLike,
    terminal: ArrayLike,
    cost: ArrayLike = 0.0,
    start: ArrayLike | int = 0,
    mask: ArrayLike | None = None,
) -> Deterministic:
    """Build a deterministic model from arrays over states and actions.

    Args:
        next_state: (S, A), the next state; any state if the step ends the episode.
        reward: (S, A), the reward.
        terminal: (S, A), whether the step ends the episode.
        cost: (S, A), the cost, or a number.
        start: the initial state, or (S,) probabilities.
        mask: (S, A), which actions are allowed; None for all.

    Examples:
        >>> import adeu
        >>> corridor = adeu.tabular.from_arrays([[0, 1], [0, 1]], [[0, 0], [0, 1]], [[False, False], [False, True]])
        >>> corridor.num_states, corridor.num_actions
        (2, 2)
    """
    me = "from_arrays"
    size = np.shape(next_state)
    if len(size) != 2 or 0 in size:
        check.refuse(me, "next_state", "an array of shape (states, actions)", f"shape {size}")
    where = as_array(me, "next_state", next_state, size, np.int64)
    if where.min() < 0 or where.max() >= size[0]:
        outside = where[(where < 0) | (where >= size[0])][0]
        check.refuse(me, "next_state", f"states 0 .. {size[0] - 1}", int(outside))
    return Deterministic(
        size[0],
        size[1],
        where.astype(np.uint32).ravel(),
        as_array(me, "reward", reward, size, np.float64).ravel(),
        as_array(me, "terminal", terminal, size, np.bool_).ravel(),
        as_array(me, "cost", cost, size, np.float64).ravel(),
        _start(me, start, size[0]),
        _mask(me, mask, size),
    )


def from_mdp(mdp: Mdp) -> Deterministic:
    """Build the model of a lake or a deep sea."""
    return from_arrays(mdp.next_state, mdp.reward, mdp.terminal, mdp.cost, mdp.start)


def from_table(
    P: Mapping[int, Mapping[int, Any]], start: ArrayLike | int = 0, mask: ArrayLike | None = None
) -> Stochastic:
    """Build a stochastic model from a transition table in the format of Gymnasium's toy environments.

    Args:
        P: `P[s][a]` is a list of (probability, next state, reward, terminated), for states 0 .. S - 1.
        start: the initial state, or (S,) probabilities.
        mask: (S, A), which actions are allowed; None for all.

    Examples:
        >>> import adeu
        >>> coin = adeu.tabular.from_table({0: {0: [(0.5, 0, 0.0, False), (0.5, 0, 1.0, True)]}})
        >>> coin.cumulative.tolist()
        [0.5, 1.0]
    """
    me = "from_table"
    size = len(P), len(P[0]) if 0 in P else 0
    if size[1] == 0 or set(P) != set(range(size[0])):
        check.refuse(me, "P", "states 0 .. S - 1 with actions each", sorted(P))
    rows: list[Any] = []
    offsets, cumulative = [0], []
    for s in range(size[0]):
        if set(P[s]) != set(range(size[1])):
            check.refuse(me, f"P[{s}]", f"actions 0 .. {size[1] - 1}", sorted(P[s]))
        for a in range(size[1]):
            outcomes = [tuple(row) for row in P[s][a]]
            if not outcomes or any(len(row) != 4 for row in outcomes):
                check.refuse(me, f"P[{s}][{a}]", "(probability, next state, reward, terminated) each", P[s][a])
            cumulative.append(_cumulative(me, f"P[{s}][{a}]", [row[0] for row in outcomes]))
            rows.extend(outcomes)
            offsets.append(len(rows))
    _, where, reward, terminal = zip(*rows, strict=True)
    outside = [s for s in where if not 0 <= s < size[0]]
    if outside:
        check.refuse(me, "P", f"next states 0 .. {size[0] - 1}", outside[0])
    total = (len(rows),)
    return Stochastic(
        *size,
        as_array(me, "next states", where, total, np.uint32),
        as_array(me, "rewards", reward, total, np.float64),
        as_array(me, "terminated", terminal, total, np.bool_),
        np.zeros(total),
        _start(me, start, size[0]),
        _mask(me, mask, size),
        np.array(offsets),
        np.concatenate(cumulative),
    )


def from_gymnasium(env: Any) -> Stochastic:
    """Build the model of an environment with a transition table `P`: FrozenLake, CliffWalking, Taxi (with its mask).

    Examples:
        >>> import adeu, gymnasium
        >>> adeu.tabular.from_gymnasium(gymnasium.make("FrozenLake-v1")).num_states
        16
    """
    table = getattr(env.unwrapped, "P", None)
    if table is None:
        check.refuse("from_gymnasium", "env", "an environment with a transition table P", env)
    start = getattr(env.unwrapped, "initial_state_distrib", 0)
    action_mask = getattr(env.unwrapped, "action_mask", None)
    mask = None if action_mask is None else np.array([action_mask(s) for s in range(len(table))], bool)
    return from_table(table, start, mask)


def _cumulative(owner: str, argument: str, probabilities: Any) -> NDArray[np.float64]:
    values = as_array(owner, argument, probabilities, np.shape(probabilities), np.float64)
    if (values < 0).any() or abs(values.sum() - 1) > ROUNDING:
        check.refuse(owner, argument, "probabilities >= 0 that add up to 1", f"a sum of {values.sum():g}")
    return np.cumsum(values)


def _start(owner: str, start: ArrayLike | int, num_states: int) -> NDArray[np.float64]:
    if np.ndim(start) == 0:
        if not 0 <= check.as_whole(owner, "start", start, at_least=0) < num_states:
            check.refuse(owner, "start", f"a state 0 .. {num_states - 1}", start)
        start = np.arange(num_states) == start
    elif np.shape(start) != (num_states,):
        check.refuse(owner, "start", f"a state, or {num_states} probabilities", f"shape {np.shape(start)}")
    return _cumulative(owner, "start", start)


def _mask(owner: str, mask: ArrayLike | None, size: tuple[int, int]) -> AllActions | SomeActions:
    if mask is None:
        return AllActions(tuple(range(size[1])))
    table = as_array(owner, "mask", mask, size, np.bool_)
    if not table.any(axis=1).all():
        check.refuse(owner, "mask", "an allowed action in every state", f"none in {table.any(axis=1).argmin()}")
    return SomeActions(tuple(range(size[1])), table)
