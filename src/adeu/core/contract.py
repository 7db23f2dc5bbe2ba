"""The interfaces of the parts in a ~ D(pi(s), g(f(s))): `Mechanism` f, `Normalizer` g, `Distribution` D, `Guard`.

A part is a frozen dataclass: its fields are hyper-parameters, its methods are pure functions.
It stores no values that change. These are passed in and returned, and have two lifetimes:

- *state* is learned and shared by all environments; only `observe` and `update` return a new one.
- *carry* belongs to one environment; only `measure`, `sample` and a guard's call return a new one, and `begin`
  returns the initial carry of an episode.

All methods handle one environment; use `jax.vmap(..., in_axes=(None, 0, ...))` for a batch.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core import check

Array = jax.Array
Key = jax.Array
State = Any
Carry = Any
Numbers = TypeVar("Numbers", jax.Array, np.ndarray)

Hook = Literal["measure", "sample", "exploit", "__call__", "observe", "update"]
"""The methods of parts that take `given`, the keyword arguments that an agent passes."""

RESERVED = ("key", "state", "carry", "f_carry", "obs", "center", "action_mask", "explored", "step")
"""Names that an agent must not use in `given`."""


class Transition(NamedTuple):
    """One step of an environment, or a batch of them along a leading axis."""

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    terminated: Any
    truncated: Any
    cost: Any = None


class Decision(NamedTuple):
    """An explorer's decision, with the values that led to it: `spread` = g(`uncertainty`)."""

    action: Any
    explored: Any
    uncertainty: Any
    spread: Any
    asked: Any = True
    """Whether f determined the spread: False in a rollout episode and where a guard is active."""
    deviation: Any = 0.0
    """The distance of the action from the policy's; see `Distribution.deviation`."""


@dataclasses.dataclass(frozen=True)
class Part:
    """An immutable value that can be printed, compared, hashed, saved and used in a sweep."""

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        """Return a copy for these spaces, with open fields filled in and nested parts bound; reject unfit spaces."""

        def bind(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(bind, value))
            return value.bind(observation_space, action_space) if isinstance(value, Part) else value

        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}
        return dataclasses.replace(self, **{name: bind(value) for name, value in values.items()})


class LearningPart(Part):
    """A part that may learn: the base class of f, D and guards.

    By default each method calls the same method of the learning parts among its fields; state and carry are then
    tuples with one entry per part. Without such parts nothing is learned and both are `()`.
    """

    hooks: ClassVar[tuple[Hook, ...]]
    """The methods that take `given`; the first one is called for each decision."""

    def __init_subclass__(cls) -> None:
        for name in cls.hooks:
            parameters = inspect.signature(getattr(cls, name)).parameters.values()
            if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                raise TypeError(f"{cls.__name__}.{name}() must take **given: agents pass more than it needs")

    @property
    def parts(self) -> tuple[LearningPart, ...]:
        """The learning parts among its fields, in field order."""

        def find(value: Any) -> list[LearningPart]:
            if isinstance(value, tuple):
                return [part for item in value for part in find(item)]
            return [value] if isinstance(value, LearningPart) else []

        return tuple(find(tuple(getattr(self, field.name) for field in dataclasses.fields(self))))

    @property
    def learns_from(self) -> frozenset[str]:
        """Which of "observe" and "update" change its state."""
        own = {name for name in ("observe", "update") if getattr(type(self), name) is not getattr(LearningPart, name)}
        return frozenset(own.union(*(part.learns_from for part in self.parts)))

    @property
    def one_environment(self) -> bool:
        """Whether it learns from a single environment only, because it depends on the order of transitions."""
        return any(part.one_environment for part in self.parts)

    def needs(self, hook: Hook) -> frozenset[str]:
        """Return the names in `given` that this method requires, apart from those that are always passed.

        These are its keyword-only parameters without a default, and the names that its parts require. "cost", a field
        of the transition, is one of these names.
        """
        if hook not in self.hooks:
            check.refuse(self, "hook", " or ".join(map(repr, self.hooks)), hook)
        parameters = inspect.signature(getattr(self, hook)).parameters.values()
        own = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty} - set(RESERVED)
        learns = hook in ("observe", "update")
        return frozenset(own.union(*(part.needs(hook if learns else part.hooks[0]) for part in self.parts)))

    def init(self, key: Key, obs: Any) -> State:
        """Return the initial state; `obs` is an example observation, only its shape and type matter."""
        return tuple(part.init(part_key, obs) for part, part_key in zip(self.parts, self._keys(key), strict=True))

    def begin(self, key: Key, carry: Carry = None) -> Carry:
        """Return the initial carry of an episode; `carry` is the last one of the previous episode, or None."""
        carries = (None,) * len(self.parts) if carry is None else carry
        return tuple(part.begin(k, c) for part, k, c in zip(self.parts, self._keys(key), carries, strict=True))

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        """Learn from a new transition; called once for each transition."""
        if not self.parts:
            return state
        states = self._entries("state", state, "observe")
        return tuple(part.observe(s, transition, **given) for part, s in zip(self.parts, states, strict=True))

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        """Learn from a minibatch; a transition may be in several minibatches."""
        if not self.parts:
            return state
        states = self._entries("state", state, "update")
        return tuple(part.update(s, batch, **given) for part, s in zip(self.parts, states, strict=True))

    def _entries(self, what: str, value: Any, method: str) -> tuple[Any, ...]:
        if type(value) is tuple and len(value) == len(self.parts):
            return value
        name = type(self).__name__
        raise TypeError(f"{name} has a {what} besides that of its parts and must define {method}()")

    def _keys(self, key: Key) -> list[Key]:
        return list(jax.random.split(key, len(self.parts))) if self.parts else []


