"""Checks of arguments; errors name the class, the argument, the accepted values and the given one."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray


def refuse(owner: Any, argument: str, takes: str, got: Any, hint: str = "") -> NoReturn:
    raise ValueError(f"{type(owner).__name__}: {argument} takes {takes}, got {got!r}{hint}")


def whole(owner: Any, argument: str, value: Any, *, at_least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        refuse(owner, argument, f"a whole number >= {at_least}", value)
    return int(value)


def number(owner: Any, argument: str, value: Any, *, at_least: float = -math.inf) -> float:
    takes = "a finite number" + (f" >= {at_least:g}" if at_least > -math.inf else "")
    if isinstance(value, bool) or not isinstance(value, float | int | np.number) or not np.isfinite(value):
        refuse(owner, argument, takes, value)
    if value < at_least:
        refuse(owner, argument, takes, value)
    return float(value)


def one_of(owner: Any, argument: str, value: Any, choices: Iterable[str]) -> None:
    """Reject an unknown name and suggest the closest known one."""
    choices = list(choices)
    if value not in choices:
        by_lower = {choice.lower(): choice for choice in choices}
        close = difflib.get_close_matches(str(value).lower(), by_lower, n=1, cutoff=0.5)
        hint = f"; did you mean {by_lower[close[0]]!r}?" if close else ""
        refuse(owner, argument, " or ".join(map(repr, choices)), value, hint)


def heat(owner: Any, argument: str, values: ArrayLike, cells: int) -> NDArray[np.float64]:
    """Return a flat array with a number in [0, 1] for each cell."""
    array = np.asarray(values, np.float64)
    if array.size != cells:
        refuse(owner, argument, f"{cells} numbers, one per cell", array.shape)
    if not ((array >= 0) & (array <= 1)).all():  # also rejects NaN
        refuse(owner, argument, "numbers in [0, 1]", (float(array.min()), float(array.max())))
    return array.ravel()
