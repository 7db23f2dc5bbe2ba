"""Uncertainty from visit counts."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State, Transition
from adeu.mechanisms import table


@dataclasses.dataclass(frozen=True)
class Counts(Mechanism):
    """Uncertainty that decreases with the number of visits to a discrete state.

        f(s) = 1 / (beta * sqrt(n(s)))

    n(s) includes the current visit, so a new state has n = 1.

    Args:
        num_states: the number of states, which are numbered from 0. By default `Behavior` takes it from the space.
        beta: how fast visits reduce the uncertainty, > 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Counts(num_states=3, beta=0.5)
        >>> uncertainty, carry = f.measure(jax.random.key(0), f.init(jax.random.key(1), 0), (), obs=2)
        >>> float(uncertainty)
        2.0

    Reference: Tang et al., "#Exploration: A Study of Count-Based Exploration", 2017.
    Paper: the motivating example.
    """

    num_states: int | None = None
    beta: float = 0.9

    def __post_init__(self) -> None:
        if self.num_states is not None:
            check.whole(self, "num_states")
        check.number(self, "beta", above=0)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        states = table.num_states(self, observation_space)
        if states is None:
            takes = "a Discrete space (for others, give num_states and an encoder to a state index, or use Rnd)"
            check.refuse(self, "observation space", takes, observation_space)
        return dataclasses.replace(self, num_states=states)

    def init(self, key: Key, obs: Any) -> State:
        if self.num_states is None:
            raise ValueError("Counts: num_states is not set; give it, or bind to a Discrete space, as Behavior does")
        table.check_state(self, obs)
        return jnp.zeros(self.num_states, jnp.int32)

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        # 1 / (beta * sqrt(n)) with two fewer roundings.
        return jnp.sqrt(self.beta**-2 / (table.row(state, obs) + 1)), carry

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        return state.at[table.place(state, transition.obs)].add(1)
