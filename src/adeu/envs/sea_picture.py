"""Draws a deep sea as an RGB array and as text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adeu.envs import text, tiles
from adeu.envs.sea import Sea, sea_cells

ROCK: tiles.Color = (38, 42, 50)
"""The colour of unreachable cells."""
SURFACE, FLOOR = np.array((150, 208, 235)), np.array((30, 84, 140))
"""The colours of the water in the first and the last row."""


def draw(sea: Sea, agent: int, heat: NDArray[np.float64] | None = None) -> tiles.Image:
    """Return the picture, of shape (height, width, 3); deeper rows are darker."""
    canvas = tiles.Canvas(sea.size, ROCK)
    water, treasure = sea_cells(sea), [sea.size**2 - 1]
    depth = (water // sea.size / (sea.size - 1))[:, None]
    canvas.fill(water, (SURFACE + depth * (FLOOR - SURFACE)) if heat is None else tiles.heat_colors(heat[water]))
    if canvas.detailed:
        canvas.fill(treasure, tiles.GOAL)
        if agent not in treasure:
            canvas.letter(treasure, "G")
    else:
        canvas.dot(treasure, tiles.GOAL)
    canvas.dot([agent], tiles.AGENT)
    return canvas.image


def write(sea: Sea, agent: int, heat: NDArray[np.float64] | None = None) -> str:
    """Return text: S start, G treasure, @ diver, . water, # unreachable; a heat map replaces . by tenths 0 .. 9."""
    water = sea_cells(sea)
    marks = [(water, "." if heat is None else text.tenths(heat[water]))]
    points = [(np.array([cell]), letter) for cell, letter in ((0, "S"), (sea.size**2 - 1, "G"), (agent, "@"))]
    return text.window(sea.size, agent, marks + points)
