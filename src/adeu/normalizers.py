"""g: maps an uncertainty of any size to a spread."""

from __future__ import annotations

import dataclasses
import math

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Normalizer


@dataclasses.dataclass(frozen=True)
class Sigmoid(Normalizer):
    """A sigmoid that rises from c/2, at an uncertainty of 0, to c.

        g(x) = c * sigmoid(x)

    Args:
        c: the largest spread.

    Examples:
        >>> import adeu
        >>> round(float(adeu.Sigmoid(c=0.2)(0.0)), 6)
        0.1

    Paper: Eq. 7, with c = 0.2.
    """

    c: float = 0.2

    def __post_init__(self) -> None:
        check.number(self, "c", above=0)

    @property
    def ceiling(self) -> float:
        return self.c

    def __call__(self, uncertainty: Array) -> Array:
        return self.c * jax.nn.sigmoid(uncertainty)


@dataclasses.dataclass(frozen=True)
class Saturating(Normalizer):
    """A saturating exponential that rises from 0, at an uncertainty of 0, to c.

        g(x) = c * (1 - exp(-x))

    Args:
        c: the largest spread.

    Examples:
        >>> import adeu
        >>> float(adeu.Saturating(c=0.2)(0.0))
        0.0

    Paper: the custom sigmoid of the appendix's ablation of g.
    """

    c: float = 0.2

    def __post_init__(self) -> None:
        check.number(self, "c", above=0)

    @property
    def ceiling(self) -> float:
        return self.c

    def __call__(self, uncertainty: Array) -> Array:
        return -self.c * jnp.expm1(-jnp.asarray(uncertainty, float))


@dataclasses.dataclass(frozen=True)
class ShiftedSigmoid(Normalizer):
    """The g of the grid example: with f = 1/(beta*sqrt(n)), trust is a shifted sigmoid of sqrt(n).

        g(x) = 1 - sigmoid(1/x - shift),  so that  trust = 1 - g(f(s)) = sigmoid(beta*sqrt(n(s)) - shift)

    Args:
        shift: the shift of the sigmoid to the right.

    Examples:
        >>> import adeu
        >>> round(float(adeu.ShiftedSigmoid(shift=2.0)(0.5)), 6)
        0.5

    Paper: the appendix's technical details of the grid ("shifted sigmoid").
    """

    shift: float = 2.0

    def __post_init__(self) -> None:
        check.number(self, "shift")

    @property
    def ceiling(self) -> float:
        return 0.5 + 0.5 * math.tanh(self.shift / 2)

    def __call__(self, uncertainty: Array) -> Array:
        x = self.shift - 1.0 / jnp.asarray(uncertainty, float)
        small = jnp.exp(-jnp.abs(x))  # jax.nn.sigmoid uses tanh, which has an error of a few ulp
        return jnp.where(x > 0, 1.0, small) / (1.0 + small)


@dataclasses.dataclass(frozen=True)
class Identity(Normalizer):
    """The uncertainty itself, for an f that is already a probability or a standard deviation.

        g(x) = x

    Examples:
        >>> import adeu
        >>> float(adeu.Identity()(0.5))
        0.5

    Paper: the instance with constant f, g(f(s)) = c.
    """

    def __call__(self, uncertainty: Array) -> Array:
        return jnp.asarray(uncertainty, float)


@dataclasses.dataclass(frozen=True)
class Clip(Normalizer):
    """The uncertainty, clipped to an interval.

        g(x) = min(max(x, low), high)

    Args:
        low: the smallest spread, >= 0.
        high: the largest spread.

    Examples:
        >>> import adeu
        >>> float(adeu.Clip(low=0.0, high=0.5)(7.0))
        0.5
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        check.number(self, "low", at_least=0)
        check.number(self, "high", above=self.low)

    @property
    def ceiling(self) -> float:
        return self.high

    def __call__(self, uncertainty: Array) -> Array:
        return jnp.clip(jnp.asarray(uncertainty, float), self.low, self.high)