class Mechanism(LearningPart):
    """f: the agent's uncertainty in state s, a non-negative scalar.

    Only `measure` is required; a mechanism that learns also defines `init`, and `observe` or `update`.
    """

    hooks = ("measure", "observe", "update")

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms among its fields, in field order."""
        return tuple(part for part in super().parts if isinstance(part, Mechanism))

    @property
    def remembers(self) -> bool:
        """Whether its measurement depends on earlier steps of the episode."""
        if type(self).begin is LearningPart.begin:
            return any(part.remembers for part in self.parts)
        return bool(jax.tree.leaves(jax.eval_shape(self.begin, jax.random.key(0))))

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        """Return f(s) and the new carry. Declare names that it needs from `given` as keyword-only parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no measure(key, state, carry, obs, **given)")

    def asked(self, carry: Carry) -> Array:
        """Return whether the `measure` call that returned this carry used f; False in a rollout episode."""
        carries = self._entries("carry", carry, "asked") if self.parts else ()
        each = [part.asked(c) for part, c in zip(self.parts, carries, strict=True)]
        return functools.reduce(jnp.logical_and, each, jnp.ones((), bool))

    def ask(self, carry: Carry) -> Carry:
        """Return a carry with which the next `measure` uses f, even in a rollout episode."""
        if not self.parts:
            return carry
        carries = self._entries("carry", carry, "ask")
        return tuple(part.ask(c) for part, c in zip(self.parts, carries, strict=True))

    def figures(self, state: State) -> dict[str, Array]:
        """Return numbers to log about the learned state, by name. The default is those of its parts."""
        whole = type(state) is tuple and len(state) == len(self.parts)
        each = zip(self.parts, state, strict=True) if whole else ()
        return {name: value for part, s in each for name, value in part.figures(s).items()}

    def measure_parts(
        self, key: Key, state: State, carry: Carry, obs: Any, **given: Any
    ) -> tuple[list[Array], Carry]:
        """Return the measurements of all `parts`, and the new carry; call it in `measure` to combine mechanisms."""
        each = zip(self.parts, self._keys(key), state, carry, strict=True)
        values = [part.measure(part_key, s, c, obs, **given) for part, part_key, s, c in each]
        return [value for value, _ in values], tuple(c for _, c in values)


class Normalizer(Part):
    """g: turns an uncertainty into a spread."""

    @property
    def ceiling(self) -> float | None:
        """The upper bound of the spread, None if unbounded."""
        return None

    def __call__(self, uncertainty: Array) -> Array:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(uncertainty)")

    def saturated(self, spread: Numbers) -> Numbers:
        """Return whether a spread is within 1% of the ceiling: states hardly differ. False without a ceiling."""
        return spread >= (math.inf if self.ceiling is None else 0.99 * self.ceiling)

    def dead(self, spread: Numbers) -> Numbers:
        """Return whether a spread is at most 1% of the ceiling: almost no exploration. False without a ceiling."""
        return spread <= (-math.inf if self.ceiling is None else 0.01 * self.ceiling)


class Distribution(LearningPart):
    """D: samples an action around `center` with `spread`.

    In a Discrete space `center` holds one preference per action; a spread of 0 follows the preferences, a spread of 1
    ignores them. In a Box `center` is the mean action, and the spread is in units of half the range of actions. Only
    `sample` is required.
    """

    hooks = ("sample", "exploit", "observe", "update")

    def sample(
        self,
        key: Key,
        state: State,
        carry: Carry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        """Return the action, whether it explores, and the new carry. `given` is that of f plus `obs`."""
        raise NotImplementedError(f"{type(self).__name__} has no sample(key, state, carry, center, spread, **given)")

    def impose(
        self, state: State, active: Array, action: Array, center: Array, action_mask: Array | None
    ) -> tuple[Array, Array | None]:
        """Return a center and a mask that yield `action` at a spread of 0 if `active`; else return them unchanged."""
        return jnp.where(active, jnp.asarray(action, float), center), action_mask

    def exploit(self, key: Key, state: State, center: Array, action_mask: Array | None = None, **given: Any) -> Array:
        """Return the action of the policy, without exploration."""
        key_begin, key_sample = jax.random.split(key)
        carry = self.begin(key_begin)
        action, _, _ = self.sample(key_sample, state, carry, center, jnp.zeros(()), action_mask, **given)
        return action

    def deviation(self, action: Array, center: Array) -> Array:
        """Return the distance of an action from the policy's: the mean of |a - pi(s)|, in half ranges.

        It is 0 by default, and for Discrete actions, for which no distance is defined.
        """
        return jnp.zeros(())

    @property
    def has_deviation(self) -> bool:
        """Whether this class defines `deviation`."""
        return type(self).deviation is not Distribution.deviation


class Guard(LearningPart):
    """A mentor: in states where it is active, its action replaces the explorer's. Only `__call__` is required."""

    hooks = ("__call__", "observe", "update")

    def __call__(
        self, state: State, carry: Carry, obs: Any, uncertainty: Array, **given: Any
    ) -> tuple[Array, Array, Carry]:
        """Return whether the mentor is active in s, its action, and the new carry.

        The action is an integer in a Discrete space, a vector in a Box. `uncertainty` is f(s): a mentor may be active
        where it is high.
        """
        raise NotImplementedError(f"{type(self).__name__} has no __call__(state, carry, obs, uncertainty, **given)")
