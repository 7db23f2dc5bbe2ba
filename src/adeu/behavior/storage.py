"""Trees of arrays as numpy's, by name; and in one file, without pickle: written aside, then renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
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
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(aside, "wb") as file:
            np.savez(file, header=text, **arrays_of(tree))  # type: ignore[arg-type]
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], header: dict[str, Any], like: Any) -> Any:
    """The tree that was saved with this `header`, shaped as `like` is."""
    with open(path, "rb") as opened:
        try:
            with np.load(opened, allow_pickle=False) as file:
                found = json.loads(bytes(file["header"]))
                arrays = {name: file[name] for name in file.files if name != "header"}
        except Exception as error:  # whatever a stranger's bytes may lead zipfile, numpy and json to
            raise ValueError(f"{path} is damaged or was not written by adeu ({error})") from None
    format = found.get("format") if isinstance(found, dict) else None
    if format != header["format"]:
        raise ValueError(f"{path} was not written by {header['format']}" + (f" but by {format}" if format else ""))
    for name, value in header.items():
        if json.dumps(found.get(name)) != json.dumps(value):
            raise ValueError(f"{path} was made with another {name}: {found.get(name)}; here it is {value}")
    try:
        return tree_of(arrays, like)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def arrays_of(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree, each by a name of its own."""
    return {f"leaf_{i}": to_disk(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}


def tree_of(arrays: Mapping[str, np.ndarray], like: Any) -> Any:
    """The tree whose `arrays_of` these are, shaped as `like` is."""
    leaves, structure = jax.tree.flatten(like)
    expected = arrays_of(like)
    if {n: (a.shape, a.dtype) for n, a in arrays.items()} != {n: (a.shape, a.dtype) for n, a in expected.items()}:
        raise ValueError("its arrays do not have the shapes of its parts")
    restored = [from_disk(arrays[f"leaf_{i}"], leaf) for i, leaf in enumerate(leaves)]
    return jax.tree.unflatten(structure, restored)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def to_disk(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def from_disk(array: np.ndarray, like: Any) -> Any:
    if _is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(array), impl=jax.random.key_impl(like))
    return array if isinstance(like, np.ndarray) else jnp.asarray(array)
