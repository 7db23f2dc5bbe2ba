"""Disable most XLA optimizations: these tests compile many small explorers, which takes longer than running them.

Without optimizations XLA also rounds after each operation, as numpy does, so results can be compared bit for bit.
"""

import jax
import pytest


@pytest.fixture(autouse=True, scope="package")
def plain_compilation():
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
