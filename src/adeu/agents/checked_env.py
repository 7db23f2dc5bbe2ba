"""Checks the return values of a Gymnasium environment or vector; errors name the environment, call and step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.agents.reading import Reader

Place = Callable[[], str]
"""Describes the current point of training; called only for error messages."""


class EnvStep(NamedTuple):
    """The checked results of a step; in a vector, with an entry per environment."""

    obs: NDArray[Any]
    reward: NDArray[Any]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    info: Mapping[str, Any]
    cost: NDArray[Any] | None
    """The cost in `info`; None if it has none."""
    paid: Any
    """The reward as the environment returned it."""


class CheckedEnv:
    """Checks shapes, types and finiteness (in JAX's default precision) against the spaces at every call.

    Args:
        env: the environment; its own exceptions pass through unchanged.
        reader: a `Reader` for the spaces of a single environment.
        lead: `(num_envs,)` for a vector, `()` for a single environment.
    """

    def __init__(self, env: Any, reader: Reader, lead: tuple[int, ...] = ()) -> None:
        self._env, self._reader, self._lead = env, reader, lead

    def reset(self, place: Place, **arguments: Any) -> NDArray[Any]:
        """Resets the environment and returns the first observation."""
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
        """Returns the error, prefixed with the environment, the call and the point of training."""
        return ValueError(f"{self._env}: {call}() {place()}: {error}")


def _values(returned: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    takes = f"it must return ({', '.join(names)})"
    if not isinstance(returned, tuple) or len(returned) != len(names):
        length = f" of {len(returned)}" if isinstance(returned, tuple | list) else ""
        raise ValueError(f"{takes}, got a {type(returned).__name__}{length}")
    if not isinstance(returned[-1], Mapping):
        raise ValueError(f"info takes a mapping, got a {type(returned[-1]).__name__}")
    return returned
