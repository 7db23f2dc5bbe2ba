"""A lake as a picture: every cell a tile, the agent a dot above them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.envs.lake import Lake, path_cells, unsafe_cells
from adeu.envs.layouts import Ints

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Color = tuple[int, int, int]

HOLE: Color = (24, 30, 48)
LINE: Color = (44, 52, 76)
ICE: Color = (205, 232, 247)
START: Color = (168, 226, 190)
GOAL: Color = (255, 207, 84)
UNSAFE: Color = (222, 45, 58)
AGENT: Color = (16, 122, 87)
INK: Color = (24, 30, 48)
WHITE: Color = (255, 255, 255)
HEAT = np.array([ICE, (255, 247, 205), (254, 217, 118), (250, 155, 60), (236, 84, 18)], float)
"""From 0, which leaves the ice as it is, to 1, in even steps."""

TILE, SIDE = 32, 750
"""The most pixels of a tile and, where tiles can shrink to that, of the picture."""
PLAIN = 8
"""Tiles of fewer pixels than this have neither lines, crosses nor letters; start and goal are dots."""

LETTERS = {
    "S": (".###.", "#...#", "#....", ".###.", "....#", "#...#", ".###."),
    "G": (".###.", "#...#", "#....", "#.###", "#...#", "#...#", ".###."),
}


def draw(lake: Lake, agent: int, heat: NDArray[np.float64] | None = None) -> Image:
    """The picture, of shape (height, width, 3).

    Of a lake of more than 750 cells a side, several cells share a pixel; the path among them shows.
    """
    side = min(lake.size, SIDE)
    tile = max(1, min(TILE, SIDE // side))
    image = np.empty((side * tile, side * tile, 3), np.uint8)
    tiles = image.reshape(side, tile, side, tile, 3).swapaxes(1, 2)

    def at(*cells: Any) -> tuple[Ints, Ints]:
        row, column = np.divmod(np.concatenate(cells), lake.size)
        return row * side // lake.size, column * side // lake.size

    path, unsafe, detailed = path_cells(lake), unsafe_cells(lake), tile >= PLAIN
    start, goal = path[:1], path[-1:]
    tiles[:] = _tile(tile, HOLE)
    tiles[at(unsafe)] = _tile(tile, HOLE if detailed else UNSAFE)
    tiles[at(path)] = _tile(tile, ICE)
    tiles[at(start)] = _tile(tile, START)
    if heat is not None:
        warm = np.concatenate([unsafe, path])
        tiles[at(warm)] = _tile(tile, _heat_colors(heat[warm])[:, None, None])
    tiles[at(goal)] = _tile(tile, GOAL)

    if detailed:
        _stamp(tiles, at(unsafe), _cross(tile, 0.34), WHITE)
        _stamp(tiles, at(unsafe), _cross(tile, 0.2), UNSAFE)
        for cell, letter in ((start, "S"), (goal, "G")):
            if agent not in cell:  # the dot would leave scraps of the letter
                _stamp(tiles, at(cell), _letter(tile, letter), INK)
    else:
        _dot(image, at(start), tile, START)
        _dot(image, at(goal), tile, GOAL)
    _dot(image, at([agent]), tile, AGENT)
    return image


def _tile(tile: int, color: Any) -> Any:
    """Tiles of one colour, with a line along two of their sides if they are large enough."""
    inside = np.ones((tile, tile, 1), bool)
    if tile >= PLAIN:
        inside[-1, :] = inside[:, -1] = False
    return np.where(inside, color, LINE)


def _heat_colors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    stops = np.linspace(0, 1, len(HEAT))
    return np.stack([np.interp(values, stops, channel) for channel in HEAT.T], axis=-1)


def _cross(tile: int, width: float) -> Mask:
    x = np.abs(np.linspace(-1, 1, tile))
    y = x[:, None]
    mask: Mask = (np.abs(x - y) < width) & (x + y < 1.1 + width)
    return mask


def _letter(tile: int, letter: str) -> Mask:
    """A letter of 5 x 7 dots in the tile's middle."""
    dot = max(1, tile // 9)
    dots = np.array([[mark == "#" for mark in line] for line in LETTERS[letter]]).repeat(dot, 0).repeat(dot, 1)
    mask = np.zeros((tile, tile), bool)
    top, left = (tile - dots.shape[0]) // 2, (tile - dots.shape[1]) // 2
    mask[top : top + dots.shape[0], left : left + dots.shape[1]] = dots
    return mask


def _stamp(tiles: Image, at: tuple[Ints, Ints], mask: Mask, color: Color) -> None:
    tiles[at] = np.where(mask[..., None], color, tiles[at])


def _dot(image: Image, at: tuple[Ints, Ints], tile: int, color: Color) -> None:
    """A disc with a white rim over one tile, large enough to be found and whole even in a corner."""
    radius = max(0.3 * tile, 5.0)
    row, column = (np.clip((place + 0.5) * tile - 0.5, radius, len(image) - 1 - radius) for place in at)
    y, x = np.ogrid[: image.shape[0], : image.shape[1]]
    distance = np.hypot(y - row, x - column)
    image[distance < radius] = WHITE
    image[distance < 0.8 * radius] = color
