"""Save trees of arrays to a file, and load them; the file may be untrusted."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeGuard, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from adeu.behavior import host_state
from adeu.core import files, npz
from adeu.core.json_data import Json, parse

Tree = TypeVar("Tree")
ROOM = 16_000_000
"""How many bytes a file may have beyond twice the size of the arrays, for the header."""
HOST = "host."
"""The prefix of entries of `from_host` objects; the name of the object follows."""


def save(
    path: str | os.PathLike[str], header: dict[str, Json], tree: object, hosts: Mapping[str, object] | None = None
) -> None:
    """Write `header`, the leaves of `tree` and the states of `hosts` to a file, atomically."""
    target = Path(path).absolute()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}")
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    files.write(target, npz.pack({"header": text} | arrays_of(tree) | pack_hosts(hosts or {})))


def load(
    path: str | os.PathLike[str], header: dict[str, Json], like: Tree, hosts: Collection[str] = ()
) -> tuple[Tree, dict[str, object]]:
    """Return the saved tree, which must have this `header` and the structure of `like`, and the states of `hosts`.

    No array is read before its size is checked. The size of a host's state is unknown: with hosts, the limit of the
    file size is half of the memory.
    """
    expected = arrays_of(like)
    limit = files.largest_arrays() if hosts else ROOM + 2 * sum(array.nbytes for array in expected.values())
    with files.open_regular(Path(path)) as file:
        try:
            if (size := os.fstat(file.fileno()).st_size) > limit:
                raise ValueError(f"it has {size:,} bytes, expected at most {limit:,}")
            reader = npz.NpzReader(file)
            found = parse(reader.array("header").tobytes())
        except Exception as error:  # untrusted bytes may raise anything in zipfile, numpy and json
            raise ValueError(f"{path} is damaged or was not written by adeu ({error})") from None
        _check_header(path, found, header)
        names = [name for name in reader.headers if name != "header"]
        outside = [name for name in names if hosts and name.startswith(HOST)]
        shapes = {name: tuple(reader.headers[name]) for name in names if name not in outside}
        if shapes != _shapes(expected):
            raise ValueError(f"{path} is damaged: its arrays do not have the shapes of its parts")
        try:
            arrays = {name: reader.array(name) for name in shapes}
            states = unpack_hosts({name: reader.array(name) for name in outside}, hosts)
        except Exception as error:
            raise ValueError(f"{path} is damaged or was not written by adeu ({error})") from None
    tree = tree_of(arrays, like)
    if any(np.any(leaf < 0) for leaf in jax.tree.leaves(tree) if _is_counter(leaf)):
        raise ValueError(f"{path} is damaged: it has a negative counter")
    return tree, states


def pack_hosts(states: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Convert the states of hosts to named arrays."""
    return {
        entry: array for name, state in states.items() for entry, array in host_state.pack(HOST + name, state).items()
    }


def unpack_hosts(arrays: Mapping[str, np.ndarray], hosts: Collection[str]) -> dict[str, object]:
    """Convert named arrays back to the states of hosts."""
    own: dict[str, dict[str, np.ndarray]] = {name: {} for name in hosts}
    for entry, array in arrays.items():
        own[entry.removeprefix(HOST).partition(".")[0]][entry] = array
    return {name: host_state.unpack(HOST + name, entries) for name, entries in own.items()}


def _check_header(path: str | os.PathLike[str], data: Json, header: dict[str, Json]) -> None:
    found = data if isinstance(data, dict) else {}
    written = found.get("format")
    if written != header["format"]:
        raise ValueError(f"{path} was not written by {header['format']}" + (f" but by {written}" if written else ""))
    for name, value in header.items():
        if json.dumps(found.get(name)) != json.dumps(value):
            raise ValueError(f"{path} was saved with another {name}: {found.get(name)}; expected {value}")


def _shapes(arrays: Mapping[str, np.ndarray]) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    return {name: (array.shape, array.dtype) for name, array in arrays.items()}


def arrays_of(tree: object) -> dict[str, np.ndarray]:
    """Return the leaves of a tree as named arrays."""
    return {f"leaf_{i}": to_disk(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}


def tree_of(arrays: Mapping[str, np.ndarray], like: Tree) -> Tree:
    """Convert named arrays back to a tree with the structure of `like`."""
    leaves, structure = jax.tree.flatten(like)
    if _shapes(arrays) != _shapes(arrays_of(like)):
        raise ValueError("its arrays do not have the shapes of its parts")
    restored = [from_disk(arrays[f"leaf_{i}"], leaf) for i, leaf in enumerate(leaves)]
    tree: Tree = jax.tree.unflatten(structure, restored)
    return tree


def _is_counter(leaf: object) -> bool:
    """Return whether a leaf is a counter: a numpy array of integers."""
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind == "i"


def _is_key(leaf: object) -> TypeGuard[jax.Array]:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def to_disk(leaf: object) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def from_disk(array: np.ndarray, like: object) -> np.ndarray | jax.Array:
    if _is_key(like):
        key: jax.Array = jax.random.wrap_key_data(jnp.asarray(array), impl=jax.random.key_impl(like))
        return key
    return array if isinstance(like, np.ndarray) else jnp.asarray(array)
