"""Uncertainty from low expected returns."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State


@dataclasses.dataclass(frozen=True)
class Stakes(Mechanism):
    """Explores where little is at stake: where the critics expect a low return of the policy's action.

        f(s) = top * exp(-max(V(s), 0) / scale),   V(s) = min_k Q_k(s, pi(s))

    Novelty decreases in states that are visited often, even if no good action was found there. This f stays high
    until one is found, because the value stays 0 until then. It suits tasks with rewards >= 0 in which the agent must
    find a path step by step. If all rewards are negative, f is `top` everywhere. The values of SAC include its
    entropy: in long episodes they exceed 0 before any reward is found, and f vanishes.

    The agent passes `q_values` as for `EnsembleStd`; for discrete actions, V is the value of the best action.

    Args:
        scale: the value at which f is top / e, in units of the return, > 0.
        top: f at a value of 0 or less, > 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Stakes(scale=0.1)
        >>> [round(float(f.measure(jax.random.key(0), (), (), obs=0, q_values=jax.numpy.array([v]))[0]), 2)
        ...     for v in (0.0, 0.1, 1.0)]
        [3.0, 1.1, 0.0]
    """

    scale: float
    top: float = 3.0

    def __post_init__(self) -> None:
        check.number(self, "scale", above=0)
        check.number(self, "top", above=0)

    def measure(
        self,
        key: Key,
        state: State,
        carry: Carry,
        obs: Any,
        *,
        q_values: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Carry]:
        values = jnp.min(q_values, axis=0)
        if action_mask is not None and values.ndim == 1:
            values = jnp.where(action_mask, values, -jnp.inf)
        return self.top * jnp.exp(-jnp.maximum(jnp.max(values), 0.0) / self.scale), carry
