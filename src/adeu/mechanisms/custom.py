"""f from custom functions: `from_function` if JAX can trace them, else `from_host`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax

from adeu.core import check
from adeu.core.contract import RESERVED, Array, Carry, Hook, Key, Mechanism, State


@dataclasses.dataclass(frozen=True)
class FromFunction(Mechanism):
    """See `from_function`."""

    function: Callable[[Any], Array]

    def __post_init__(self) -> None:
        _check_callable(self, "function")

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        try:
            return self.function(obs), carry
        except jax.errors.JAXTypeError as error:
            raise TypeError(
                "FromFunction: JAX cannot trace the function (is it in numpy?): write it in jax.numpy, or use "
                "adeu.from_host"
            ) from error


@dataclasses.dataclass(frozen=True)
class FromHost(Mechanism):
    """See `from_host`."""

    compute: Callable[[Any], Any]
    learn: Callable[[Any], None] | None = None
    name: str = "host_uncertainty"
    state: Callable[[], Any] | None = None
    set_state: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        _check_callable(self, "compute")
        for argument in ("learn", "state", "set_state"):
            if getattr(self, argument) is not None:
                _check_callable(self, argument)
        if (self.state is None) != (self.set_state is None):
            check.refuse(self, "state and set_state", "two functions, or None for both", (self.state, self.set_state))
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


@dataclasses.dataclass(frozen=True)
class StateDicts:
    """Several named objects with one combined state dict."""

    objects: tuple[tuple[str, Any], ...]

    def state_dict(self) -> dict[str, Any]:
        return {name: each.state_dict() for name, each in self.objects}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        for name, each in self.objects:
            each.load_state_dict(saved[name])


def from_function(function: Callable[[Any], Array]) -> FromFunction:
    """Return an f that depends on the observation only, from a function that JAX can trace.

        f(s) = function(s)

    Args:
        function: maps one observation to a number >= 0.

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
    state: Any = None,
    set_state: Callable[[Any], Any] | None = None,
) -> FromHost:
    """Return an f from any Python code (numpy, torch), which is called outside the compiled step.

        f(s) = compute(batch of s)

    `Behavior` calls `compute` before each step and passes the result in `given` under `name`; do the same if you call
    an `Explorer` directly. `Behavior.save` saves what the code has learned if `state` is given, and warns if `update`
    is given without `state`.

    Args:
        compute: maps a batch of observations (leading axis: environments) to one number >= 0 for each.
        update: is called with each batch (`Transition`) that `Behavior.update` gets, if it is not None.
        name: the name in `given`; it must be unique within an explorer.
        state: what `Behavior.save` writes: an object with `state_dict` and `load_state_dict`, such as a torch module
            or optimizer, a dict of such objects by name, or a function that returns nested dicts, lists or tuples of
            arrays, tensors, numbers, text and None.
        set_state: the function that `Behavior.load` calls with the saved result of the `state` function.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.from_host(lambda obs: [float(o.sum()) for o in obs])
        >>> f.measure(jax.random.key(0), (), (), obs=0, host_uncertainty=0.5)[0]
        0.5
    """
    if set_state is None and state is not None:
        state, set_state = _state_dict_methods(state)
    return FromHost(compute, update, name, state, set_state)


def _state_dict_methods(state: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    objects = dict(state) if isinstance(state, Mapping) else {"state": state}
    if not all(hasattr(each, "state_dict") and hasattr(each, "load_state_dict") for each in objects.values()):
        takes = "an object with state_dict and load_state_dict, a dict of them, or a function together with set_state"
        check.refuse("from_host", "state", takes, state)
    owner = StateDicts(tuple(objects.items())) if isinstance(state, Mapping) else state
    return owner.state_dict, owner.load_state_dict


def _check_callable(part: Mechanism, argument: str) -> None:
    if not callable(getattr(part, argument)):
        check.refuse(part, argument, "a function", getattr(part, argument))
