"""Base of the tasks in JAX with a step limit."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

Array = jax.Array
Stepped = tuple[Array, "Timed", Array, Array, dict[str, Any]]
"""The result of `step_env`: observation, state, reward, whether the episode terminated, and info."""


class Timed(NamedTuple):
    place: Array
    """The physical state; most tasks return it as the observation."""
    time: Array


def started(place: Array) -> Timed:
    """Return the initial state of an episode."""
    return Timed(place, jnp.zeros((), jnp.int32))


@dataclasses.dataclass(frozen=True)
class TimedTask:
    """A task with the interface of a gymnax environment that takes no params.

    Args:
        limit: the number of steps after which an episode is truncated.
    """

    limit: int

    default_params = None

    def is_truncated(self, state: Timed, params: Any) -> Array:
        return state.time >= self.limit
