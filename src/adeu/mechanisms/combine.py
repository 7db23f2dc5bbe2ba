"""Combinations of mechanisms: state and carry are those of the parts, in order."""

from __future__ import annotations

import dataclasses
import functools
import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Hook, Key, Mechanism, State


@dataclasses.dataclass(frozen=True)
class Sum(Mechanism):
    """The sum of several uncertainties.

        f(s) = f_1(s) + ... + f_k(s)

    Args:
        terms: the mechanisms.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Sum((adeu.Constant(1.0), adeu.Constant(2.0)))
        >>> float(f.measure(jax.random.key(0), ((), ()), ((), ()), obs=0)[0])
        3.0
    """

    terms: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        _check_mechanisms(self, "terms")

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        values, carry = self.measure_parts(key, state, carry, obs, **given)
        return functools.reduce(operator.add, values), carry


@dataclasses.dataclass(frozen=True)
class Product(Mechanism):
    """The product of several uncertainties; multiply by a `Constant` to scale one.

        f(s) = f_1(s) * ... * f_k(s)

    Args:
        factors: the mechanisms.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Product((adeu.Constant(3.0), adeu.Constant(2.0)))
        >>> float(f.measure(jax.random.key(0), ((), ()), ((), ()), obs=0)[0])
        6.0
    """

    factors: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        _check_mechanisms(self, "factors")

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        values, carry = self.measure_parts(key, state, carry, obs, **given)
        return functools.reduce(operator.mul, values), carry


@dataclasses.dataclass(frozen=True)
class Inverse(Mechanism):
    """Explores where it is cheap: the inverse of the expected cost.

        f(s) = 1 / max(f_safety(s), floor)

    Args:
        f_safety: the expected cost.
        floor: the lower bound of the cost, > 0, which keeps f finite at a cost of 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Inverse(adeu.Constant(4.0))
        >>> float(f.measure(jax.random.key(0), ((),), ((),), obs=0)[0])
        0.25

    Paper: Eq. 5.
    """

    f_safety: Mechanism
    floor: float = 0.1

    def __post_init__(self) -> None:
        check.instance(self, "f_safety", Mechanism)
        check.number(self, "floor", above=0)

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        (cost,), carry = self.measure_parts(key, state, carry, obs, **given)
        return 1.0 / jnp.maximum(cost, self.floor), carry


@dataclasses.dataclass(frozen=True)
class Ratio(Mechanism):
    """Explores where it is uncertain and cheap: the uncertainty divided by the expected cost.

        f(s) = f_uncertainty(s) / (lam * max(f_safety(s), floor))

    With lam = "conditioned", lambda = max(1, max_a Q(s, a)) where the cost exceeds max_a Q(s, a), else 1. Safety then
    dominates in these states at any scale of the rewards. The agent must pass `q_values` as for `EnsembleStd`; their
    mean over the critics is used.

    Args:
        f: the uncertainty.
        f_safety: the expected cost.
        lam: lambda, a number > 0 or "conditioned".
        floor: the lower bound of the cost, > 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Ratio(adeu.Constant(3.0), adeu.Constant(2.0))
        >>> float(f.measure(jax.random.key(0), ((), ()), ((), ()), obs=0)[0])
        1.5

    Paper: Eq. 6.
    """

    f: Mechanism
    f_safety: Mechanism
    lam: float | str = 1.0
    floor: float = 0.1

    def __post_init__(self) -> None:
        check.instance(self, "f", Mechanism)
        check.instance(self, "f_safety", Mechanism)
        check.number(self, "floor", above=0)
        if isinstance(self.lam, str) and self.lam != "conditioned":
            check.refuse(self, "lam", "a number > 0 or 'conditioned'", self.lam)
        if not isinstance(self.lam, str):
            check.number(self, "lam", above=0)

    def needs(self, hook: Hook) -> frozenset[str]:
        own = {"q_values"} if hook == "measure" and isinstance(self.lam, str) else set()
        return super().needs(hook) | own

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        (uncertainty, cost), carry = self.measure_parts(key, state, carry, obs, **given)
        lam = self._conditioned(cost, **given) if isinstance(self.lam, str) else self.lam
        return uncertainty / (lam * jnp.maximum(cost, self.floor)), carry

    @staticmethod
    def _conditioned(cost: Array, *, q_values: Array, action_mask: Array | None = None, **given: Any) -> Array:
        values = jnp.mean(q_values, axis=0)
        if action_mask is not None and values.ndim == 1:
            values = jnp.where(action_mask, values, -jnp.inf)
        best = jnp.max(values)
        return jnp.where(cost > best, jnp.maximum(best, 1.0), 1.0)


class RolloutsCarry(NamedTuple):
    coin: Array
    decided: Array
    rollout: Array
    parts: Carry


