"""Checks of the engine's arguments: each names the argument, what it takes and what it got."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


def refuse(owner: str, argument: str, takes: str, got: Any) -> NoReturn:
    raise ValueError(f"{owner}: {argument} takes {takes}, got {got!r}")


def whole(owner: str, argument: str, value: Any, *, at_least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        refuse(owner, argument, f"a whole number >= {at_least}", value)
    return int(value)


def number(
    owner: str,
    argument: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> float:
    bounds = [f"> {above:g}"] * (above > -math.inf)
    bounds += [f">= {at_least:g}"] * (at_least > -math.inf)
    bounds += [f"<= {at_most:g}"] * (at_most < math.inf)
    takes = f"a finite number {' and '.join(bounds)}"
    if isinstance(value, bool) or not isinstance(value, float | int | np.number) or not np.isfinite(value):
        refuse(owner, argument, takes, value)
    if value <= above or value < at_least or value > at_most:
        refuse(owner, argument, takes, value)
    return float(value)


def array(owner: str, argument: str, value: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """The value as a new array of this shape with finite entries; a single number is spread over it."""
    try:
        given = np.asarray(value)
        result = np.array(np.broadcast_to(given, shape) if given.ndim == 0 else given, dtype)
    except (TypeError, ValueError):
        refuse(owner, argument, f"an array of shape {shape}", value)
    if result.shape != shape:
        refuse(owner, argument, f"an array of shape {shape}", f"shape {result.shape}")
    if not (np.isfinite(given).all() and (result == given).all()):
        refuse(owner, argument, f"finite numbers that fit {np.dtype(dtype)}", given)
    return result
