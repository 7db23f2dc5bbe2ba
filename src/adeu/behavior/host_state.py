"""Convert the state of an object outside of JAX to JSON and arrays, without pickle, and back.

A state consists of nested dicts, lists and tuples of numpy arrays, torch tensors, numbers, text and None, like the
`state_dict` of torch. Its structure is stored as JSON; each array is a separate entry.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

TAKES = "dicts (of text or whole numbers), lists, tuples, arrays and tensors of numbers, numbers, text and None"

Arrays = dict[str, np.ndarray]


def pack(name: str, state: Any) -> Arrays:
    """Convert a state to arrays: `name` holds its structure, `name.0`, `name.1`, ... its arrays.

    Examples:
        >>> from adeu.behavior import host_state
        >>> arrays = host_state.pack("mine", {"mean": np.array([0.5, 1.5]), "seen": 2})
        >>> sorted(arrays), host_state.unpack("mine", arrays)
        (['mine', 'mine.0'], {'mean': array([0.5, 1.5]), 'seen': 2})
    """
    arrays: list[np.ndarray] = []
    form = json.dumps(_form(name, state, arrays))
    entries = {f"{name}.{index}": array for index, array in enumerate(arrays)}
    return {name: np.frombuffer(form.encode(), np.uint8)} | entries


def unpack(name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    """Convert the arrays that `pack` returned back to the state; reject other arrays."""
    used: set[str] = set()
    state = _state(name, json.loads(arrays[name].tobytes()), arrays, used)
    if unused := set(arrays) - used - {name}:
        raise ValueError(f"{name} does not refer to {sorted(unused)}")
    return state


def _form(place: str, value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, Mapping):
        if any(type(key) not in (str, int) for key in value):
            raise TypeError(f"the state at {place} takes keys that are text or whole numbers, got {list(value)}")
        return {"dict": [[key, _form(f"{place}[{key!r}]", item, arrays)] for key, item in value.items()]}
    if type(value) in (list, tuple):
        items = [_form(f"{place}[{index}]", item, arrays) for index, item in enumerate(value)]
        return {type(value).__name__: items}
    if value is None or type(value) in (bool, int, float, str):
        return {"value": value}
    kind, array = _array(value)
    if array is None or array.dtype.kind not in "biufc":
        raise TypeError(f"the state at {place} takes {TAKES}, got {value!r} of type {type(value).__name__}")
    arrays.append(array)
    return {kind: len(arrays) - 1}


def _array(value: Any) -> tuple[str, np.ndarray | None]:
    """Return the kind of an array, for `_state`, and its values; None if numpy does not support it."""
    torch = sys.modules.get("torch")
    try:
        if torch is not None and isinstance(value, torch.Tensor):
            return "tensor", value.numpy(force=True)
        if isinstance(value, np.generic):
            return "scalar", np.asarray(value)
        return "array", np.asarray(value) if isinstance(value, np.ndarray | jax.Array) else None
    except TypeError:  # torch's bfloat16, JAX's keys
        return "array", None


def _state(name: str, form: Any, arrays: Mapping[str, np.ndarray], used: set[str]) -> Any:
    ((kind, value),) = form.items()
    if kind == "dict":
        return {key: _state(name, item, arrays, used) for key, item in value}
    if kind in ("list", "tuple"):
        items = [_state(name, item, arrays, used) for item in value]
        return items if kind == "list" else tuple(items)
    if kind == "value":
        return value
    entry = f"{name}.{value}"
    if entry in used or arrays[entry].dtype.kind not in "biufc":
        raise ValueError(f"{name} refers to {entry} twice, or {entry} is not numeric")
    used.add(entry)
    if kind == "tensor":
        # A file must not make Python import torch.
        return sys.modules["torch"].from_numpy(arrays[entry])
    return {"scalar": lambda array: array[()], "array": lambda array: array}[kind](arrays[entry])
