"""A lake as text, for the screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adeu.envs.lake import Lake, path_cells, unsafe_cells

WINDOW = 31
"""The most rows and columns that are shown."""


def draw(lake: Lake, agent: int, heat: NDArray[np.float64] | None = None) -> str:
    """S start, G goal, @ agent, . path, x unsafe, # hole; with a heat map, its tenths 0 .. 9 in place of . and x.

    A lake of more than 31 x 31 cells is shown around the agent, below a line that says where that is.
    """
    view = min(WINDOW, lake.size)
    top, left = (min(max(place - view // 2, 0), lake.size - view) for place in divmod(agent, lake.size))
    letters = np.full((view, view), "#")

    def write(cells: NDArray[np.int64], letter: str | NDArray[np.str_]) -> None:
        row, column = cells // lake.size - top, cells % lake.size - left
        seen = (row >= 0) & (row < view) & (column >= 0) & (column < view)
        letters[row[seen], column[seen]] = np.broadcast_to(letter, cells.shape)[seen]

    path, unsafe = path_cells(lake), unsafe_cells(lake)
    for cells, letter in ((path, "."), (unsafe, "x")):
        write(cells, letter if heat is None else np.minimum(heat[cells] * 10, 9).astype(int).astype(str))
    for cell, letter in ((path[0], "S"), (path[-1], "G"), (agent, "@")):
        write(np.array([cell]), letter)
    lines = ["".join(row) for row in letters]
    if view < lake.size:
        lines.insert(0, f"rows {top}-{top + view - 1}, columns {left}-{left + view - 1} of {lake.size}")
    return "\n".join(lines)
