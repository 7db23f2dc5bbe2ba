"""Convert arrays (numpy, torch, JAX, lists) to checked numpy arrays with a leading axis of environments, and
actions to the type of their space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import DTypeLike

if TYPE_CHECKING:
    pass

Observation = np.ndarray | dict[str, "Observation"] | tuple["Observation", ...]
"""Checked observations of a batch of environments: arrays, or (nested) dicts and tuples of arrays."""

TAKES = {"b": "true or false", "f": "numbers", "i": "whole numbers", "u": "whole numbers"}


def to_numpy(value: object) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    array = np.asarray(_from_torch(value) if hasattr(value, "detach") else value)
    return array.astype(np.float32) if str(array.dtype) == "bfloat16" else array


def _from_torch(tensor: Any) -> object:
    tensor = tensor.detach().cpu()
    return tensor.float() if "bfloat16" in str(tensor.dtype) else tensor


def read(name: str, value: object, shape: tuple[int, ...], dtype: np.dtype, lead: int | None) -> np.ndarray:
    """Return a checked array of shape (lead, *shape); if `lead` is None, the value has no leading axis."""
    expected = shape if lead is None else (lead, *shape)
    try:
        array = to_numpy(value)
    except ValueError:
        raise ValueError(f"{name} takes shape {expected}, got a {type(value).__name__} of unequal parts") from None
    if array.dtype.kind == "O":
        raise ValueError(f"{name} takes {TAKES[dtype.kind]}, shape {expected}, got a {type(value).__name__}")
    if array.shape != expected:
        raise ValueError(f"{name} takes shape {expected}, got {array.shape}")
    if array.dtype.kind not in "biuf" or (dtype.kind in "iu" and array.dtype.kind == "f"):
        raise ValueError(f"{name} takes {TAKES[dtype.kind]}, got {array.dtype}")
    # Copied, because a compiled step may read it after the caller has changed it.
    own = array.copy() if array.dtype == dtype else _cast(array, dtype)
    if dtype.kind == "f":
        check_finite(name, own)
    elif array.dtype != dtype and not np.array_equal(own, array):
        takes = "true or false" if dtype.kind == "b" else f"numbers that fit {dtype}"
        raise ValueError(f"{name} takes {takes}, got {value}")
    return own[None] if lead is None else own


def _cast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype)


def check_finite(name: str, array: np.ndarray) -> None:
    finite = np.isfinite(array)
    if np.count_nonzero(finite) < array.size:  # three times as fast as `all`
        bad = np.argwhere(~finite)[0]
        raise ValueError(f"{name} takes finite numbers, got {array[tuple(bad)]} at index {bad.tolist()}")


def check_uncertainty(name: str, part: object, values: np.ndarray, obs: Observation) -> None:
    """Reject invalid values of f or g; the error shows the observation."""
    if not 0 <= values.min() <= values.max() < np.inf:  # also False for NaN
        index = int(np.argmin(np.isfinite(values) & (values >= 0)))
        row = jax.tree.map(lambda leaf: leaf[index].tolist(), obs)
        raise ValueError(
            f"{name} must return a finite number >= 0; {part!r} returned {values[index]} in environment {index} "
            f"(observation {row})"
        )


def read_tree(name: str, value: object, example: Observation, lead: int | None) -> Observation:
    """Apply `read` to a (nested) dict or tuple of arrays with the structure of `example`."""
    if isinstance(example, dict):
        if not isinstance(value, Mapping) or set(value) != set(example):
            got = sorted(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
            raise ValueError(f"{name} takes a dict with the keys {sorted(example)}, got {got}")
        return {key: read_tree(f"{name}[{key!r}]", value[key], example[key], lead) for key in example}
    if isinstance(example, tuple):
        if not isinstance(value, tuple | list) or len(value) != len(example):
            raise ValueError(f"{name} takes a tuple of {len(example)}, got {type(value).__name__}")
        each = enumerate(zip(value, example, strict=True))
        return tuple(read_tree(f"{name}[{i}]", item, like, lead) for i, (item, like) in each)
    return read(name, value, example.shape[1:], example.dtype, lead)


def zeros(space: object, lead: int) -> Observation:
    """Return a batch of zeros of an observation space, in the precision of JAX."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return {key: zeros(item, lead) for key, item in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(zeros(item, lead) for item in space.spaces)
    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiBinary | spaces.MultiDiscrete):
        takes = "Box, Discrete, MultiBinary, MultiDiscrete, or a Dict or Tuple of them"
        raise ValueError(f"Behavior: the observation space takes {takes}, got {space}")
    return np.zeros((lead, *(space.shape or ())), compute_dtype(space.dtype))


def compute_dtype(dtype: DTypeLike) -> np.dtype:
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def to_space(space: Any, action: np.ndarray) -> np.ndarray:
    """Convert actions to the type of their space.

    Add the `start` of a Discrete. Clip to a Box, because rounding to its type may move an action out of bounds.

    Examples:
        >>> import gymnasium, numpy as np
        >>> to_space(gymnasium.spaces.Discrete(3, start=5), np.array([0, 2])).tolist()
        [5, 7]
        >>> to_space(gymnasium.spaces.Box(-1, 1, (1,)), np.array([1.5])).tolist()
        [1.0]
    """
    if hasattr(space, "low"):
        # np.clip does the same but takes three times as long.
        clipped: np.ndarray = np.minimum(np.maximum(action.astype(space.dtype, copy=False), space.low), space.high)
        return clipped
    return np.asarray(action + space.start).astype(space.dtype)
