"""The equation itself: a ~ D(pi(s), g(f(s)))."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

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
    LearningPart,
    Mechanism,
    Normalizer,
    Part,
    State,
    Transition,
)
from adeu.core.value import check_value

ExplorerHook = Literal["act", "observe", "update"]
"""The methods of an explorer that take `given`, the keyword arguments that an agent passes."""

# `fold_in(key, i)` equals `split(key, n)[i]`, and f may split its key into any number of keys. D and the guard fold
# in the largest numbers, which no split reaches, so that their keys differ from those of f.
KEY_D, KEY_GUARD = 2**32 - 1, 2**32 - 2


class ExplorerState(NamedTuple):
    """The learned states of f, D and the guard."""

    f: State
    D: State
    guard: State


class ExplorerCarry(NamedTuple):
    """The carries of f, D and the guard in one environment, and whether its last step explored."""

    f: Carry
    D: Carry
    guard: Carry
    explored: Array


@dataclasses.dataclass(frozen=True)
class Explorer(Part):
    """An exploration strategy for a given policy, made of pure functions.

        a ~ D(pi(s), g(f(s)))

    `act` returns a `Decision` and the environment's new carry; `observe` and `update` return the new state.

    Args:
        f: the uncertainty, a `Mechanism`.
        g: maps the uncertainty to a spread, a `Normalizer`.
        D: samples an action around the policy's, a `Distribution`.
        guard: a mentor that overrides f and D in the states where it is active.

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
        check_value(self)

    @property
    def parts(self) -> dict[str, LearningPart]:
        """f, D and the guard, if there is one, by name."""
        parts = {"f": self.f, "D": self.D, "guard": self.guard}
        return {name: part for name, part in parts.items() if part is not None}

    @property
    def learns_from(self) -> frozenset[str]:
        """Which of "observe" and "update" change its state."""
        return frozenset[str]().union(*(part.learns_from for part in self.parts.values()))

    def check_environments(self, count: int) -> None:
        """Reject a part that learns from a single environment only if there are several."""
        for part in self.parts.values():
            if count > 1 and part.one_environment:
                check.refuse(
                    part, "env", "one environment, because it learns from transitions in order", f"{count} of them"
                )

    def needs(self, hook: ExplorerHook) -> frozenset[str]:
        """Return the names in `given` that this method requires, apart from those that are always passed."""
        each = self.parts.values()
        return frozenset[str]().union(*(part.needs(part.hooks[0] if hook == "act" else hook) for part in each))

    def init(self, key: Key, obs: Any) -> ExplorerState:
        return ExplorerState(
            self.f.init(key, obs),
            self.D.init(jax.random.fold_in(key, KEY_D), obs),
            () if self.guard is None else self.guard.init(jax.random.fold_in(key, KEY_GUARD), obs),
        )

    def begin(self, key: Key, carry: ExplorerCarry | None = None) -> ExplorerCarry:
        key_f, key_D = jax.random.split(key)
        explored = jnp.zeros((), bool)
        left = ExplorerCarry(None, None, None, explored) if carry is None else carry
        return ExplorerCarry(
            self.f.begin(key_f, left.f),
            self.D.begin(key_D, left.D),
            () if self.guard is None else self.guard.begin(jax.random.fold_in(key, KEY_GUARD), left.guard),
            explored,
        )

    def act(
        self,
        key: Key,
        state: ExplorerState,
        carry: ExplorerCarry,
        obs: Any,
        center: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Decision, ExplorerCarry]:
        key_f, key_D = jax.random.split(key)
        seen = given | {"center": center, "action_mask": action_mask, "explored": carry.explored}
        uncertainty, f_carry = self._measure(key_f, state, carry, obs, **seen)
        asked = self.f.asked(f_carry)
        spread = self._number("g", self.g(uncertainty))
        D_carry, guard_carry = carry.D, carry.guard
        if self.guard is not None:
            seen |= {"f_carry": f_carry}
            active, advice, guard_carry = self._advise(self.guard, state, carry, obs, uncertainty, **seen)
            center, action_mask = self.D.impose(state.D, active, advice, center, action_mask)
            spread, asked = jnp.where(active, 0.0, spread), asked & ~active
            key_D, key_afresh = jax.random.split(key_D)
            D_carry = jax.tree.map(lambda a, b: jnp.where(active, a, b), self.D.begin(key_afresh), D_carry)
        seen = given | {"obs": obs, "explored": carry.explored}
        sampled = self.D.sample(key_D, state.D, D_carry, center, spread, action_mask, **seen)
        action, explored, D_carry = check.returned(self.D, "sample", sampled, ("action", "explored", "carry"))
        decision = Decision(action, explored, uncertainty, spread, asked, self.D.deviation(action, center))
        return decision, ExplorerCarry(f_carry, D_carry, guard_carry, explored)

    def exploit(
        self,
        key: Key,
        state: ExplorerState,
        carry: ExplorerCarry,
        obs: Any,
        center: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> Decision:
        """Return the decision of the policy (or mentor) without exploration, with the uncertainty in this state."""
        key_f, key_D = jax.random.split(key)
        seen = given | {"center": center, "action_mask": action_mask, "explored": carry.explored}
        uncertainty, _ = self._measure(key_f, state, carry, obs, **seen)
        if self.guard is not None:
            active, advice, _ = self._advise(self.guard, state, carry, obs, uncertainty, f_carry=None, **seen)
            center, action_mask = self.D.impose(state.D, active, advice, center, action_mask)
        seen = given | {"obs": obs, "explored": carry.explored}
        action = self.D.exploit(key_D, state.D, center, action_mask, **seen)
        no = jnp.zeros((), bool)
        return Decision(action, no, uncertainty, jnp.zeros(()), no, self.D.deviation(action, center))

    def observe(self, state: ExplorerState, transition: Transition, **given: Any) -> ExplorerState:
        return ExplorerState(
            self.f.observe(state.f, transition, **given),
            self.D.observe(state.D, transition, **given),
            () if self.guard is None else self.guard.observe(state.guard, transition, **given),
        )

    def update(self, state: ExplorerState, batch: Transition, **given: Any) -> ExplorerState:
        return ExplorerState(
            self.f.update(state.f, batch, **given),
            self.D.update(state.D, batch, **given),
            () if self.guard is None else self.guard.update(state.guard, batch, **given),
        )

    def _measure(
        self, key: Key, state: ExplorerState, carry: ExplorerCarry, obs: Any, **given: Any
    ) -> tuple[Array, Carry]:
        measured = self.f.measure(key, state.f, carry.f, obs, **given)
        uncertainty, f_carry = check.returned(self.f, "measure", measured, ("uncertainty", "carry"))
        return self._number("f", uncertainty), f_carry

    def _advise(
        self, guard: Guard, state: ExplorerState, carry: ExplorerCarry, obs: Any, uncertainty: Array, **given: Any
    ) -> tuple[Array, Array, Carry]:
        advised = guard(state.guard, carry.guard, obs, uncertainty, **given)
        active, action, guard_carry = check.returned(guard, "__call__", advised, ("active", "action", "carry"))
        return jnp.asarray(active, bool), action, guard_carry

    def _number(self, name: str, value: Any) -> Array:
        if jnp.shape(value) != ():
            returned = f"{getattr(self, name)!r} returned shape {jnp.shape(value)}"
            raise ValueError(f"{name} must return one number per environment; {returned}")
        return jnp.asarray(value, float)
