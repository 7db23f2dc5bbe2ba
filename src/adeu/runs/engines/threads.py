"""Limits the number of threads that libraries use in a worker."""

from __future__ import annotations

import os

NAMES = (
    "NPROC",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def limit(threads: int) -> dict[str, str]:
    """Returns environment variables that limit the threads of each library; NPROC is for JAX."""
    flags = os.environ.get("XLA_FLAGS", "") + f" --xla_cpu_multi_thread_eigen={str(threads > 1).lower()}"
    return dict.fromkeys(NAMES, str(threads)) | {"XLA_FLAGS": flags.strip()}
