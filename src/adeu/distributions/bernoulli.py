"""D: epsilon-greedy over n actions."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from adeu.core.contract import Array, Carry, Key, State
from adeu.distributions.discrete import _Discrete, best, choose


@dataclasses.dataclass(frozen=True)
class Bernoulli(_Discrete):
    """Epsilon-greedy with epsilon = spread; for Discrete spaces.

        a = a uniform action with probability spread, else argmax_a q(s, a), ties broken at random

    A decision counts as explored if the uniform action was drawn, even if it is the best one.

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Bernoulli()
        >>> action, explored, carry = D.sample(jax.random.key(0), (), (), jax.numpy.array([0.0, 1.0]), spread=0.0)
        >>> int(action), bool(explored)
        (1, False)

    Paper: Table 2, the instance of Tokic's adaptive epsilon.
    """

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
        key_coin, key_action = jax.random.split(key)
        preferences = self._preferences(center, action_mask)
        explored = jax.random.bernoulli(key_coin, jnp.clip(spread, 0.0, 1.0))
        allowed = preferences > -jnp.inf
        return choose(key_action, jnp.where(explored, allowed, best(preferences))), explored, carry
