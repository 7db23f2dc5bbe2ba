"""Converts observations to flat arrays for the agent, and its actions to actions of the environment's space."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.behavior import arrays

NUMBERS, WHOLE, FLAGS = {float, int, np.float32, np.float64}, {int, np.int64}, {bool, np.bool_}
"""Types whose values need no further check."""


class Reader:
    """Converts observations, rewards and actions between environments with these spaces and an agent.

    The agent counts the values of a Discrete space from 0, the environment from its `start`. Observations are copied,
    because an environment may reuse the arrays it returns.

    Args:
        observation_space: the Box or Discrete of a single environment.
        action_space: the Box or Discrete of a single environment.
    """

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self._action_space = action_space
        self._first_state = int(getattr(observation_space, "start", 0))
        self._first_action = int(getattr(action_space, "start", 0))
        self._shape: tuple[int, ...] = observation_space.shape or ()
        self._states = None if self._shape else int(observation_space.n)
        self._size = int(np.prod(self._shape))
        self.dtype = np.dtype(jnp.result_type(float))
        self._taken = np.dtype(np.int32) if self._states else arrays.compute_dtype(observation_space.dtype)
        self._largest = float(np.finfo(self.dtype).max)

    def zeros(self) -> NDArray[Any]:
        """Returns an observation of zeros."""
        return np.zeros((), np.int32) if self._states else np.zeros(self._size, self.dtype)

    def obs(self, value: Any, lead: tuple[int, ...] = ()) -> NDArray[Any]:
        """Reads an observation, or a batch with leading axes `lead`; rejects invalid values."""
        if self._states:
            return self._state(value, self._states, lead)
        if type(value) is np.ndarray and value.dtype == self._taken and value.shape == lead + self._shape:
            own = value.copy()
            arrays.check_finite("observation", own)
        else:
            read = arrays.read("observation", value, self._shape, self._taken, lead[0] if lead else None)
            own = read if lead else read[0]
        return own.astype(self.dtype, copy=False).reshape(*lead, -1)

    def _state(self, value: Any, states: int, lead: tuple[int, ...]) -> NDArray[np.int32]:
        """Reads a state index, or one per environment."""
        first = self._first_state
        if not lead and type(value) in WHOLE and 0 <= value - first < states:
            return np.array(value - first, np.int32)
        read = arrays.read("observation", value, (), self._taken, lead[0] if lead else None) - first
        if read.min() < 0 or read.max() >= states:
            raise ValueError(f"observation takes whole numbers from {first} to {first + states - 1}, got {value}")
        return read if lead else np.asarray(read[0])

    def outside(self, obs: NDArray[Any]) -> NDArray[Any]:
        """Returns a batch of observations in the environment's shape and numbering."""
        return obs + self._first_state if self._states else obs.reshape(len(obs), *self._shape)

    def number(self, name: str, value: Any, lead: tuple[int, ...] = ()) -> NDArray[Any]:
        """Reads a number, or one per environment of a vector."""
        if not lead and type(value) in NUMBERS and -self._largest <= value <= self._largest:
            return np.array(value, self.dtype)
        read = arrays.read(name, value, (), self.dtype, lead[0] if lead else None)
        return read if lead else np.asarray(read[0])

    def flag(self, name: str, value: Any, lead: tuple[int, ...] = ()) -> NDArray[np.bool_]:
        """Reads a boolean, or one per environment of a vector."""
        if not lead and type(value) in FLAGS:
            return np.array(value)
        read = arrays.read(name, value, (), np.dtype(bool), lead[0] if lead else None)
        return read if lead else np.asarray(read[0])

    def taken(self, action: Any) -> NDArray[Any]:
        """Converts an action of the environment for the agent."""
        if self._action_space.shape:
            return np.asarray(action, self.dtype)
        return np.asarray(action - self._first_action, np.int32)

    def action(self, action: NDArray[Any]) -> int | NDArray[Any]:
        """Converts an action of the agent, or a batch, for the environment; a single Discrete one to a Python int."""
        written = arrays.to_space(self._action_space, action)
        if written.ndim:
            return written
        number: int = written.item()
        return number
