"""Draws a lake as text; of a large lake, only a window of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.envs.lake import Lake, path_cells, unsafe_cells

WINDOW = 31
"""The maximal number of rows and columns shown."""


def draw(lake: Lake, agent: int, heat: NDArray[np.float64] | None = None) -> str:
    """Return text: S start, G goal, @ agent, . path, x unsafe, # hole; a heat map shows tenths 0 .. 9 for . and x."""
    path, unsafe = path_cells(lake), unsafe_cells(lake)
    marks: list[tuple[Any, Any]] = [
        (cells, letter if heat is None else tenths(heat[cells])) for cells, letter in ((path, "."), (unsafe, "x"))
    ]
    points = ((path[0], "S"), (path[-1], "G"), (agent, "@"))
    return window(lake.size, agent, marks + [(np.array([cell]), letter) for cell, letter in points])


def tenths(heat: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.minimum(heat * 10, 9).astype(int).astype(str)


def window(size: int, agent: int, marks: list[tuple[Any, Any]]) -> str:
    """Draw marks (cells and their letters, later ones on top) on a background of #.

    Beyond 31 x 31 cells, show the cells around the agent, below a line with their rows and columns.
    """
    view = min(WINDOW, size)
    top, left = (min(max(place - view // 2, 0), size - view) for place in divmod(agent, size))
    letters = np.full((view, view), "#")
    for cells, letter in marks:
        row, column = cells // size - top, cells % size - left
        seen = (row >= 0) & (row < view) & (column >= 0) & (column < view)
        letters[row[seen], column[seen]] = np.broadcast_to(letter, cells.shape)[seen]
    lines = ["".join(row) for row in letters]
    if view < size:
        lines.insert(0, f"rows {top}-{top + view - 1}, columns {left}-{left + view - 1} of {size}")
    return "\n".join(lines)
