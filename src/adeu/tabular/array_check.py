"""Checks an array argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core import check


def as_array(owner: Any, argument: str, value: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return the value as a new array of this shape with finite entries; broadcast a single number."""
    try:
        given = np.asarray(value)
        result = np.array(np.broadcast_to(given, shape) if given.ndim == 0 else given, dtype)
    except (TypeError, ValueError):
        check.refuse(owner, argument, f"an array of shape {shape}", value)
    if result.shape != shape:
        check.refuse(owner, argument, f"an array of shape {shape}", f"shape {result.shape}")
    if not (np.isfinite(given).all() and (result == given).all()):
        check.refuse(owner, argument, f"finite numbers that fit {np.dtype(dtype)}", given)
    return result
