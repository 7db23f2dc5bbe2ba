"""A lake as a finite MDP in arrays, over the cells in which an agent can act."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.envs.lake import HOLE, VIOLATION, Lake, neighbours, path_cells, unsafe_cells
from adeu.envs.layouts import Ints


class Mdp(NamedTuple):
    """A deterministic finite MDP with states 0 .. S - 1.

    On a lake, state i is the path's i-th cell; the unsafe cells follow. The goal and the holes end the episode, so
    they have no states. Actions are up, right, down, left. In the deep sea every reachable cell has a state.
    """

    next_state: NDArray[np.int32]
    """(S, A); the state itself if the step ends the episode."""
    reward: NDArray[np.float64]
    terminal: NDArray[np.bool_]
    cost: NDArray[np.float64]
    start: int
    cell: Ints
    """(S,): the cell of each state."""

    def state_of(self, cells: ArrayLike) -> Ints:
        """Return the state of each cell; -1 for holes, the goal and unreachable cells."""
        return _find(cells, self.cell)


def lake_mdp(lake: Lake) -> Mdp:
    """Return the arrays of a lake.

    Examples:
        >>> from adeu.envs import Lake, lake_mdp
        >>> mdp = lake_mdp(Lake(size=4))
        >>> mdp.next_state[0].tolist(), mdp.reward[0].tolist(), mdp.terminal[0].tolist()
        ([0, 1, 0, 0], [-10.0, 0.1, -10.0, -10.0], [False, False, True, False])
        >>> mdp.state_of(mdp.cell[[2, 5]]).tolist()
        [2, 5]
    """
    path = path_cells(lake)
    steps, goal = path[:-1], path[-1]
    cell = np.concatenate([steps, unsafe_cells(lake)])
    here = np.arange(len(cell))[:, None]
    beside = neighbours(lake, cell)
    target = np.where(beside < 0, cell[:, None], beside)
    there = _find(target, cell)

    wins = target == goal
    terminal = there < 0
    forward = there == here + 1
    violates = (there >= len(steps)) & (there != here)

    scale, goal_reward = lake.rewards
    reward = np.full(target.shape, -lake.back_cost)
    reward[terminal] = HOLE
    reward[wins] = goal_reward
    reward[forward] = scale * target[forward]
    reward[violates] = 0.0  # overrides `forward`, because the first unsafe state follows the path's last
    next_state = np.where(terminal, here, there).astype(np.int32)
    return Mdp(next_state, reward, terminal, np.where(violates, VIOLATION, 0.0), 0, cell)


def _find(values: ArrayLike, known: Ints) -> Ints:
    """Return the index of each value in `known`, or -1."""
    order = np.argsort(known)
    place = order[np.searchsorted(known, values, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[place] == values, place, -1)
