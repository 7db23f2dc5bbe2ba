"""Paths from the upper left corner to the lower right one, as a sequence of actions.

No path touches itself: the only neighbours of a path cell on the path are its predecessor and its successor, so
there is no shortcut. Every path has fewer than 3 * size steps, the step limit of an episode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

UP, RIGHT, DOWN, LEFT = range(4)
ROW_STEPS, COLUMN_STEPS = np.array([-1, 0, 1, 0]), np.array([0, 1, 0, -1])
"""The change of row and column for each action."""


def l_shape(size: int, seed: int) -> Ints:
    """Go one step right, down the second column, along the last row but one, and down to the goal."""
    return _moves([RIGHT], [DOWN] * (size - 2), [RIGHT] * (size - 2), [DOWN])


def staircase(size: int, seed: int) -> Ints:
    """Alternate between right and down."""
    return _moves([RIGHT, DOWN] * (size - 1))


def random(size: int, seed: int) -> Ints:
    """Go right and down equally often, in random order."""
    return np.random.default_rng(seed).permutation(_moves([RIGHT, DOWN] * (size - 1)))


def z_shape(size: int, seed: int) -> Ints:
    """Go along the first row, diagonally back by almost a third of the width, and along the last row.

    The diagonal stays three rows away from both rows, so that no unsafe cell between them is a shortcut. In lakes
    smaller than 7 the path goes straight down instead.
    """
    back = max(0, (size - 4) // 3)
    end = (size - 1 - back) // 2
    rows = np.linspace(3, size - 4, back).astype(np.int64)
    slant = np.insert(_moves([DOWN] * (size - 1)), rows, LEFT)
    return _moves([RIGHT] * (end + back), slant, [RIGHT] * (size - 1 - end))


Layout = Literal["L", "staircase", "random", "Z"]
LAYOUTS: dict[Layout, Callable[[int, int], Ints]] = {
    "L": l_shape,
    "staircase": staircase,
    "random": random,
    "Z": z_shape,
}


def _moves(*strokes: Any) -> Ints:
    return np.concatenate([np.asarray(stroke, np.int64) for stroke in strokes])
