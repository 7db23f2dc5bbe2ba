"""These tests compile many small explorers, which takes longer than running them: XLA may leave them as they are.

Without its optimisations it also rounds after each operation, as numpy does, so that bits can be compared.
"""

import jax
import pytest


@pytest.fixture(autouse=True, scope="package")
def plain_compilation():
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
