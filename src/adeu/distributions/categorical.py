"""D: a softmax over n actions."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, State
from adeu.distributions.discrete import _Discrete, best, choose


@dataclasses.dataclass(frozen=True)
class Categorical(_Discrete):
    """A softmax over the preferences, which becomes uniform as the spread grows; for Discrete spaces.

        p(a) = softmax(trust * q(s, a) / temperature),  trust = 1 - spread

    A spread of 1 is exactly uniform. A spread of 0 is the plain softmax, which is close to greedy only if preferences
    differ by much more than the temperature: with Q-values between 0 and 1, use 0.01 rather than 1. A decision counts
    as explored if the action is not among the best.

    Args:
        temperature: the temperature of the softmax at a spread of 0, in units of the preferences.

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Categorical()
        >>> [round(float(p), 4) for p in D.probabilities(jax.numpy.array([1.0, 0.0]), spread=0.0)]
        [0.7311, 0.2689]
        >>> [float(p) for p in D.probabilities(jax.numpy.array([1.0, 0.0]), spread=1.0)]
        [0.5, 0.5]

    Paper: the appendix's grid example, Eq. "motivation_example_adeu".
    """

    temperature: float = 1.0

    def __post_init__(self) -> None:
        check.number(self, "temperature", at_least=1e-30)

    def probabilities(self, center: Array, spread: Array, action_mask: Array | None = None) -> Array:
        center = jnp.asarray(center, float)
        preferences = self._preferences(center, action_mask)
        trust = (1.0 - jnp.clip(spread, 0.0, 1.0)) / self.temperature
        advantage, lost = _difference(center, jnp.max(preferences))
        # A float32 logit of 20 has an error of about 1e-6; p(a) is corrected for the rounding errors.
        logit, also_lost = _product(trust, jnp.maximum(advantage, float(np.finfo(center.dtype).min)))
        correction = jnp.nan_to_num(trust * lost + also_lost, nan=0.0, posinf=0.0, neginf=0.0)
        weights = jnp.where(jnp.isneginf(preferences), 0.0, jnp.exp(logit) * (1.0 + correction))
        return weights / jnp.sum(weights)

    def sample(
        self,
        key: Key,
        state: State,
        carry: Carry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        action = choose(key, self.probabilities(center, spread, action_mask))
        explored = ~best(self._preferences(center, action_mask))[action]
        return action, explored, carry

    def exploit(self, key: Key, state: State, center: Array, action_mask: Array | None = None, **given: Any) -> Array:
        return choose(key, best(self._preferences(center, action_mask)))


def _difference(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded a - b, and its rounding error (Knuth)."""
    rounded = a - b
    b_seen = a - rounded
    return rounded, (a - (rounded + b_seen)) - (b - b_seen)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded a * b, and its rounding error (Dekker)."""

    def halves(x: Array) -> tuple[Array, Array]:
        scaled = 4097.0 * x
        high = scaled - (scaled - x)
        return high, x - high

    rounded, (a_high, a_low), (b_high, b_low) = a * b, halves(a), halves(b)
    return rounded, ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low
