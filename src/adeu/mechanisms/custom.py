"""A user's own f from functions: `from_function` where JAX can trace them, `from_host` where it cannot."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from adeu.core import check
from adeu.core.contract import RESERVED, Array, Carry, Hook, Key, Mechanism, State


@dataclasses.dataclass(frozen=True)
class FromFunction(Mechanism):
    """See `from_function`, which makes it."""

    function: Callable[[Any], Array]

    def __post_init__(self) -> None:
        _check_callable(self, "function")

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        try:
            return self.function(obs), carry
        except jax.errors.JAXTypeError as error:
            raise TypeError(
                "FromFunction: JAX cannot trace its function, which may be in numpy: write it in jax.numpy, or use "
                "adeu.from_host"
            ) from error


@dataclasses.dataclass(frozen=True)
class FromHost(Mechanism):
    """See `from_host`, which makes it."""

    compute: Callable[[Any], Any]
    learn: Callable[[Any], None] | None = None
    name: str = "host_uncertainty"

    def __post_init__(self) -> None:
        _check_callable(self, "compute")
        if self.learn is not None:
            _check_callable(self, "learn")
        if not (isinstance(self.name, str) and self.name.isidentifier()) or self.name in RESERVED:
            check.refuse(self, "name", f"a Python identifier that is not one of {', '.join(RESERVED)}", self.name)

    @property
    def learns_from(self) -> frozenset[str]:
        return frozenset({"update"} if self.learn is not None else ())

    def needs(self, hook: Hook) -> frozenset[str]:
        return super().needs(hook) | ({self.name} if hook == "measure" else set())

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        if self.name not in given:
            raise TypeError(f"FromHost.measure() missing 1 required keyword-only argument: {self.name!r}")
        return given[self.name], carry


def from_function(function: Callable[[Any], Array]) -> FromFunction:
    """An f that needs nothing but the observation and that JAX can trace.

        f(s) = function(s)

    Args:
        function: from one observation to one number >= 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.from_function(lambda obs: abs(obs[0]))
        >>> float(f.measure(jax.random.key(0), (), (), jax.numpy.array([-3.0]))[0])
        3.0
    """
    return FromFunction(function)


def from_host(
    compute: Callable[[Any], Any],
    update: Callable[[Any], None] | None = None,
    name: str = "host_uncertainty",
) -> FromHost:
    """An f in somebody else's code (numpy, torch, anything): computed outside the compiled step.

        f(s) = compute(batch of s)

    `Behavior` calls it before each step and passes the numbers on as a `given` of that `name`; whoever calls an
    `Explorer` directly does the same. What `compute` learns is its own: `Behavior.save` does not save it.

    Args:
        compute: from a batch of observations (leading axis: environments) to one number >= 0 for each.
        update: called with each batch (`Transition`) that `Behavior.update` gets; None: nothing to learn.
        name: of the `given`; two in one explorer need two names.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.from_host(lambda obs: [float(o.sum()) for o in obs])
        >>> f.measure(jax.random.key(0), (), (), obs=0, host_uncertainty=0.5)[0]
        0.5
    """
    return FromHost(compute, update, name)


def _check_callable(part: Mechanism, argument: str) -> None:
    if not callable(getattr(part, argument)):
        check.refuse(part, argument, "a function", getattr(part, argument))
