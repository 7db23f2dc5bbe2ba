"""Uncertainty from known best actions."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State
from adeu.mechanisms import table


@dataclasses.dataclass(frozen=True)
class BestActionGap(Mechanism):
    """The distance of the policy from the known best action: 0 if the policy takes it, at most 1.

        f(s) = 1 - [b(s) in G(s)] / |G(s)|,  G(s) = argmax_a preference(s, a)

    This is the total variation distance between the greedy policy, with ties broken at random, and b. With
    `Identity` and `Bernoulli` a state is explored only until its best action is the greedy one.

    Args:
        actions: b(s), the best action of each state; states and actions are numbered from 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.BestActionGap(actions=[1, 0])
        >>> preferences = jax.numpy.array([2.0, 2.0, 0.0])
        >>> float(f.measure(jax.random.key(0), (), (), obs=1, center=preferences)[0])
        0.5

    Paper: before Theorem 1, "the difference between the current policy and b", and the corollary before it.
    """

    actions: tuple[int, ...]

    def __post_init__(self) -> None:
        check.frozen(self, "actions")
        actions = self.actions
        if not (isinstance(actions, tuple) and actions and all(type(a) is int and a >= 0 for a in actions)):
            check.refuse(self, "actions", "a whole number >= 0 for each state", actions)

    @property
    def num_states(self) -> int:
        return len(self.actions)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        table.num_states(self, observation_space)
        number = getattr(action_space, "n", None)
        if number is None:
            check.refuse(self, "action space", "a Discrete space", action_space)
        if max(self.actions) >= number:
            check.refuse(self, "actions", f"actions below {number}", max(self.actions))
        return self

    def init(self, key: Key, obs: Any) -> State:
        table.check_state(self, obs)
        return ()

    def measure(
        self,
        key: Key,
        state: State,
        carry: Carry,
        obs: Any,
        *,
        center: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Carry]:
        values = center if action_mask is None else jnp.where(action_mask, center, -jnp.inf)
        best = table.row(jnp.asarray(self.actions), obs)
        greedy = values == jnp.max(values)
        hit = jnp.sum(greedy & (jnp.arange(values.size) == best))
        return jnp.where(jnp.isnan(best), jnp.nan, 1.0 - hit / jnp.sum(greedy)), carry
