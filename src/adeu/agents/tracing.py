"""Records selected training episodes step by step: selects the episodes and defines the columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.contract import Decision

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
NUMBERS = 25_000
"""The most numbers recorded of an episode selected by a fraction of training, about 200 kB; the rest is dropped."""
Columns = Mapping[str, NDArray[np.generic]]


def check_fractions(owner: object, name: str, fractions: Sequence[float]) -> None:
    """Rejects values that are not fractions of training."""
    for fraction in fractions:
        check.as_number(owner, name, fraction, at_least=0, at_most=1)


def trace_name(fraction: float) -> str:
    """Returns the name of the trace at a fraction of training.

    Examples:
        >>> trace_name(0.25)
        'at-25'
    """
    return f"at-{100 * fraction:g}"


def reached(fractions: Iterable[float], before: int, now: int, total: int) -> list[float]:
    """Returns the fractions below 1 for which `before < fraction * total <= now`, in steps."""
    return [fraction for fraction in fractions if fraction < 1 and before < fraction * total <= now]


def most_steps(action: Sequence[int]) -> int:
    """Returns the number of steps that fit into NUMBERS, for actions of this shape."""
    return NUMBERS // (5 + 2 * math.prod(action))


def columns_of(
    step: NDArray[np.generic],
    best: NDArray[np.generic],
    action: NDArray[np.generic],
    explored: NDArray[np.generic],
    uncertainty: NDArray[np.generic],
    spread: NDArray[np.generic],
    reward: NDArray[np.generic],
) -> Columns:
    """Returns columns with one entry per step; an action of several numbers has a column for each.

    Args:
        step: the number of training steps before.
        best: the policy's action.
        action: the action taken.
        explored: whether the step explored.
        uncertainty: f(s).
        spread: g(f(s)).
        reward: the reward of the step.
    """
    columns = {"step": step, "explored": explored, "uncertainty": uncertainty, "spread": spread, "reward": reward}
    for name, values in (("best", best), ("action", action)):
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}_{place}": column for place, column in enumerate(values.reshape(len(values), -1).T)}
    return columns


class EpisodeTrace:
    """Records an episode in progress.

    Args:
        number: the number of the episode if it is selected by number, else 0.
        fractions: the fractions of training that select the episode, in ascending order.
        action: the shape of an action.
    """

    def __init__(self, number: int, fractions: Sequence[float], action: Sequence[int]) -> None:
        self._number, self._fractions = number, fractions
        self._most = math.inf if number else most_steps(action) if fractions else 0
        self._rows = list[tuple[object, ...]]()

    @property
    def open(self) -> bool:
        """Whether to record the next step."""
        return len(self._rows) < self._most

    def add(self, step: int, best: object, decision: Decision, action: object, reward: object) -> None:
        self._rows.append((step, best, action, *decision[1:4], reward))

    def named(self, ended: bool) -> dict[str, Columns]:
        """Returns the columns by name, such as `episode-7` or `at-25`; `at-100` only if the episode `ended`."""
        names = [f"episode-{self._number}"] if self._number else []
        names += [trace_name(each) for each in self._fractions if each < 1 or ended][-1:]
        return dict.fromkeys(names, columns_of(*map(np.array, zip(*self._rows, strict=True)))) if names else {}
