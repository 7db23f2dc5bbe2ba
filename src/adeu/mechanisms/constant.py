"""Uncertainty that does not depend on the state: constant, scheduled or recorded."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State
from adeu.core.explorer import Explorer
from adeu.normalizers import Identity


@dataclasses.dataclass(frozen=True)
class Constant(Mechanism):
    """The same uncertainty in all states. With `Bernoulli` it is epsilon-greedy, with `Gaussian` the noise of TD3.

        f(s) = c

    Args:
        c: the uncertainty, >= 0.

    Examples:
        >>> import adeu, jax
        >>> uncertainty, carry = adeu.Constant(c=0.1).measure(jax.random.key(0), (), (), obs=0)
        >>> round(float(uncertainty), 6)
        0.1

    Paper: the baseline "f(s) = c" of Table 5.
    """

    c: float

    def __post_init__(self) -> None:
        check.number(self, "c", at_least=0)

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        return jnp.asarray(self.c, float), carry


def check_chance(explorer: Explorer) -> None:
    """Reject a constant above 1 if `Identity` makes it the probability to explore."""
    if isinstance(explorer.f, Constant) and isinstance(explorer.g, Identity) and explorer.f.c > 1:
        check.refuse(explorer.f, "c", "a number <= 1, because it is the probability to explore", explorer.f.c)


@dataclasses.dataclass(frozen=True)
class Schedule(Mechanism):
    """Changes from one uncertainty to another over the environment steps, then stays constant.

        f = start + (end - start) * x  (linear)  or  start * (end/start)^x  (exponential),  x = min(step/steps, 1)

    Args:
        start: the uncertainty at step 0.
        end: the uncertainty from step `steps` on.
        steps: the number of environment steps of the change.
        kind: "linear" or "exponential", which requires start and end above 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Schedule(start=1.0, end=0.1, steps=100)
        >>> uncertainty, carry = f.measure(jax.random.key(0), (), (), obs=0, step=50)
        >>> round(float(uncertainty), 6)
        0.55

    Paper: the greedy-in-the-limit strategies of the motivating example.
    """

    start: float
    end: float
    steps: int
    kind: Literal["linear", "exponential"] = "linear"

    def __post_init__(self) -> None:
        check.one_of(self, "kind", ("linear", "exponential"))
        for argument in ("start", "end"):
            if self.kind == "linear":
                check.number(self, argument, at_least=0)
            else:
                check.number(self, argument, above=0)
        check.whole(self, "steps")

    def measure(
        self, key: Key, state: State, carry: Carry, obs: Any, *, step: Array, **given: Any
    ) -> tuple[Array, Carry]:
        progress = jnp.minimum(step / float(self.steps), 1.0)
        if self.kind == "linear":
            return self.start + (self.end - self.start) * progress, carry
        return self.start * (self.end / self.start) ** progress, carry


@dataclasses.dataclass(frozen=True)
class Recorded(Mechanism):
    """Replays recorded values, one per step: the control for an adaptive run.

        f = recorded[step]

    The agent passes `recorded`, the value of the current step.

    Examples:
        >>> import adeu, jax
        >>> uncertainty, carry = adeu.Recorded().measure(jax.random.key(0), (), (), obs=0, recorded=0.25)
        >>> float(uncertainty)
        0.25
    """

    def measure(
        self, key: Key, state: State, carry: Carry, obs: Any, *, recorded: Array, **given: Any
    ) -> tuple[Array, Carry]:
        return jnp.asarray(recorded, float), carry
