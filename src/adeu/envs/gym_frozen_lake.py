"""The lakes as Gymnasium environments."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import ArrayLike, NDArray

from adeu.envs import arguments, picture, text
from adeu.envs.lake import Lake
from adeu.envs.layouts import COLUMN_STEPS, ROW_STEPS
from adeu.envs.mdp import lake_mdp


class FrozenLake(gymnasium.Env[Any, Any]):
    """A lake with one path of ice to the goal; every other cell is a hole.

    An observation is the cell's number, row * size + column. The actions are 0 up, 1 right, 2 down, 3 left. An
    episode ends at the goal or in a hole, and is truncated after 3 * size steps.

    Args:
        render_mode: "rgb_array" (a tile of up to 32 pixels for each cell; beyond 750 x 750 cells several share a
            pixel), "ansi" (text; for a large lake, the 31 x 31 cells around the agent), or None.
        lake: the fields of `Lake`: size, layout, layout_seed, preset, reward_scale, goal, back_cost.

    Examples:
        >>> import adeu.envs, gymnasium
        >>> env = gymnasium.make("adeu/FrozenLake-v0", size=5, render_mode="ansi")
        >>> env.reset(seed=0)
        (0, {})
        >>> observation, reward, terminated, truncated, info = env.step(1)
        >>> print(env.render())
        S@###
        #.###
        #.###
        #....
        ####G

    Paper: the motivating example.
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}  # noqa: RUF012 (Gymnasium declares it so)
    safe: ClassVar[bool] = False

    def __init__(self, render_mode: str | None = None, **lake: Any) -> None:
        if render_mode is not None:
            arguments.one_of(self, "render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.lake = Lake(safe=self.safe, **lake)
        self.mdp = lake_mdp(self.lake)
        self.observation_space = Discrete(self.lake.size**2)
        self.action_space = Discrete(4)
        self._heat: NDArray[np.float64] | None = None
        self._cell, self._steps, self._ended = 0, 0, True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self._state, self._steps, self._ended = self.mdp.start, 0, False
        self._cell = int(self.mdp.cell[self._state])
        return self._cell, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self._ended:
            raise ResetNeeded(f"{type(self).__name__}: call reset before the first step and after an episode's end")
        if not self.action_space.contains(action):
            arguments.refuse(self, "action", "0 up, 1 right, 2 down or 3 left", action)
        place = self._state, action
        terminated = bool(self.mdp.terminal[place])
        self._state = int(self.mdp.next_state[place])
        self._cell = self._beyond(action) if terminated else int(self.mdp.cell[self._state])
        self._steps += 1
        truncated = not terminated and self._steps >= self.lake.max_steps
        self._ended = terminated or truncated
        info = {"cost": float(self.mdp.cost[place])} if self.safe else {}
        return self._cell, float(self.mdp.reward[place]), terminated, truncated, info

    def _beyond(self, action: int) -> int:
        """Return the cell of the hole or goal that an action leads to; such cells have no state."""
        return self._cell + int(self.lake.size * ROW_STEPS[action] + COLUMN_STEPS[action])

    def show(self, values: ArrayLike | None) -> None:
        """Draw a heat map, for example of visits or of the spread, over the agent's cells in all later renderings.

        Args:
            values: a number in [0, 1] for each of the size^2 cells, of which holes and the goal are not drawn; None
                removes the heat map.
        """
        self._heat = None if values is None else arguments.heat(self, "values", values, self.lake.size**2)

    def render(self) -> Any:
        if self.render_mode is None:
            arguments.refuse(self, "render", "an environment made with render_mode 'rgb_array' or 'ansi'", None)
        draw = picture.draw if self.render_mode == "rgb_array" else text.draw
        return draw(self.lake, self._cell, self._heat)


class SafeFrozenLake(FrozenLake):
    """A `FrozenLake` with unsafe cells beside the path, which an agent can enter but should avoid.

    `info["cost"]` is 10 for a step onto one of them and 0 for every other step.

    Args:
        render_mode: as for `FrozenLake`.
        lake: as for `FrozenLake`.

    Examples:
        >>> import adeu.envs, gymnasium
        >>> env = gymnasium.make("adeu/SafeFrozenLake-v0", size=10, render_mode="ansi")
        >>> env.reset(seed=0)
        (0, {})
        >>> [env.step(action)[4]["cost"] for action in (1, 2, 2, 2, 1)]
        [0.0, 0.0, 0.0, 0.0, 10.0]

    Paper: the safety domain.
    """

    safe = True
