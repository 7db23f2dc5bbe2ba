"""Trees of arrays in one file, without pickle: written aside, then renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def save(path: str | os.PathLike[str], header: dict[str, Any], tree: Any) -> None:
    """Writes `header` and the leaves of `tree`; the file appears whole or not at all."""
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}")
    arrays: dict[str, Any] = {f"leaf_{i}": _to_disk(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(aside, "wb") as file:
            np.savez(file, header=text, **arrays)
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], header: dict[str, Any], like: Any) -> Any:
    """The tree that was saved with this `header`, shaped as `like` is."""
    with open(path, "rb") as opened:
        try:
            with np.load(opened, allow_pickle=False) as file:
                found = json.loads(bytes(file["header"]))
                arrays = [file[f"leaf_{i}"] for i in range(len(file.files) - 1)]
        except Exception as error:  # whatever a stranger's bytes may lead zipfile, numpy and json to
            raise ValueError(f"{path} is damaged or was not written by adeu ({error})") from None
    if not isinstance(found, dict) or found.get("format") != header["format"]:
        raise ValueError(f"{path} was not written by {header['format']}")
    for name, value in header.items():
        if json.dumps(found.get(name)) != json.dumps(value):
            raise ValueError(f"{path} was made with another {name}: {found.get(name)}; here it is {value}")
    leaves, structure = jax.tree.flatten(like)
    expected = [_to_disk(leaf) for leaf in leaves]
    if [(a.shape, a.dtype) for a in arrays] != [(a.shape, a.dtype) for a in expected]:
        raise ValueError(f"{path} is damaged: its arrays do not have the shapes of its parts")
    restored = [_from_disk(array, leaf) for array, leaf in zip(arrays, leaves, strict=True)]
    return jax.tree.unflatten(structure, restored)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _to_disk(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _from_disk(array: np.ndarray, like: Any) -> Any:
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(array), impl=jax.random.key_impl(like))
    return array if isinstance(like, np.ndarray) else jnp.asarray(array)
