"""A task in JAX as a Gymnasium environment."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium.error import ResetNeeded

from adeu.envs import arguments
from adeu.envs.continuous_lake_jax import JaxContinuousLake
from adeu.envs.pendulum_jax import JaxPendulum
from adeu.envs.point_maze_jax import JaxPointMaze
from adeu.envs.swing_up_jax import JaxSwingUp

TASKS: dict[str, Any] = {
    "SparsePendulum": functools.partial(JaxPendulum, sparse=True),
    "SwingUp": JaxSwingUp,
    "PointMaze": JaxPointMaze,
    "ContinuousLake": JaxContinuousLake,
}


class GymTask(gymnasium.Env[Any, Any]):
    """A Gymnasium environment for one of the tasks implemented only in JAX; it calls the same functions.

    Actions outside the Box are clipped, as in the task's equations.

    Args:
        task: "SparsePendulum", "SwingUp", "PointMaze" or "ContinuousLake"; given by the ids
            `adeu/SparsePendulum-v0` and so on.
        fields: fields of the task, such as `limit`.

    Examples:
        >>> import adeu.envs, gymnasium
        >>> env = gymnasium.make("adeu/PointMaze-v0")
        >>> obs, info = env.reset(seed=0)
        >>> obs, reward, terminated, truncated, info = env.step([1.0, 0.0])
        >>> obs.shape, reward, terminated, truncated
        ((2,), 0.0, False, False)
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(self, task: str, **fields: Any) -> None:
        arguments.one_of(self, "task", task, TASKS)
        self.task = TASKS[task](**fields)
        self.observation_space = self.task.observation_space()
        self.action_space = self.task.action_space()
        self._reset, self._step = _compile(self.task)
        self._state: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        obs, self._state = self._reset(self.np_random.integers(2**32, dtype=np.uint32))
        return np.array(obs, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._state is None:
            raise ResetNeeded(f"{type(self).__name__}: call reset before the first step and after an episode's end")
        push = np.asarray(action, np.float32)
        if push.shape != self.action_space.shape or not np.isfinite(push).all():
            arguments.refuse(self, "action", f"finite numbers of shape {self.action_space.shape}", action)
        obs, state, reward, terminated, truncated = self._step(self._state, push)
        ended = bool(terminated), bool(truncated) and not terminated
        self._state = None if any(ended) else state
        return np.array(obs, np.float32), float(reward), *ended, {}


@functools.lru_cache(maxsize=64)
def _compile(task: Any) -> tuple[Any, Any]:
    """Return compiled reset (from a seed) and step functions, shared by all environments with equal tasks."""

    def reset(seed: jax.Array) -> Any:
        return task.reset_env(jax.random.key(seed), None)

    def step(state: Any, action: jax.Array) -> Any:
        obs, after, reward, terminated, _ = task.step_env(None, state, action, None)
        return obs, after, reward, terminated, task.is_truncated(after, None)

    return jax.jit(reset), jax.jit(step)
