"""Lazy Adam, by rows, equals dense Adam up to `TOLERANCE`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adeu.agents import lazy_adam
from adeu.core import networks

LEARNING_RATE = 1e-3
TOLERANCE = 0.05 * LEARNING_RATE
"""For a parameter, after 1,000 steps that moved some by hundreds of learning rates."""
AIM = jax.random.normal(jax.random.key(2), (400, 2))


def trained(by_rows, batches, heads):
    """Train on the batches over 400 rows; return the networks, those with all rows settled, and the features."""
    nets = networks.init_q(jax.random.key(0), networks.QShape(2, 400, True, (20, 20), 2, heads))
    state = lazy_adam.init(nets, by_rows)

    def step(carry, obs):
        def loss(rest, features):
            return jnp.mean((networks.read_rest(rest, features) - AIM[obs]) ** 2), None

        nets, state, _ = lazy_adam.descend(loss, *carry, LEARNING_RATE, obs)
        return (nets, state), None

    (nets, state), _ = jax.jit(lambda start: jax.lax.scan(step, start, batches))((nets, state))
    settled = lazy_adam.settled(nets, state, LEARNING_RATE)
    return nets, settled, lazy_adam.features(nets, state, LEARNING_RATE, jnp.arange(400))


def seldom():
    """Return 1,000 batches of 8 rows: some rows are in nearly every batch, most in every hundredth, a few in one."""
    rng = np.random.default_rng(0)
    rows = np.minimum(rng.geometric(0.01, (1000, 8)), 399)
    rows[:, 0] = rng.integers(3, size=1000)
    return jnp.asarray(rows, jnp.int32)


@pytest.mark.parametrize("heads", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_lazy_adam_equals_dense_adam(heads):
    batches = seldom()
    lazy, settled, features = trained(True, batches, heads)
    dense, same, _ = trained(False, batches, heads)
    assert (same.first == dense.first).all()
    for ours, theirs in zip(jax.tree.leaves(settled), jax.tree.leaves(dense), strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=TOLERANCE)
    assert np.asarray(features) == pytest.approx(np.asarray(dense.first), abs=TOLERANCE)
    # Without settling, the rows would differ.
    assert np.abs(lazy.first - dense.first).max() > 2 * LEARNING_RATE
