"""Uncertainty from temporal-difference errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, Self

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Hook, Key, Mechanism, State, Transition
from adeu.mechanisms import table


@dataclasses.dataclass(frozen=True)
class TdError(Mechanism):
    """Tokic's adaptive epsilon (VDBE): high where values still change. It is 1 at first.

        f(s) <- rate * (1 - exp(-|x|/sigma)) / (1 + exp(-|x|/sigma)) + (1 - rate) * f(s)

    x is the TD error delta, as in the paper, or the change of the value Q_new(s, a) - Q_old(s, a), as in Tokic's
    article, which is alpha * delta in a table. With `num_states`, f has one value per discrete state, learned in
    `observe` from the transition's x. Without it, f is the same in all states, learned in `update` from the batch's
    mean |x|. The agent passes x under the name of the signal.

    Args:
        num_states: the number of states, or None.
        sigma: the scale of |x|, > 0 ("inverse sensitivity").
        rate: the weight of the newest x, in (0, 1]; 1 / number of actions in Tokic's article.
        signal: the meaning of x, "td_error" or "value_change".

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
    signal: Literal["td_error", "value_change"] = "td_error"

    def __post_init__(self) -> None:
        if self.num_states is not None:
            check.whole(self, "num_states")
        check.number(self, "sigma", above=0)
        check.number(self, "rate", above=0, at_most=1)
        check.one_of(self, "signal", ("td_error", "value_change"))

    @property
    def learns_from(self) -> frozenset[str]:
        return frozenset({"update"} if self.num_states is None else {"observe"})

    def needs(self, hook: Hook) -> frozenset[str]:
        return super().needs(hook) | ({self.signal} if hook in self.learns_from else set())

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

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        if self.num_states is None:
            return state
        x = self._given("observe", given)
        if x.ndim:
            check.refuse(self, self.signal, "one number per transition", f"shape {x.shape}")
        place = table.place(state, transition.obs)
        return state.at[place].add(self.rate * (self._surprise(x) - state[place]))

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        if self.num_states is not None:
            return state
        target = self._surprise(jnp.mean(jnp.abs(self._given("update", given))))
        return state + self.rate * (target - state)

    def _surprise(self, x: Array) -> Array:
        """(1 - exp(-y)) / (1 + exp(-y)) with y = |x|/sigma, which is tanh(y/2)."""
        return jnp.tanh(jnp.abs(x) / (2 * self.sigma))

    def _given(self, hook: Hook, given: Mapping[str, Any]) -> Array:
        if self.signal not in given:
            raise TypeError(f"TdError.{hook}() missing 1 required keyword-only argument: {self.signal!r}")
        return jnp.asarray(given[self.signal], float)
