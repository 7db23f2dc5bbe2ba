"""Caches compiled kernels on disk.

numba checks only the file of the kernel for changes, so the cache folder is named after a hash of all sources that
the kernel depends on: an edited rule is always recompiled.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numba

from adeu.tabular.operation import KERNEL, OPERATIONS

settings: Any = numba.config
HERE = pathlib.Path(__file__).parent

OPTIONS: Any = {"nogil": True, **KERNEL}
"""Releases the GIL, so that other threads run alongside a kernel."""


def compile_kernel(function: Callable[..., Any], *arguments: Any) -> Any:
    """Compile a function for arguments of these types, or load it from the cache."""
    modules = {module for argument in arguments for kind in _kinds(argument) for module in _modules(kind)}
    foreign = {module for module in modules if not module.startswith("adeu.tabular.")}
    return _compile(function, _folder(foreign))


@functools.cache
def _compile(function: Callable[..., Any], folder: str) -> Any:
    njit: Any = numba.njit
    if not folder:
        return njit(function, **OPTIONS)
    # numba reads the folder from its settings only here.
    before, settings.CACHE_DIR = settings.CACHE_DIR, folder
    try:
        return njit(function, cache=True, **OPTIONS)
    finally:
        settings.CACHE_DIR = before


def _kinds(value: Any) -> Iterator[type]:
    """Yield the types of all NamedTuples in a value."""
    if hasattr(value, "_fields"):
        yield type(value)
        for item in value:
            yield from _kinds(item)


def _modules(kind: type) -> Iterator[str]:
    """Yield the modules that define a type and its rules."""
    yield kind.__module__
    for generic in OPERATIONS:
        if kind in generic.registry:
            yield generic.registry[kind].__module__


def _folder(foreign: set[str]) -> str:
    """Return the cache folder for a kernel that also depends on these modules; empty if it cannot be cached."""
    digest = hashlib.sha256(_own_source() + numba.__version__.encode())
    for name in sorted(foreign):
        source = _source(sys.modules.get(name)) if name != "__main__" else None
        if source is None:
            return ""
        digest.update(source.encode())
    home = settings.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(home, "adeu", digest.hexdigest()[:16])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""


@functools.cache
def _own_source() -> bytes:
    return b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))


def _source(module: ModuleType | None) -> str | None:
    try:
        return inspect.getsource(module) if module else None
    except (OSError, TypeError):
        return None
