"""The settings of a lake, and its cells that are not holes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adeu.envs import arguments
from adeu.envs.layouts import COLUMN_STEPS, LAYOUTS, ROW_STEPS, Ints, Layout

HOLE = -10.0
"""The reward for falling into a hole."""
VIOLATION = 10.0
"""The cost of entering an unsafe cell, in `info["cost"]`."""
UNSAFE_EVERY = 4


def _sum_to(n: int) -> int:
    return n * (n + 1) // 2


PRESETS: dict[str, Callable[[int], tuple[float, float]]] = {
    "table": lambda size: (1 / _sum_to(size), 1e5),
    "printed": lambda size: (size / _sum_to(size**2), 1e4),
}
"""Each maps the size to the reward's scale and the goal's reward."""


@dataclasses.dataclass(frozen=True)
class Lake:
    """A frozen lake of size x size cells with one path to the goal; every other cell is a hole.

        r(s) = reward_scale * s  for a step forward onto cell s

    The goal pays `goal` and a hole -10; both end the episode. A step back along the path or into the border pays
    -back_cost. Cell s lies in row s // size and column s % size; the path leads from cell 0 to cell size^2 - 1.

    Args:
        size: cells per side, >= 3.
        layout: the path's shape: "L", "staircase", "random" (steps right and down, in random order) or "Z".
        layout_seed: the seed of the random layout.
        preset: the defaults of reward_scale and goal: "table" (1 / sum_{i=0}^{size} i and 1e5, which adds up to the
            paper's 104,487) or "printed" (size / sum_{i=0}^{size^2} i and 1e4, the paper's formula).
        reward_scale: replaces the preset's.
        goal: replaces the preset's.
        back_cost: the cost of a step that is not forward, >= 0. At 0, moving back and forth is profitable.
        safe: whether there are unsafe cells: next to every 4th cell of the path, towards the middle of the lake.
            Entering one pays 0 and is a violation; the step back onto the path pays -back_cost.

    Examples:
        >>> from adeu.envs.lake import Lake, path_cells
        >>> path_cells(Lake(size=4)).tolist()
        [0, 1, 5, 9, 10, 11, 15]

    Paper: the motivating example, its technical details in the appendix, and the safety domain.
    """

    size: int = 1500
    layout: Layout = "L"
    layout_seed: int = 0
    preset: Literal["table", "printed"] = "table"
    reward_scale: float | None = None
    goal: float | None = None
    back_cost: float = 10.0
    safe: bool = False

    def __post_init__(self) -> None:
        self._set("size", arguments.whole(self, "size", self.size, at_least=3))
        arguments.one_of(self, "layout", self.layout, LAYOUTS)
        self._set("layout_seed", arguments.whole(self, "layout_seed", self.layout_seed, at_least=0))
        arguments.one_of(self, "preset", self.preset, PRESETS)
        for argument in ("reward_scale", "goal"):
            if getattr(self, argument) is not None:
                self._set(argument, arguments.number(self, argument, getattr(self, argument)))
        self._set("back_cost", arguments.number(self, "back_cost", self.back_cost, at_least=0))
        if not isinstance(self.safe, bool):
            arguments.refuse(self, "safe", "a bool", self.safe)

    def _set(self, argument: str, value: float) -> None:
        object.__setattr__(self, argument, value)

    @property
    def max_steps(self) -> int:
        """The number of steps after which an episode is truncated."""
        return 3 * self.size

    @property
    def rewards(self) -> tuple[float, float]:
        """The reward's scale and the goal's reward."""
        scale, goal = PRESETS[self.preset](self.size)
        return scale if self.reward_scale is None else self.reward_scale, goal if self.goal is None else self.goal


def path_cells(lake: Lake) -> Ints:
    """Return the cells of the path from start to goal."""
    moves = LAYOUTS[lake.layout](lake.size, lake.layout_seed)
    return np.concatenate([[0], np.cumsum((lake.size * ROW_STEPS + COLUMN_STEPS)[moves])])


def unsafe_cells(lake: Lake) -> Ints:
    """Return the unsafe cells: next to every 4th cell of the path, on the side towards the middle of the lake.

    All of them lie on chessboard squares of the same colour, so no two are neighbours.
    """
    if not lake.safe:
        return np.empty(0, np.int64)
    path = path_cells(lake)
    beside = path[UNSAFE_EVERY:-1:UNSAFE_EVERY]
    cells = neighbours(lake, beside)
    distance = np.where((cells < 0) | np.isin(cells, path), np.inf, _from_middle(lake, cells))
    nearest = np.arange(len(beside)), distance.argmin(axis=1)
    inner: Ints = cells[nearest][distance[nearest] < _from_middle(lake, beside)]
    return inner


def _from_middle(lake: Lake, cells: Ints) -> NDArray[np.float64]:
    row, column = np.divmod(cells, lake.size)
    return np.hypot(row - (lake.size - 1) / 2, column - (lake.size - 1) / 2)


def neighbours(lake: Lake, cells: Ints) -> Ints:
    """Return the cell that each action leads to, of shape (cells, 4); -1 beyond the border."""
    row = cells[:, None] // lake.size + ROW_STEPS
    column = cells[:, None] % lake.size + COLUMN_STEPS
    inside = (row >= 0) & (row < lake.size) & (column >= 0) & (column < lake.size)
    return np.where(inside, lake.size * row + column, -1)
