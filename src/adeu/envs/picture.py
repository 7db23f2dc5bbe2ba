"""Draws a lake as an RGB array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adeu.envs.lake import Lake, path_cells, unsafe_cells
from adeu.envs.tiles import AGENT as AGENT
from adeu.envs.tiles import GOAL as GOAL
from adeu.envs.tiles import HEAT as HEAT
from adeu.envs.tiles import ICE as ICE
from adeu.envs.tiles import INK as INK
from adeu.envs.tiles import LINE as LINE
from adeu.envs.tiles import WHITE as WHITE
from adeu.envs.tiles import Canvas, Color, Image, heat_colors

HOLE: Color = (24, 30, 48)
START: Color = (168, 226, 190)
UNSAFE: Color = (222, 45, 58)


def draw(lake: Lake, agent: int, heat: NDArray[np.float64] | None = None) -> Image:
    """Return the picture, of shape (height, width, 3).

    In a lake of more than 750 cells per side, several cells share a pixel; a pixel with a path cell shows the path.
    """
    canvas = Canvas(lake.size, HOLE)
    path, unsafe = path_cells(lake), unsafe_cells(lake)
    start, goal = path[:1], path[-1:]
    canvas.fill(unsafe, HOLE if canvas.detailed else UNSAFE)
    canvas.fill(path, ICE)
    canvas.fill(start, START)
    if heat is not None:
        warm = np.concatenate([unsafe, path])
        canvas.fill(warm, heat_colors(heat[warm]))
    canvas.fill(goal, GOAL)

    if canvas.detailed:
        canvas.cross(unsafe, 0.34, WHITE)
        canvas.cross(unsafe, 0.2, UNSAFE)
        for cell, letter in ((start, "S"), (goal, "G")):
            if agent not in cell:  # the dot would cover only part of the letter
                canvas.letter(cell, letter)
    else:
        canvas.dot(start, START)
        canvas.dot(goal, GOAL)
    canvas.dot([agent], AGENT)
    return canvas.image
