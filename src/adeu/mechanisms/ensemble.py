"""Uncertainty from the disagreement of an agent's critics."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State


@dataclasses.dataclass(frozen=True)
class EnsembleStd(Mechanism):
    """The disagreement of the critics about the policy's action.

        f(s) = lam * Q_std(s, pi(s))

    The agent passes `q_values`: of shape (critics, actions) for discrete actions, and of shape (critics,), at
    (s, pi(s)), for continuous ones. If several actions are best, f is the mean over them.

    Args:
        lam: lambda, the weight of the disagreement, > 0.

    Examples:
        >>> import adeu, jax
        >>> q_values = jax.numpy.array([[1.0, 0.0], [3.0, 0.0]])
        >>> uncertainty, carry = adeu.EnsembleStd(lam=1.0).measure(
        ...     jax.random.key(0), (), (), obs=0, center=q_values.mean(axis=0), q_values=q_values
        ... )
        >>> float(uncertainty)
        1.0

    Reference: Chen et al., "UCB Exploration via Q-Ensembles", 2017.
    Paper: Table 1, f_UCB.
    """

    lam: float = 1.0

    def __post_init__(self) -> None:
        check.number(self, "lam", above=0)

    def measure(
        self,
        key: Key,
        state: State,
        carry: Carry,
        obs: Any,
        *,
        center: Array,
        q_values: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Carry]:
        disagreement = jnp.std(q_values, axis=0)
        if jnp.ndim(disagreement) == 0:
            return self.lam * disagreement, carry
        if jnp.shape(disagreement) != jnp.shape(center):
            takes = f"shape (critics,) or (critics, {jnp.shape(center)[0]})"
            check.refuse(self, "q_values", takes, f"shape {jnp.shape(q_values)}")
        allowed = center if action_mask is None else jnp.where(action_mask, center, -jnp.inf)
        return self.lam * jnp.mean(disagreement, where=allowed == jnp.max(allowed)), carry
