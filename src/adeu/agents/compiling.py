"""How XLA is to compile what trains, where it has several threads."""

from __future__ import annotations

import functools
import os

import jax

from adeu.core.cores import cores

THREADED = {"xla_cpu_experimental_ynn_fusion_type": ""}
"""Products by Eigen alone; for some, XLA takes a library (YNNPACK) that gained nothing from a second thread."""


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
