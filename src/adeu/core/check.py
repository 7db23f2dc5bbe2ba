"""Argument checks. Error messages name the part, the argument, the values it takes and the value it got."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

LARGEST_SEED = 2**32 - 1
"""The largest seed; JAX ignores all but the last 32 bits of larger seeds."""


def refuse(owner: Any, argument: str, takes: str, got: Any) -> NoReturn:
    name = owner if isinstance(owner, str) else type(owner).__name__
    raise ValueError(f"{name}: {argument} takes {takes}, got {got!r}")


def as_number(
    owner: Any,
    argument: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> float:
    """Return the value as a float; reject it if it is not finite or out of bounds."""
    bounds = [f"> {above:g}"] * (above > -math.inf)
    bounds += [f">= {at_least:g}"] * (at_least > -math.inf)
    bounds += [f"<= {at_most:g}"] * (at_most < math.inf)
    takes = " ".join(["a finite number", " and ".join(bounds)]).strip()
    if isinstance(value, bool) or not isinstance(value, float | int | np.number) or not np.isfinite(value):
        refuse(owner, argument, takes, value)
    if value <= above or value < at_least or value > at_most:
        refuse(owner, argument, takes, value)
    return float(value)


def as_whole(owner: Any, argument: str, value: Any, *, at_least: int = 1, at_most: float = math.inf) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not at_least <= value <= at_most:
        limit = "" if at_most == math.inf else f" and <= {at_most}"
        refuse(owner, argument, f"a whole number >= {at_least}{limit}", value)
    return int(value)


def number(part: Any, argument: str, **bounds: float) -> None:
    """Check a field with `as_number`, and convert it."""
    object.__setattr__(part, argument, as_number(part, argument, getattr(part, argument), **bounds))


def whole(part: Any, argument: str, *, at_least: int = 1, at_most: float = math.inf) -> None:
    """Check a field with `as_whole`, and convert it."""
    value = as_whole(part, argument, getattr(part, argument), at_least=at_least, at_most=at_most)
    object.__setattr__(part, argument, value)


def one_of(part: Any, argument: str, choices: tuple[str, ...]) -> None:
    value = getattr(part, argument)
    if value not in choices:
        refuse(part, argument, " or ".join(map(repr, choices)), value)


def instance(part: Any, argument: str, kind: type, hint: str = "") -> None:
    value = getattr(part, argument)
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        refuse(part, argument, f"{article} {kind.__name__}{hint}", value)


def frozen(part: Any, argument: str) -> None:
    """Make a field hashable: arrays and (nested) lists become (nested) tuples."""

    def freeze(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return freeze(value.tolist())
        return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value

    object.__setattr__(part, argument, freeze(getattr(part, argument)))


def limits(part: Any) -> None:
    """Makes the fields `low` and `high` hashable; they are finite numbers, or one per dimension, or both None."""
    if (part.low is None) != (part.high is None):
        refuse(part, "the range (low, high)", "both or neither", (part.low, part.high))
    if part.low is not None:
        frozen(part, "low")
        frozen(part, "high")
        low, high = np.asarray(part.low, np.float32), np.asarray(part.high, np.float32)
        alike = () in (low.shape, high.shape) or low.shape == high.shape
        with np.errstate(over="ignore"):
            fits = alike and np.isfinite(high - low).all() and bool(np.all(low < high))
        if not fits:
            refuse(part, "the range (low, high)", "finite numbers with low < high", (part.low, part.high))


def returned(part: Any, method: str, value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    if not isinstance(value, tuple) or len(value) != len(names):
        raise TypeError(f"{part!r}.{method}() must return ({', '.join(names)}), it returned {value!r}")
    return value


def nearest(word: str, known: Iterable[str]) -> str:
    """Return text for an error message about an unknown name: the closest known name, then all known names."""
    known = sorted(known)
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    guess = f"did you mean {by_lower[close[0]]!r}? " if close else ""
    return f"{guess}Known: {', '.join(known)}"
