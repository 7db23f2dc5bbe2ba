"""The greedy policy's expected return in a stochastic table, without sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.tabular.decision_forms import advise
from adeu.tabular.model import Stochastic


def expected_return(model: Stochastic, q: NDArray[np.float64], max_steps: int, guard: Any) -> float:
    """Return the expected undiscounted return of a greedy episode of at most `max_steps`, by dynamic programming.

    Args:
        model: the model.
        q: (S, A), -inf for actions that are not allowed; ties are broken at random.
        max_steps: the number of steps after which an episode is truncated.
        guard: the guard's form; its advice is followed.
    """
    best = q == q.max(axis=1, keepdims=True)
    advice = np.array([advise(guard, s) for s in range(model.num_states)])
    advised = advice >= 0
    best[advised] = np.arange(model.num_actions) == advice[advised, None]
    policy = best / best.sum(axis=1, keepdims=True)
    starts, counts = model.offsets[:-1], np.diff(model.offsets)
    probability = np.diff(model.cumulative, prepend=0.0)
    probability[starts] = model.cumulative[starts]
    weight = probability * np.repeat(policy.ravel(), counts)
    state = np.repeat(np.arange(model.num_states), model.num_actions).repeat(counts)
    values = np.zeros(model.num_states)
    for _ in range(max_steps):
        after = model.reward + np.where(model.terminal, 0.0, values[model.next_state])
        values = np.bincount(state, weight * after, model.num_states).astype(float)
    return float(np.diff(model.start, prepend=0.0) @ values)
