"""Adam by rows: the same as dense Adam, to a stated tolerance."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adeu.agents import lazy_adam
from adeu.core import networks

LEARNING_RATE = 1e-3
TOLERANCE = 0.05 * LEARNING_RATE
"""Of a parameter, after a thousand steps that moved some by hundreds of learning rates."""
AIM = jax.random.normal(jax.random.key(2), (400, 2))


def trained(by_rows, batches, heads):
    """Networks over 400 rows after a step for each batch; with all rows settled; and the rows as they are read."""
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
    """Batches of 8 in 1,000 steps: some rows are named nearly always, most every hundred steps, a few once."""
    rng = np.random.default_rng(0)
    rows = np.minimum(rng.geometric(0.01, (1000, 8)), 399)
    rows[:, 0] = rng.integers(3, size=1000)
    return jnp.asarray(rows, jnp.int32)


@pytest.mark.parametrize("heads", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_adam_by_rows_is_dense_adam(heads):
    batches = seldom()
    lazy, settled, features = trained(True, batches, heads)
    dense, same, _ = trained(False, batches, heads)
    assert (same.first == dense.first).all()
    for ours, theirs in zip(jax.tree.leaves(settled), jax.tree.leaves(dense), strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=TOLERANCE)
    assert np.asarray(features) == pytest.approx(np.asarray(dense.first), abs=TOLERANCE)
    # It would not do to leave rows where their last batch left them.
    assert np.abs(lazy.first - dense.first).max() > 2 * LEARNING_RATE
