"""Triggers: switch between exploitation (f = 0) and periods of exploration (f = c)."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State


class TriggeredCarry(NamedTuple):
    left: Array
    """The number of steps (or episodes) left in the current period."""
    first: Array
    """Whether the next step is the first of the episode."""
    f: Carry


@dataclasses.dataclass(frozen=True)
class Triggered(Mechanism):
    """Explores in periods, which begin with a probability given by another f.

        f(s) = c  for m steps from the one in which a period begins, else 0;  P(a period begins) = min(1, trigger(s))

    `Constant(p)` and `Every(n)` are blind triggers, `Homeostasis(f, rate)` is an informed one. The trigger is
    evaluated in every step, but ignored during a period. With per="step", a period ends at the latest with its
    episode. With per="episode", the trigger is evaluated in the first step of an episode only, m counts episodes,
    and an episode explores in all of its steps or in none.

    Args:
        trigger: the probability that a period begins.
        duration: m, the length of a period; its mean if `random`.
        random: whether m is drawn from a geometric distribution.
        per: the unit of m and of the trigger, "step" or "episode".
        start: "explore" begins every episode (with per="episode", the first one only) with a period, "exploit" none.
        c: f in a period, > 0; with `Identity` and `Bernoulli`, a c of 1 makes every action of a period uniform.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Triggered(adeu.Every(3), duration=2)
        >>> carry, values = f.begin(jax.random.key(0)), []
        >>> for key in jax.random.split(jax.random.key(1), 6):
        ...     value, carry = f.measure(key, ((),), carry, obs=0)
        ...     values.append(float(value))
        >>> values
        [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]

    Reference: Pislar et al., "When should agents explore?", 2022.
    Paper: Table 2.
    """

    trigger: Mechanism
    duration: int = 1
    random: bool = False
    per: Literal["step", "episode"] = "step"
    start: Literal["exploit", "explore"] = "exploit"
    c: float = 1.0

    def __post_init__(self) -> None:
        check.instance(self, "trigger", Mechanism)
        check.whole(self, "duration", at_most=2**30)
        check.instance(self, "random", bool)
        check.one_of(self, "per", ("step", "episode"))
        check.one_of(self, "start", ("exploit", "explore"))
        check.number(self, "c", above=0)
        if self.per == "episode" and "reward" in self.trigger.needs("measure"):
            takes = "an f that needs no reward if per='episode': the first step of an episode has none"
            check.refuse(self, "trigger", takes, self.trigger)

    def begin(self, key: Key, carry: TriggeredCarry | None = None) -> TriggeredCarry:
        key_f, key_length = jax.random.split(key)
        left = jnp.zeros((), jnp.int32)
        if carry is not None and self.per == "episode":
            left = jnp.where(carry.first, carry.left, jnp.maximum(carry.left - 1, 0))
        elif self.start == "explore":
            left = self._length(key_length)
        f_carry = super().begin(key_f, None if carry is None else carry.f)
        return TriggeredCarry(left, jnp.ones((), bool), f_carry)

    def asked(self, carry: TriggeredCarry) -> Array:
        return super().asked(carry.f)

    def ask(self, carry: TriggeredCarry) -> TriggeredCarry:
        return carry._replace(f=super().ask(carry.f))

    def measure(
        self, key: Key, state: State, carry: TriggeredCarry, obs: Any, **given: Any
    ) -> tuple[Array, TriggeredCarry]:
        key_f, key_coin, key_length = jax.random.split(key, 3)
        (chance,), f_carry = self.measure_parts(key_f, state, carry.f, obs, **given)
        begins = (carry.left == 0) & (jax.random.uniform(key_coin) < chance)
        if self.per == "episode":
            begins &= carry.first
            f_carry = jax.tree.map(lambda new, old: jnp.where(carry.first, new, old), f_carry, carry.f)
        left = jnp.where(begins, self._length(key_length), carry.left)
        after = left if self.per == "episode" else jnp.maximum(left - 1, 0)
        return jnp.where(left > 0, self.c, 0.0), TriggeredCarry(after, jnp.zeros((), bool), f_carry)

    def _length(self, key: Key) -> Array:
        """Return m: fixed, or geometric with mean `duration`."""
        if not self.random or self.duration == 1:
            return jnp.asarray(self.duration, jnp.int32)
        return jax.random.geometric(key, 1.0 / self.duration, dtype=jnp.int32)


@dataclasses.dataclass(frozen=True)
class Every(Mechanism):
    """1 in every n-th step, else 0: a blind trigger for `Triggered`.

        f = 1 if t mod n = 0 else 0,   t = 1, 2, ...

    Each environment has a separate count, which continues across episodes.

    Args:
        n: the number of steps from one 1 to the next; in a `Triggered` with per="episode", the number of episodes.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Every(2)
        >>> carry, values = f.begin(jax.random.key(0)), []
        >>> for _ in range(4):
        ...     value, carry = f.measure(jax.random.key(1), (), carry, obs=0)
        ...     values.append(float(value))
        >>> values
        [0.0, 1.0, 0.0, 1.0]

    Reference: Pislar et al., "When should agents explore?", 2022.
    """

    n: int

    def __post_init__(self) -> None:
        check.whole(self, "n", at_most=2**30)

    def begin(self, key: Key, carry: Carry = None) -> Carry:
        return jnp.zeros((), jnp.int32) if carry is None else carry

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        count = carry + 1
        due = count >= self.n
        return jnp.where(due, 1.0, 0.0), jnp.where(due, 0, count)


class HomeostasisCarry(NamedTuple):
    tau: Array
    mean: Array
    variance: Array
    log_y: Array
    """The logarithm of the running mean of y, because y may overflow."""
    f: Carry


@dataclasses.dataclass(frozen=True)
class Homeostasis(Mechanism):
    """Converts a signal of any scale into a probability with mean `rate`.

        f(s) = min(1, rate * y / m(y)),   y = exp((x - m(x)) / sd(x)),   x = signal(s)

    m and sd are a running mean and standard deviation that include the newest value, with a weight of 1/tau,
    tau = min(t, 100/rate) after t steps. Each environment has separate ones, which continue across episodes. While sd
    is 0, y = 1. If the signal has outliers with rate * y above m(y), the mean probability is below `rate`.

    Args:
        signal: an f; the higher it is, the higher the probability.
        rate: the target of the mean probability, in (0, 1].

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Homeostasis(adeu.Constant(5000.0), rate=0.1)
        >>> chance, carry = f.measure(jax.random.key(0), ((),), f.begin(jax.random.key(1)), obs=0)
        >>> round(float(chance), 6)
        0.1

    Reference: Pislar et al., "When should agents explore?", 2022.
    """

    signal: Mechanism
    rate: float

    def __post_init__(self) -> None:
        check.instance(self, "signal", Mechanism)
        check.number(self, "rate", above=0, at_most=1)

    def begin(self, key: Key, carry: HomeostasisCarry | None = None) -> HomeostasisCarry:
        zero, one = jnp.zeros(()), jnp.ones(())
        left = HomeostasisCarry(zero, zero, one, zero, None) if carry is None else carry
        return left._replace(f=super().begin(key, left.f))

    def asked(self, carry: HomeostasisCarry) -> Array:
        return super().asked(carry.f)

    def ask(self, carry: HomeostasisCarry) -> HomeostasisCarry:
        return carry._replace(f=super().ask(carry.f))

    def measure(
        self, key: Key, state: State, carry: HomeostasisCarry, obs: Any, **given: Any
    ) -> tuple[Array, HomeostasisCarry]:
        (x,), f_carry = self.measure_parts(key, state, carry.f, obs, **given)
        tau = jnp.minimum(carry.tau + 1, 100 / self.rate)
        mean = carry.mean + (x - carry.mean) / tau
        variance = carry.variance + ((x - mean) ** 2 - carry.variance) / tau
        log_y = jnp.where(variance > 0, (x - mean) / jnp.sqrt(jnp.where(variance > 0, variance, 1.0)), 0.0)
        log_mean = jnp.logaddexp(jnp.log1p(-1 / tau) + carry.log_y, log_y - jnp.log(tau))
        chance = jnp.minimum(1.0, self.rate * jnp.exp(log_y - log_mean))
        return chance, HomeostasisCarry(tau, mean, variance, log_mean, f_carry)
