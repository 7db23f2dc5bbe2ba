"""Protocols of environments: Gymnasium environments, vectors of them, and JAX environments as in gymnax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from adeu.core.contract import Array, Key

if TYPE_CHECKING:
    from gymnasium import Space


class SingleEnv(Protocol):
    """A Gymnasium environment."""

    @property
    def observation_space(self) -> Space[Any]: ...

    @property
    def action_space(self) -> Space[Any]: ...

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[object, dict[str, object]]: ...

    def step(self, action: Any, /) -> tuple[object, SupportsFloat, bool, bool, dict[str, object]]: ...


class VectorOfEnvs(Protocol):
    """A vector of Gymnasium environments."""

    @property
    def num_envs(self) -> int: ...

    @property
    def single_observation_space(self) -> Space[Any]: ...

    @property
    def single_action_space(self) -> Space[Any]: ...

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[object, dict[str, object]]: ...

    def step(
        self, actions: Any, /
    ) -> tuple[object, NDArray[np.floating], NDArray[np.bool_], NDArray[np.bool_], dict[str, object]]: ...


class GymnaxEnv(Protocol):
    """A JAX environment with the interface of gymnax; states and params are pytrees."""

    @property
    def default_params(self) -> object: ...

    def reset_env(self, key: Key, params: object) -> tuple[Array, object]: ...

    def step_env(
        self, key: Key, state: object, action: Array, params: object
    ) -> tuple[Array, object, Array, Array, Mapping[str, Array]]: ...

    def is_truncated(self, state: object, params: object) -> Array: ...

    def observation_space(self, params: object) -> object: ...

    def action_space(self, params: object) -> object: ...
