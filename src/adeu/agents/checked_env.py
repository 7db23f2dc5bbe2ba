"""A Gymnasium environment, or a vector of them, whose answers are checked: errors name it, the call and the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.agents.reading import Reader

Place = Callable[[], str]
"""Describes where in the training a call is made; only called for an error message."""


class EnvStep(NamedTuple):
    """What a step led to, read and checked; in a vector, with an entry for each environment."""

    obs: NDArray[Any]
    reward: NDArray[Any]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    info: Mapping[str, Any]
    cost: NDArray[Any] | None
    """From `info`, where it has one."""
    paid: Any
    """The reward as the environment returned it."""


class CheckedEnv:
    """Checks shapes, types and, in the precision that JAX computes in, finiteness against the spaces, at every call.

    Args:
        env: to reset and step; what it raises itself passes through unchanged.
        reader: of the spaces of a single environment.
        lead: the number of environments of a vector, `()` for a single one.
    """

    def __init__(self, env: Any, reader: Reader, lead: tuple[int, ...] = ()) -> None:
        self._env, self._reader, self._lead = env, reader, lead

    def reset(self, place: Place, **arguments: Any) -> NDArray[Any]:
        """The first observation."""
        returned = self._env.reset(**arguments)
        try:
            obs, _ = _values(returned, ("observation", "info"))
            return self._reader.obs(obs, self._lead)
        except ValueError as error:
            raise self.named("reset", place, error) from None

    def step(self, place: Place, action: Any) -> EnvStep:
        returned, reader, lead = self._env.step(action), self._reader, self._lead
        try:
            obs, paid, terminated, truncated, info = _values(
                returned, ("observation", "reward", "terminated", "truncated", "info")
            )
            return EnvStep(
                reader.obs(obs, lead),
                reader.number("reward", paid, lead),
                reader.flag("terminated", terminated, lead),
                reader.flag("truncated", truncated, lead),
                info,
                reader.number("info['cost']", info["cost"], lead) if "cost" in info else None,
                paid,
            )
        except ValueError as error:
            raise self.named("step", place, error) from None

    def named(self, call: str, place: Place, error: ValueError) -> ValueError:
        """The error, prefixed with the names of the environment and the call."""
        return ValueError(f"{self._env}: {call}() {place()}: {error}")


def _values(returned: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    takes = f"it must return ({', '.join(names)})"
    if not isinstance(returned, tuple) or len(returned) != len(names):
        length = f" of {len(returned)}" if isinstance(returned, tuple | list) else ""
        raise ValueError(f"{takes}, got a {type(returned).__name__}{length}")
    if not isinstance(returned[-1], Mapping):
        raise ValueError(f"info takes a mapping, got a {type(returned[-1]).__name__}")
    return returned
