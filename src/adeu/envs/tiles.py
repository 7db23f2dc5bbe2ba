"""Draws a square of cells: a tile per cell, with marks and dots."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.envs.layouts import Ints

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Color = tuple[int, int, int]

LINE: Color = (44, 52, 76)
ICE: Color = (205, 232, 247)
GOAL: Color = (255, 207, 84)
AGENT: Color = (16, 122, 87)
INK: Color = (24, 30, 48)
WHITE: Color = (255, 255, 255)
HEAT = np.array([ICE, (255, 247, 205), (254, 217, 118), (250, 155, 60), (236, 84, 18)], float)
"""Colours of the heat map at equidistant values from 0 (the colour of ice) to 1."""

TILE, SIDE = 32, 750
"""The maximal number of pixels per side of a tile and of the picture."""
PLAIN = 8
"""Tiles with fewer pixels per side have no lines, crosses or letters."""

LETTERS = {
    "S": (".###.", "#...#", "#....", ".###.", "....#", "#...#", ".###."),
    "G": (".###.", "#...#", "#....", "#.###", "#...#", "#...#", ".###."),
}


class Canvas:
    """A picture of size x size cells; beyond 750 cells per side, several cells share a pixel.

    Args:
        size: cells per side.
        ground: the background colour.
    """

    def __init__(self, size: int, ground: Color) -> None:
        self._size, self._side = size, min(size, SIDE)
        self.tile = max(1, min(TILE, SIDE // self._side))
        self.detailed = self.tile >= PLAIN
        pixels = self._side * self.tile
        self.image: Image = np.empty((pixels, pixels, 3), np.uint8)
        self._tiles = self.image.reshape(self._side, self.tile, self._side, self.tile, 3).swapaxes(1, 2)
        self._tiles[:] = self._tile(ground)

    def at(self, cells: Any) -> tuple[Ints, Ints]:
        row, column = np.divmod(np.asarray(cells, np.int64), self._size)
        return row * self._side // self._size, column * self._side // self._size

    def fill(self, cells: Any, color: Any) -> None:
        """Fill tiles with one colour, or with one colour per tile."""
        self._tiles[self.at(cells)] = self._tile(color)

    def _tile(self, color: Any) -> Any:
        """Return the pixels of a tile, with a line along two sides if it is large enough."""
        inside = np.ones((self.tile, self.tile, 1), bool)
        if self.detailed:
            inside[-1, :] = inside[:, -1] = False
        return np.where(inside, np.asarray(color)[..., None, None, :], LINE)

    def stamp(self, cells: Any, mask: Mask, color: Color) -> None:
        at = self.at(cells)
        self._tiles[at] = np.where(mask[..., None], color, self._tiles[at])

    def cross(self, cells: Any, width: float, color: Color) -> None:
        x = np.abs(np.linspace(-1, 1, self.tile))
        y = x[:, None]
        self.stamp(cells, (np.abs(x - y) < width) & (x + y < 1.1 + width), color)

    def letter(self, cells: Any, letter: str) -> None:
        """Draw a letter of 5 x 7 dots in the middle of each tile."""
        dot = max(1, self.tile // 9)
        dots = np.array([[mark == "#" for mark in line] for line in LETTERS[letter]]).repeat(dot, 0).repeat(dot, 1)
        mask = np.zeros((self.tile, self.tile), bool)
        top, left = (self.tile - dots.shape[0]) // 2, (self.tile - dots.shape[1]) // 2
        mask[top : top + dots.shape[0], left : left + dots.shape[1]] = dots
        self.stamp(cells, mask, INK)

    def dot(self, cells: Any, color: Color) -> None:
        """Draw a disc with a white rim on one tile, at least 5 pixels in radius and inside the picture."""
        radius = max(0.3 * self.tile, 5.0)
        last = len(self.image) - 1 - radius
        row, column = (np.clip((place + 0.5) * self.tile - 0.5, radius, last) for place in self.at(cells))
        y, x = np.ogrid[: self.image.shape[0], : self.image.shape[1]]
        distance = np.hypot(y - row, x - column)
        self.image[distance < radius] = WHITE
        self.image[distance < 0.8 * radius] = color


def heat_colors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    stops = np.linspace(0, 1, len(HEAT))
    return np.stack([np.interp(values, stops, channel) for channel in HEAT.T], axis=-1)