@dataclasses.dataclass(frozen=True)
class Rollouts(Mechanism):
    """Rollout episodes: with probability rho, an episode uses another uncertainty c instead of f.

        f_rollout(s) = c   with probability rho, drawn at the start of an episode, else f(s)

    rho and c may be mechanisms: rho is then evaluated in the first state of an episode, c in each state of a rollout
    episode. With a `Schedule` as rho, rollouts become fewer over time; a `ReturnBandit` adapts rho to the returns.

    Args:
        f: the uncertainty in all other episodes.
        rho: the probability of a rollout episode, in [0, 1], or a mechanism.
        c: the uncertainty in a rollout episode, >= 0, or a mechanism; g is applied to it as to f.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Rollouts(adeu.Constant(5.0), rho=1.0, c=0.2)
        >>> uncertainty, carry = f.measure(jax.random.key(0), ((),), f.begin(jax.random.key(1)), obs=0)
        >>> round(float(uncertainty), 6)
        0.2
        >>> fewer = adeu.Rollouts(adeu.Counts(), rho=adeu.Schedule(0.3, 0.0, steps=10_000), c=0.2)

    Paper: section 2.1, "rollout episodes"; rho = 0.3 for RND, 0.1 for Q_std.
    """

    f: Mechanism
    rho: float | Mechanism
    c: float | Mechanism

    def __post_init__(self) -> None:
        check.instance(self, "f", Mechanism)
        if not isinstance(self.rho, Mechanism):
            check.number(self, "rho", at_least=0, at_most=1)
        if not isinstance(self.c, Mechanism):
            check.number(self, "c", at_least=0)

    def begin(self, key: Key, carry: RolloutsCarry | None = None) -> RolloutsCarry:
        key_coin, key_parts = jax.random.split(key)
        left = None if carry is None else carry.parts
        no = jnp.zeros((), bool)
        return RolloutsCarry(jax.random.uniform(key_coin), no, no, super().begin(key_parts, left))

    @property
    def remembers(self) -> bool:
        return self.f.remembers  # the draw of rollout episodes does not change f

    def asked(self, carry: RolloutsCarry) -> Array:
        return ~carry.rollout & self.f.asked(carry.parts[0])

    def ask(self, carry: RolloutsCarry) -> RolloutsCarry:
        never = jnp.zeros_like(carry.rollout)
        return RolloutsCarry(carry.coin, ~never, never, super().ask(carry.parts))

    def measure(
        self, key: Key, state: State, carry: RolloutsCarry, obs: Any, **given: Any
    ) -> tuple[Array, RolloutsCarry]:
        values, parts = self.measure_parts(key, state, carry.parts, obs, **given)
        uncertainty, *others = values
        rho = others.pop(0) if isinstance(self.rho, Mechanism) else self.rho
        c = others.pop(0) if isinstance(self.c, Mechanism) else self.c
        rollout = jnp.where(carry.decided, carry.rollout, carry.coin < rho)
        carry = RolloutsCarry(carry.coin, jnp.ones_like(carry.decided), rollout, parts)
        return jnp.where(rollout, c, uncertainty), carry


class CalibratedCarry(NamedTuple):
    mean: Array
    weight: Array
    f: Carry


@dataclasses.dataclass(frozen=True)
class Calibrated(Mechanism):
    """Divides an f of unknown magnitude by its running mean, so that it is about 1 on average while f is steady.

        f(s) / m,   m <- decay * m + (1 - decay) * f(s), with bias correction

    The result does not saturate a sigmoid. While f decreases, it is below 1; the larger the decay, the lower. Each
    environment has a separate running mean, which continues across episodes.

    Args:
        f: the uncertainty.
        decay: the decay of the running mean per step, from 0 to 0.999999.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Calibrated(adeu.Constant(5000.0))
        >>> uncertainty, carry = f.measure(jax.random.key(0), ((),), f.begin(jax.random.key(1)), obs=0)
        >>> float(uncertainty)
        1.0
    """

    f: Mechanism
    decay: float = 0.99

    def __post_init__(self) -> None:
        check.instance(self, "f", Mechanism)
        check.number(self, "decay", at_least=0, at_most=0.999999)

    def begin(self, key: Key, carry: CalibratedCarry | None = None) -> CalibratedCarry:
        left = CalibratedCarry(jnp.zeros(()), jnp.zeros(()), None) if carry is None else carry
        return CalibratedCarry(left.mean, left.weight, super().begin(key, left.f))

    def asked(self, carry: CalibratedCarry) -> Array:
        return super().asked(carry.f)

    def ask(self, carry: CalibratedCarry) -> CalibratedCarry:
        return carry._replace(f=super().ask(carry.f))

    def measure(
        self, key: Key, state: State, carry: CalibratedCarry, obs: Any, **given: Any
    ) -> tuple[Array, CalibratedCarry]:
        (uncertainty,), f_carry = self.measure_parts(key, state, carry.f, obs, **given)
        weight = self.decay * carry.weight + (1 - self.decay)
        mean = carry.mean + (1 - self.decay) / weight * (uncertainty - carry.mean)
        calibrated = jnp.where(mean > 0, uncertainty / jnp.where(mean > 0, mean, 1.0), 0.0)
        return calibrated, CalibratedCarry(mean, weight, f_carry)


def _check_mechanisms(part: Mechanism, argument: str) -> None:
    check.frozen(part, argument)
    values = getattr(part, argument)
    if not isinstance(values, tuple) or not values or not all(isinstance(value, Mechanism) for value in values):
        check.refuse(part, argument, "one or more Mechanisms", values)
