"""The base class of distributions over a Box with correlated noise, which D's carry stores."""

from __future__ import annotations

from typing import Any, Self

from adeu.core import check
from adeu.core.contract import Array, Carry, Key
from adeu.distributions.box_noise import _BoxNoise


class _MemoryNoise(_BoxNoise):
    """Noise that is correlated over steps. A subclass has this field, and defines `_start` and `_advance`."""

    carried: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        check.instance(self, "carried", bool)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        return super().bind(observation_space, action_space)._in_each_dimension(action_space)

    def begin(self, key: Key, carry: Carry = None) -> Carry:
        if self.carried and carry is not None:
            return carry
        self._require_range()
        return self._start(key, self._shape)

    def _start(self, key: Key, shape: tuple[int, ...]) -> Carry:
        """Return the carry before the first step, for actions of this shape."""
        raise NotImplementedError

    def _advance(self, key: Key, carry: Carry) -> tuple[Array, Carry]:
        """Return the noise of the next step, of mean 0 and variance 1, and the new carry."""
        raise NotImplementedError

    def _noise(self, key: Key, carry: Carry, shape: tuple[int, ...]) -> tuple[Array, Carry]:
        self._check_shape(shape)
        return self._advance(key, carry)
