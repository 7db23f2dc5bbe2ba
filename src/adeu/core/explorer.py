"""The equation itself: a ~ D(pi(s), g(f(s)))."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import (
    Array,
    Carry,
    Decision,
    Distribution,
    Guard,
    Key,
    Mechanism,
    Normalizer,
    Part,
    State,
    Transition,
)


class ExplorerCarry(NamedTuple):
    f: Carry
    D: Carry
    explored: Array


@dataclasses.dataclass(frozen=True)
class Explorer(Part):
    """An exploration strategy: pure functions around somebody else's policy.

        a ~ D(pi(s), g(f(s)))

    `act` returns a `Decision` and the environment's new carry; `observe` and `update` return the new state.

    Args:
        f: the uncertainty, a `Mechanism`.
        g: from uncertainty to spread, a `Normalizer`.
        D: from policy and spread to action, a `Distribution`.
        guard: a mentor, who decides alone in the states it knows.

    Examples:
        >>> import adeu, jax
        >>> explorer = adeu.Explorer(f=adeu.Counts(num_states=3), g=adeu.ShiftedSigmoid(2.0), D=adeu.Categorical())
        >>> key_init, key_begin, key_act = jax.random.split(jax.random.key(0), 3)
        >>> state, carry = explorer.init(key_init, 0), explorer.begin(key_begin)
        >>> decision, carry = explorer.act(key_act, state, carry, obs=0, center=jax.numpy.array([0.0, 1.0]))
        >>> round(float(decision.spread), 3)
        0.75

    Paper: Eq. 1.
    """

    f: Mechanism
    g: Normalizer
    D: Distribution
    guard: Guard | None = None

    def __post_init__(self) -> None:
        check.instance(self, "f", Mechanism, " (a function becomes one by adeu.from_function or adeu.from_host)")
        check.instance(self, "g", Normalizer)
        check.instance(self, "D", Distribution)
        if self.guard is not None:
            check.instance(self, "guard", Guard)
        check.hashable(self)

    def init(self, key: Key, obs: Any) -> State:
        return self.f.init(key, obs)

    def begin(self, key: Key, carry: ExplorerCarry | None = None) -> ExplorerCarry:
        key_f, key_D = jax.random.split(key)
        left = ExplorerCarry(None, None, jnp.zeros((), bool)) if carry is None else carry
        return ExplorerCarry(self.f.begin(key_f, left.f), self.D.begin(key_D, left.D), jnp.zeros((), bool))

    def act(
        self,
        key: Key,
        state: State,
        carry: ExplorerCarry,
        obs: Any,
        center: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Decision, ExplorerCarry]:
        key_f, key_D = jax.random.split(key)
        always = {"center": center, "action_mask": action_mask, "explored": carry.explored}
        uncertainty, f_carry = self._measure(key_f, state, carry, obs, **given | always)
        spread, D_carry = self._number("g", self.g(uncertainty)), carry.D
        if self.guard is not None:
            active, advice = self.guard(obs)
            center, action_mask = self.D.impose(active, advice, center, action_mask)
            spread = jnp.where(active, 0.0, spread)
            key_D, key_afresh = jax.random.split(key_D)
            D_carry = jax.tree.map(lambda a, b: jnp.where(active, a, b), self.D.begin(key_afresh), D_carry)
        sampled = self.D.sample(key_D, center, spread, D_carry, action_mask)
        action, explored, D_carry = check.returned(self.D, "sample", sampled, ("action", "explored", "carry"))
        return Decision(action, explored, uncertainty, spread), ExplorerCarry(f_carry, D_carry, explored)

    def exploit(
        self,
        key: Key,
        state: State,
        carry: ExplorerCarry,
        obs: Any,
        center: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> Decision:
        """The policy's own decision (or the mentor's), with the uncertainty it is taken under."""
        key_f, key_D = jax.random.split(key)
        always = {"center": center, "action_mask": action_mask, "explored": carry.explored}
        uncertainty, _ = self._measure(key_f, state, carry, obs, **given | always)
        if self.guard is not None:
            center, action_mask = self.D.impose(*self.guard(obs), center, action_mask)
        action = self.D.exploit(key_D, center, action_mask)
        return Decision(action, jnp.zeros((), bool), uncertainty, jnp.zeros(()))

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        return self.f.observe(state, transition, **given)

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        return self.f.update(state, batch, **given)

    def _measure(self, key: Key, state: State, carry: ExplorerCarry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        measured = self.f.measure(key, state, carry.f, obs, **given)
        uncertainty, f_carry = check.returned(self.f, "measure", measured, ("uncertainty", "carry"))
        return self._number("f", uncertainty), f_carry

    def _number(self, name: str, value: Any) -> Array:
        if jnp.shape(value) != ():
            returned = f"{getattr(self, name)!r} returned shape {jnp.shape(value)}"
            raise ValueError(f"{name} must return one number per environment; {returned}")
        return jnp.asarray(value, float)
