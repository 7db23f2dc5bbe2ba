"""Uncertainty of groups of states."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key, Mechanism, State
from adeu.mechanisms import table
from adeu.mechanisms.grouped import _Grouped


@dataclasses.dataclass(frozen=True)
class HyperStates(_Grouped):
    """Measures f on hyper-states: all states of a group share one uncertainty.

        f_hyper(s) = f(H(s))

    With `Counts`, n(H) is the number of steps taken in any state of H.

    Args:
        f: an uncertainty of discrete states; it gets the index of the hyper-state instead of the state.
        groups: H(s), the index 0, 1, ... of each state's hyper-state; `adeu.theory.find_hyper_states` finds them.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.HyperStates(adeu.Counts(2, beta=1.0), groups=[0, 0, 1])
        >>> state = f.init(jax.random.key(0), 0)
        >>> for _ in range(3):
        ...     state = f.observe(state, adeu.Transition(0, 0, 0.0, 1, False, False))
        >>> [float(f.measure(jax.random.key(0), state, ((),), obs=s)[0]) for s in range(3)]
        [0.5, 0.5, 1.0]

    Paper: the corollary on sparse games in the appendix.
    """

    f: Mechanism
    groups: tuple[int, ...]

    def __post_init__(self) -> None:
        check.instance(self, "f", Mechanism)
        check.frozen(self, "groups")
        groups = self.groups
        if not (isinstance(groups, tuple) and groups and all(type(group) is int and group >= 0 for group in groups)):
            check.refuse(self, "groups", "a whole number >= 0 for each state", groups)

    @property
    def num_states(self) -> int:
        return len(self.groups)

    @property
    def num_groups(self) -> int:
        return max(self.groups) + 1

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Discrete

        table.num_states(self, observation_space)
        return dataclasses.replace(self, f=self.f.bind(Discrete(self.num_groups), action_space))

    def init(self, key: Key, obs: Any) -> State:
        table.check_state(self, obs)
        return super().init(key, obs)

    def _group(self, obs: Any) -> Array:
        known = (obs >= 0) & (obs < self.num_states)
        return jnp.where(known, jnp.asarray(self.groups)[obs], -1)
