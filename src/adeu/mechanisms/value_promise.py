"""Uncertainty from value predictions that were wrong."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key, Mechanism, State


class ValuePromiseCarry(NamedTuple):
    values: Array
    """(k,): the values of the last k states, oldest first."""
    rewards: Array
    """(k,): the rewards of the last k steps, oldest first."""
    steps: Array


@dataclasses.dataclass(frozen=True)
class ValuePromise(Mechanism):
    """The error of the value k steps ago, compared with the rewards since then and the current value.

        f(s_t) = |V(s_{t-k}) - (R_t + gamma R_{t-1} + ... + gamma^(k-1) R_{t-k+1}) - V(s_t)|   ("promise")
        f(s_t) = |V(s_{t-k}) - (R_{t-k+1} + ... + gamma^(k-1) R_t) - gamma^k V(s_t)|           ("td")

    R_t is the reward of the step that led to s_t. In the first k steps of an episode f is 0. The agent passes
    `q_values` as for `EnsembleStd`; V(s) is the maximum of their mean over the critics. Loops and `Behavior` pass
    the `reward` of the previous step.

    Args:
        k: the number of steps between the two values.
        gamma: the agent's discount, in [0, 1].
        form: "promise", in which V(s_t) is not discounted and the newest reward has weight 1, or "td", the k-step
            temporal-difference error.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.ValuePromise(k=1)
        >>> carry, values = f.begin(jax.random.key(0)), []
        >>> for value, reward in [(5.0, 0.0), (3.0, 1.0), (3.0, 0.0)]:
        ...     q_values = jax.numpy.array([[value, 0.0]])
        ...     uncertainty, carry = f.measure(jax.random.key(1), (), carry, 0, q_values=q_values, reward=reward)
        ...     values.append(float(uncertainty))
        >>> values
        [0.0, 1.0, 0.0]

    Reference: Pislar et al., "When should agents explore?", 2022.
    """

    k: int = 5
    gamma: float = 0.99
    form: Literal["promise", "td"] = "promise"

    def __post_init__(self) -> None:
        check.whole(self, "k")
        check.number(self, "gamma", at_least=0, at_most=1)
        check.one_of(self, "form", ("promise", "td"))

    def begin(self, key: Key, carry: ValuePromiseCarry | None = None) -> ValuePromiseCarry:
        return ValuePromiseCarry(jnp.zeros(self.k), jnp.zeros(self.k), jnp.zeros((), jnp.int32))

    def measure(
        self,
        key: Key,
        state: State,
        carry: ValuePromiseCarry,
        obs: Any,
        *,
        q_values: Array,
        reward: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, ValuePromiseCarry]:
        values = jnp.mean(q_values, axis=0)
        if action_mask is not None and values.ndim == 1:
            values = jnp.where(action_mask, values, -jnp.inf)
        value = jnp.max(values)
        rewards = jnp.append(carry.rewards[1:], reward)
        discounts = self.gamma ** jnp.arange(self.k, dtype=float)
        if self.form == "promise":
            actual = jnp.dot(discounts[::-1], rewards) + value
        else:
            actual = jnp.dot(discounts, rewards) + self.gamma**self.k * value
        error = jnp.where(carry.steps >= self.k, jnp.abs(carry.values[0] - actual), 0.0)
        steps = jnp.minimum(carry.steps + 1, self.k)
        return error, ValuePromiseCarry(jnp.append(carry.values[1:], value), rewards, steps)
