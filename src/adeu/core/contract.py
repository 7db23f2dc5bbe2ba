"""The contract of the three parts in a ~ D(pi(s), g(f(s))): `Mechanism` f, `Normalizer` g, `Distribution` D.

A part is a frozen dataclass: its fields are its hyper-parameters, its methods are pure functions, and what
changes travels outside it, in two values with two lifetimes:

- *state* is learned and shared by all environments; only `observe` and `update` return a new one.
- *carry* belongs to one environment; only `measure` and `sample` return a new one, and `begin` makes the one
  an episode starts with.

Everything is written for one environment; `jax.vmap(..., in_axes=(None, 0, ...))` makes the batch.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp

Array = jax.Array
Key = jax.Array
State = Any
Carry = Any

RESERVED = ("key", "state", "carry", "obs", "center", "action_mask", "explored", "step")
"""The names in `given` that are not an agent's to choose."""


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
    """What an explorer decided, and why: `spread` = g(`uncertainty`)."""

    action: Any
    explored: Any
    uncertainty: Any
    spread: Any


@dataclasses.dataclass(frozen=True)
class Part:
    """A value: it can be printed, compared, hashed, saved and swept over."""

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        """The part for these spaces: open fields filled in, misfits refused. Its own parts are bound too."""

        def bind(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(bind, value))
            return value.bind(observation_space, action_space) if isinstance(value, Part) else value

        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}
        return dataclasses.replace(self, **{name: bind(value) for name, value in values.items()})


class Mechanism(Part):
    """f: how uncertain the agent is in s, a non-negative scalar.

    Only `measure` has to be written. The other methods, left alone, hand each call to the mechanisms among the
    fields, so that state and carry are tuples with one entry for each; where there are none, nothing is learned.
    """

    def __init_subclass__(cls) -> None:
        for name in ("measure", "observe", "update"):
            parameters = inspect.signature(getattr(cls, name)).parameters.values()
            if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                raise TypeError(f"{cls.__name__}.{name}() must take **given: agents offer more than it may ask for")

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms this one is made of, in the order of its fields."""

        def find(value: Any) -> list[Mechanism]:
            if isinstance(value, tuple):
                return [part for item in value for part in find(item)]
            return [value] if isinstance(value, Mechanism) else []

        return tuple(find(tuple(getattr(self, field.name) for field in dataclasses.fields(self))))

    @property
    def learns_from(self) -> frozenset[str]:
        """Which of "observe" and "update" change its state."""
        own = {name for name in ("observe", "update") if getattr(type(self), name) is not getattr(Mechanism, name)}
        return frozenset(own.union(*(part.learns_from for part in self.parts)))

    def init(self, key: Key, obs: Any) -> State:
        """The state before any experience; `obs` is an example whose values do not matter."""
        return tuple(part.init(part_key, obs) for part, part_key in zip(self.parts, self._keys(key), strict=True))

    def begin(self, key: Key, carry: Carry = None) -> Carry:
        """The carry an episode starts with; `carry` is what the last one left, None before the first."""
        carries = (None,) * len(self.parts) if carry is None else carry
        return tuple(part.begin(k, c) for part, k, c in zip(self.parts, self._keys(key), carries, strict=True))

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        """f(s). `given` is what the agent offers: a mechanism names what it needs keyword-only."""
        raise NotImplementedError(f"{type(self).__name__} has no measure(key, state, carry, obs, **given)")

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        """Learns from one new transition; each is seen once."""
        if not self.parts:
            return state
        states = self._states(state, "observe")
        return tuple(part.observe(s, transition, **given) for part, s in zip(self.parts, states, strict=True))

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        """Learns from a minibatch, which may have been seen before."""
        if not self.parts:
            return state
        states = self._states(state, "update")
        return tuple(part.update(s, batch, **given) for part, s in zip(self.parts, states, strict=True))

    def measure_parts(
        self, key: Key, state: State, carry: Carry, obs: Any, **given: Any
    ) -> tuple[list[Array], Carry]:
        """What each of `parts` measures: for the `measure` of a mechanism made of others."""
        each = zip(self.parts, self._keys(key), state, carry, strict=True)
        values = [part.measure(part_key, s, c, obs, **given) for part, part_key, s, c in each]
        return [value for value, _ in values], tuple(c for _, c in values)

    def _states(self, state: State, method: str) -> tuple[State, ...]:
        if isinstance(state, tuple) and len(state) == len(self.parts):
            return state
        name = type(self).__name__
        raise TypeError(f"{name} has a state of its own beside its parts' and must write its own {method}()")

    def _keys(self, key: Key) -> list[Key]:
        return list(jax.random.split(key, len(self.parts))) if self.parts else []


class Normalizer(Part):
    """g: turns an uncertainty into a spread."""

    @property
    def ceiling(self) -> float | None:
        """The spread that no uncertainty exceeds, if there is one: close to it, g is saturated."""
        return None

    def __call__(self, uncertainty: Array) -> Array:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(uncertainty)")


class Distribution(Part):
    """D: samples an action around `center` with `spread`.

    In a Discrete space `center` holds one preference per action and a spread of 0 trusts them, of 1 ignores
    them. In a Box `center` is the mean action and the spread counts in half ranges.
    """

    def begin(self, key: Key, carry: Carry = None) -> Carry:
        """The carry an episode starts with; `carry` is what the last one left, None before the first."""
        return ()

    def sample(
        self, key: Key, center: Array, spread: Array, carry: Carry, action_mask: Array | None = None
    ) -> tuple[Array, Array, Carry]:
        """The action, whether it explores, and the new carry."""
        raise NotImplementedError(f"{type(self).__name__} has no sample(key, center, spread, carry)")

    def impose(
        self, active: Array, action: Array, center: Array, action_mask: Array | None
    ) -> tuple[Array, Array | None]:
        """The center and the mask with which a spread of 0 gives `action`, where a mentor is `active`."""
        return jnp.where(active, jnp.asarray(action, float), center), action_mask

    def exploit(self, key: Key, center: Array, action_mask: Array | None = None) -> Array:
        """The policy's own action."""
        key_begin, key_sample = jax.random.split(key)
        action, _, _ = self.sample(key_sample, center, jnp.zeros(()), self.begin(key_begin), action_mask)
        return action


class Guard(Part):
    """A mentor: where it is active, its action is taken and nothing is explored."""

    def __call__(self, obs: Any) -> tuple[Array, Array]:
        """Whether the mentor speaks in s, and its action: an integer in a Discrete space, a vector in a Box."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__(obs)")
