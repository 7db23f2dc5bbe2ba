"""Paths from the upper left corner to the lower right one, as the action to take at each cell.

No layout touches itself: a cell of the path has no neighbours on it but its predecessor and its successor, so
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
"""What each action adds to the row and to the column."""


def l_shape(size: int, seed: int) -> Ints:
    """One step right, down the second column, along the last row but one, and down to the goal."""
    return _moves([RIGHT], [DOWN] * (size - 2), [RIGHT] * (size - 2), [DOWN])


def staircase(size: int, seed: int) -> Ints:
    """Right and down in turn."""
    return _moves([RIGHT, DOWN] * (size - 1))


def random(size: int, seed: int) -> Ints:
    """As many steps right and down, in an order drawn from the seed."""
    return np.random.default_rng(seed).permutation(_moves([RIGHT, DOWN] * (size - 1)))


def z_shape(size: int, seed: int) -> Ints:
    """Along the first row, slanting down and back by almost a third of the width, and along the last row.

    The slant stays three rows away from both, so that not even an unsafe cell between them is a shortcut; lakes
    smaller than 7 have no room for it, and their path goes straight down.
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
