"""Uncertainty from temporal-difference errors."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Hook, Key, Mechanism, State, Transition
from adeu.mechanisms import table


@dataclasses.dataclass(frozen=True)
class TdError(Mechanism):
    """Tokic's adaptive epsilon (VDBE): explores where values still change. Starts at 1.

        f(s) <- rate * (1 - exp(-|delta|/sigma)) / (1 + exp(-|delta|/sigma)) + (1 - rate) * f(s)

    With `num_states` there is one value per discrete state, learned in `observe` from the transition's
    `td_error`; without it one value for all, learned in `update` from the batch's mean |delta|.
    (The original has the change of the value, alpha * delta, in place of delta: divide sigma by alpha.)

    Args:
        num_states: how many states there are, or None.
        sigma: the scale of a large error, > 0 ("inverse sensitivity").
        rate: the weight of the newest error, in (0, 1]; the original takes 1 / number of actions.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.TdError(num_states=2, sigma=1.0, rate=0.5)
        >>> transition = adeu.Transition(obs=0, action=0, reward=0.0, next_obs=1, terminated=False, truncated=False)
        >>> state = f.observe(f.init(jax.random.key(0), 0), transition, td_error=0.0)
        >>> [float(f.measure(jax.random.key(1), state, (), obs)[0]) for obs in (0, 1)]
        [0.5, 1.0]

    Reference: Tokic, "Adaptive epsilon-Greedy Exploration in Reinforcement Learning Based on Value
    Differences", 2010.
    Paper: Table 2.
    """

    num_states: int | None = None
    sigma: float = 1.0
    rate: float = 0.1

    def __post_init__(self) -> None:
        if self.num_states is not None:
            check.whole(self, "num_states")
        check.number(self, "sigma", above=0)
        check.number(self, "rate", above=0, at_most=1)

    @property
    def learns_from(self) -> frozenset[str]:
        return frozenset({"update"} if self.num_states is None else {"observe"})

    def needs(self, hook: Hook) -> frozenset[str]:
        return super().needs(hook) | ({"td_error"} if hook in self.learns_from else set())

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        if self.num_states is not None:
            table.num_states(self, observation_space)
        return self

    def init(self, key: Key, obs: Any) -> State:
        if self.num_states is None:
            return jnp.ones(())
        table.check_state(self, obs)
        return jnp.ones(self.num_states)

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        return (state if self.num_states is None else table.row(state, obs)), carry

    def observe(self, state: State, transition: Transition, *, td_error: Array | None = None, **given: Any) -> State:
        if self.num_states is None:
            return state
        delta = self._given(td_error)
        if delta.ndim:
            check.refuse(self, "td_error", "one number per transition", f"shape {delta.shape}")
        place = table.place(state, transition.obs)
        return state.at[place].add(self.rate * (self._surprise(delta) - state[place]))

    def update(self, state: State, batch: Transition, *, td_error: Array | None = None, **given: Any) -> State:
        if self.num_states is not None:
            return state
        target = self._surprise(jnp.mean(jnp.abs(self._given(td_error))))
        return state + self.rate * (target - state)

    def _surprise(self, td_error: Array) -> Array:
        """(1 - exp(-x)) / (1 + exp(-x)) with x = |delta|/sigma, which is tanh(x/2)."""
        return jnp.tanh(jnp.abs(td_error) / (2 * self.sigma))

    def _given(self, td_error: Array | None) -> Array:
        if td_error is None:
            hook = "update" if self.num_states is None else "observe"
            raise TypeError(f"TdError.{hook}() missing 1 required keyword-only argument: 'td_error'")
        return jnp.asarray(td_error, float)
