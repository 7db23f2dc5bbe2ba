"""How XLA is to compile what trains, where it has several threads."""

from __future__ import annotations

import functools
import os

import jax

from adeu.core.cores import cores

THREADED = {"xla_cpu_experimental_ynn_fusion_type": ""}
"""Matrix products by Eigen alone, which shares one between threads; XLA takes a library for some that does not."""


@functools.cache
def options() -> dict[str, str] | None:
    """For `jax.jit(compiler_options=...)`. None, XLA's own choice: with one thread, or where it lacks the option."""
    if int(os.environ.get("NPROC") or cores()) < 2:
        return None
    try:
        jax.jit(lambda: 0, compiler_options=THREADED)()
    except jax.errors.JaxRuntimeError:
        return None
    return THREADED
