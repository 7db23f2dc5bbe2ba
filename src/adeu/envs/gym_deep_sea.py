"""The deep sea as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import ArrayLike, NDArray

from adeu.envs import arguments, sea_picture
from adeu.envs.sea import Sea, deep_sea_mdp, right_actions


class DeepSea(gymnasium.Env[Any, Any]):
    """A treasure that is found only by `size` consecutive steps to the right, each with a cost.

    An observation is the cell's number, row * size + column. Each step leads one row down: action 1
    to the right and action 0 to the left, unless the actions are shuffled. An episode has `size` steps; the last one
    stays on the last row.

    Args:
        render_mode: "rgb_array" (a tile of up to 32 pixels for each cell), "ansi" (text; for a large sea, the 31 x 31
            cells around the diver), or None.
        sea: the fields of `Sea`: size, actions, actions_seed, move_cost, treasure.

    Examples:
        >>> import adeu.envs, gymnasium
        >>> env = gymnasium.make("adeu/DeepSea-v0", size=4, render_mode="ansi")
        >>> env.reset(seed=0)
        (0, {})
        >>> env.step(1)
        (5, -0.0025, False, False, {})
        >>> print(env.render())
        S###
        .@##
        ...#
        ...G

    Reference: Osband et al., "Behaviour Suite for Reinforcement Learning", 2020.
    Paper: the results in the DeepSea domain.
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(self, render_mode: str | None = None, **sea: Any) -> None:
        if render_mode is not None:
            arguments.one_of(self, "render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.sea = Sea(**sea)
        self.mdp = deep_sea_mdp(self.sea)
        self.observation_space = Discrete(self.sea.size**2)
        self.action_space = Discrete(2)
        self._right = right_actions(self.sea)
        self._heat: NDArray[np.float64] | None = None
        self._cell, self._ended = 0, True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self._state, self._cell, self._ended = self.mdp.start, 0, False
        return self._cell, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self._ended:
            raise ResetNeeded(f"{type(self).__name__}: call reset before the first step and after an episode's end")
        if not self.action_space.contains(action):
            arguments.refuse(self, "action", "0 or 1", action)
        place = self._state, action
        self._ended = bool(self.mdp.terminal[place])
        self._state = int(self.mdp.next_state[place])
        self._cell = self._beside(action) if self._ended else int(self.mdp.cell[self._state])
        return self._cell, float(self.mdp.reward[place]), self._ended, False, {}

    def _beside(self, action: int) -> int:
        """Return the cell that a step on the last row leads to."""
        row, column = divmod(self._cell, self.sea.size)
        to = column + (1 if action == self._right[row, column] else -1)
        return row * self.sea.size + min(max(to, 0), self.sea.size - 1)

    def show(self, values: ArrayLike | None) -> None:
        """Draw a heat map, for example of visits or of the spread, over the water in all later renderings.

        Args:
            values: a number in [0, 1] for each of the size^2 cells, of which unreachable ones are not drawn; None
                removes the heat map.
        """
        self._heat = None if values is None else arguments.heat(self, "values", values, self.sea.size**2)

    def render(self) -> Any:
        if self.render_mode is None:
            arguments.refuse(self, "render", "an environment made with render_mode 'rgb_array' or 'ansi'", None)
        draw = sea_picture.draw if self.render_mode == "rgb_array" else sea_picture.write
        return draw(self.sea, self._cell, self._heat)
