"""The settings of the deep sea, the actions that lead right, and its arrays."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adeu.envs import arguments
from adeu.envs.layouts import Ints
from adeu.envs.mdp import Mdp

ACTIONS = ("fixed", "shuffled")


@dataclasses.dataclass(frozen=True)
class Sea:
    """A sea of size x size cells: a diver sinks one row per step and finds the treasure only by always going right.

        r = treasure * [right from the last column] - move_cost/size * [right]

    Cell s lies in row s // size and column s % size; an episode starts in cell 0 and ends after `size` steps.

    Args:
        size: N, cells per side, >= 2.
        actions: which action leads right: "fixed", action 1 in every cell, or "shuffled", drawn for each cell.
        actions_seed: the seed of the shuffled actions; it gives the same sea as bsuite's mapping_seed.
        move_cost: the total cost of `size` steps to the right, >= 0.
        treasure: the reward of the treasure.

    Examples:
        >>> from adeu.envs import Sea
        >>> Sea(size=10).best_return
        0.99

    Reference: Osband et al., "Behaviour Suite for Reinforcement Learning", 2020.
    Paper: the results in the DeepSea domain.
    """

    size: int = 10
    actions: Literal["fixed", "shuffled"] = "fixed"
    actions_seed: int = 0
    move_cost: float = 0.01
    treasure: float = 1.0

    def __post_init__(self) -> None:
        self._set("size", arguments.whole(self, "size", self.size, at_least=2))
        arguments.one_of(self, "actions", self.actions, ACTIONS)
        self._set("actions_seed", arguments.whole(self, "actions_seed", self.actions_seed, at_least=0))
        self._set("move_cost", arguments.number(self, "move_cost", self.move_cost, at_least=0))
        self._set("treasure", arguments.number(self, "treasure", self.treasure))

    def _set(self, argument: str, value: float) -> None:
        object.__setattr__(self, argument, value)

    @property
    def best_return(self) -> float:
        """The return of always going right."""
        return self.treasure - self.move_cost


def right_actions(sea: Sea) -> NDArray[np.int32]:
    """Return the action that leads right in each cell, of shape (size, size)."""
    square = (sea.size, sea.size)
    if sea.actions == "fixed":
        return np.ones(square, np.int32)
    return np.random.RandomState(sea.actions_seed).binomial(1, 0.5, square).astype(np.int32)


def sea_cells(sea: Sea) -> Ints:
    """Return the reachable cells in order: in row i, columns 0 .. i."""
    return np.flatnonzero(np.tri(sea.size)).astype(np.int64)


def deep_sea_mdp(sea: Sea) -> Mdp:
    """Return the arrays of a sea, with a state for each reachable cell in order.

    Examples:
        >>> from adeu.envs import Sea, deep_sea_mdp
        >>> mdp = deep_sea_mdp(Sea(size=2))
        >>> mdp.cell.tolist(), mdp.next_state.tolist()
        ([0, 2, 3], [[1, 2], [1, 1], [2, 2]])
        >>> mdp.reward.tolist(), mdp.terminal[:, 0].tolist()
        ([[0.0, -0.005], [0.0, -0.005], [0.0, 0.995]], [False, True, True])
    """
    cell = sea_cells(sea)
    row, column = np.divmod(cell, sea.size)
    right = np.arange(2) == right_actions(sea)[row, column][:, None]
    below = np.clip(column[:, None] + np.where(right, 1, -1), 0, sea.size - 1)
    terminal = np.broadcast_to(row[:, None] == sea.size - 1, right.shape)
    here = np.arange(len(cell))[:, None]
    # Row r + 1 begins after the 1 + 2 + ... + (r + 1) states above it.
    there = ((row + 1) * (row + 2) // 2)[:, None] + below
    reward = sea.treasure * (right & (column == sea.size - 1)[:, None]) - sea.move_cost / sea.size * right
    next_state = np.where(terminal, here, there).astype(np.int32)
    return Mdp(next_state, reward, terminal.copy(), np.zeros(right.shape), 0, cell)
