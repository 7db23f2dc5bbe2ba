"""Episodes of training that are written down step by step: which ones, and as what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.contract import Decision

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
NUMBERS = 25_000
"""Of an episode that is traced by a fraction of training, at most: about 200 kB. A longer one is cut."""
Columns = Mapping[str, NDArray[np.generic]]


def check_fractions(owner: object, name: str, fractions: Sequence[float]) -> None:
    """Rejects values that are not fractions of training."""
    for fraction in fractions:
        check.as_number(owner, name, fraction, at_least=0, at_most=1)


def trace_name(fraction: float) -> str:
    """
    Examples:
        >>> trace_name(0.25)
        'at-25'
    """
    return f"at-{100 * fraction:g}"


def reached(fractions: Iterable[float], before: int, now: int, total: int) -> list[float]:
    """The fractions of `total` steps, below 1, that lie after the step `before` and not after `now`."""
    return [fraction for fraction in fractions if fraction < 1 and before < fraction * total <= now]


def most_steps(action: Sequence[int]) -> int:
    """How many steps NUMBERS suffice for, where an action has this shape."""
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
    """One entry per step; an action of several numbers has a column for each.

    Args:
        step: how many steps of training were taken before.
        best: the policy's action.
        action: the one taken.
        explored: of the decision, as `uncertainty` and `spread`.
        uncertainty: f(s).
        spread: g(f(s)).
        reward: that followed.
    """
    columns = {"step": step, "explored": explored, "uncertainty": uncertainty, "spread": spread, "reward": reward}
    for name, values in (("best", best), ("action", action)):
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}_{place}": column for place, column in enumerate(values.reshape(len(values), -1).T)}
    return columns


class EpisodeTrace:
    """An episode under way, as far as it is written down.

    Args:
        number: of the episode, if it is traced by that; 0: it is not.
        fractions: by which it is traced, in order.
        action: the shape of an action.
    """

    def __init__(self, number: int, fractions: Sequence[float], action: Sequence[int]) -> None:
        self._number, self._fractions = number, fractions
        self._most = math.inf if number else most_steps(action) if fractions else 0
        self._rows = list[tuple[object, ...]]()

    @property
    def open(self) -> bool:
        """Whether the next step is to be written down."""
        return len(self._rows) < self._most

    def add(self, step: int, best: object, decision: Decision, action: object, reward: object) -> None:
        self._rows.append((step, best, action, *decision[1:4], reward))

    def named(self, ended: bool) -> dict[str, Columns]:
        """The columns by name, such as `episode-7` or `at-25`; the last of training is one that `ended` by itself."""
        names = [f"episode-{self._number}"] if self._number else []
        names += [trace_name(each) for each in self._fractions if each < 1 or ended][-1:]
        return dict.fromkeys(names, columns_of(*map(np.array, zip(*self._rows, strict=True)))) if names else {}
