"""Between an environment's numbers and an agent's: observations as flat arrays, actions as the space takes them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.behavior.arrays import to_space


class Reader:
    """Reads the observations and rewards of environments with these spaces, and writes their actions.

    A Discrete counts from 0 inside, from its `start` outside. What is read is a copy: an environment may write into
    what it returned.

    Args:
        observation_space: a Box or a Discrete, of a single environment.
        action_space: likewise.
    """

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self._action_space = action_space
        self._first_state = int(getattr(observation_space, "start", 0))
        self._first_action = int(getattr(action_space, "start", 0))
        self._discrete = not observation_space.shape
        self._size = int(np.prod(observation_space.shape))
        self.dtype = np.dtype(jnp.result_type(float))

    def zeros(self) -> NDArray[Any]:
        """An observation of zeros."""
        return np.zeros((), np.int32) if self._discrete else np.zeros(self._size, self.dtype)

    def obs(self, value: Any, lead: tuple[int, ...] = ()) -> NDArray[Any]:
        """One observation, or a batch with `lead` in front."""
        if self._discrete:
            return np.asarray(value - self._first_state, np.int32)
        return np.array(value, self.dtype).reshape(*lead, -1)

    def reward(self, value: Any) -> NDArray[Any]:
        return np.array(value, self.dtype)

    def taken(self, action: Any) -> NDArray[Any]:
        """An action of the environment as the agent sees it."""
        if self._action_space.shape:
            return np.asarray(action, self.dtype)
        return np.asarray(action - self._first_action, np.int32)

    def action(self, action: NDArray[Any]) -> int | NDArray[Any]:
        """The agent's action as the environment takes it, a Python int in a Discrete space; or those of a vector."""
        written = to_space(self._action_space, action)
        if written.ndim:
            return written
        number: int = written.item()
        return number


def check_finite(env: object, call: str, place: str, **values: NDArray[Any] | float) -> None:
    """Rejects NaN and infinity; `place` says where in the training."""
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise ValueError(f"{env}: {call}() returned the {name} {value} {place}; it takes finite numbers")
