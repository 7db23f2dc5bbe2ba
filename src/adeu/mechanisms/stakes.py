"""Uncertainty from how little the agent expects to be paid."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State


@dataclasses.dataclass(frozen=True)
class Stakes(Mechanism):
    """Explore where little is at stake: where the critics expect little of the policy's action.

        f(s) = top * exp(-max(V(s), 0) / scale),   V(s) = min_k Q_k(s, pi(s))

    Novelty fades in a state that is visited often, whether or not a good action was found there. This f stays high
    until one is: a state that leads nowhere keeps a value of 0. It suits tasks whose rewards are 0 or more, where
    the agent must find its way step by step; where rewards are negative it is `top` everywhere.

    The agent gives `q_values` as for `EnsembleStd`; where actions are discrete, V is that of the best action.

    Args:
        scale: the value at which f has fallen to top / e, in units of the return, > 0.
        top: f where nothing is at stake, > 0.

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
