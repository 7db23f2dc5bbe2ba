"""Adam by rows: the same as dense Adam, to a stated tolerance; and the random numbers, bit for bit JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from adeu.agents import adam, keys, networks

LEARNING_RATE = 1e-3
TOLERANCE = 0.05 * LEARNING_RATE
"""Of a parameter, after a thousand steps that moved some by hundreds of learning rates."""
AIM = jax.random.normal(jax.random.key(2), (400, 2))


def trained(by_rows, batches, heads):
    """Networks over 400 rows after a step for each batch; with all rows settled; and the rows as they are read."""
    nets = networks.init(jax.random.key(0), networks.Shape(2, 400, True, (20, 20), 2, heads))
    state = adam.init(nets, LEARNING_RATE, by_rows)

    def step(carry, obs):
        def loss(rest, features):
            return jnp.mean((networks.values(rest, features) - AIM[obs]) ** 2), None

        nets, state, _ = adam.descend(loss, *carry, LEARNING_RATE, obs)
        return (nets, state), None

    (nets, state), _ = jax.jit(lambda start: jax.lax.scan(step, start, batches))((nets, state))
    return nets, adam.settled(nets, state, LEARNING_RATE), adam.features(nets, state, LEARNING_RATE, jnp.arange(400))


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


def test_a_vector_s_first_layer_learns_by_adam():
    nets = networks.init(jax.random.key(0), networks.Shape(2, 4, False, (3,), 2))
    state, obs = adam.init(nets, 0.01, False), jax.random.normal(jax.random.key(2), (6, 4))
    optimizer, dense = optax.adam(0.01), nets
    dense_state = optimizer.init(dense)

    def loss(rest, features):
        return jnp.sum((networks.values(rest, features) - 1.0) ** 2), None

    @jax.jit
    def both(nets, state, dense, dense_state):
        nets, state, _ = adam.descend(loss, nets, state, 0.01, obs)
        gradient = jax.grad(lambda n: loss(n.rest, networks.read(n.first, obs))[0])(dense)
        updates, dense_state = optimizer.update(gradient, dense_state)
        return nets, state, optax.apply_updates(dense, updates), dense_state

    for _ in range(5):
        nets, state, dense, dense_state = both(nets, state, dense, dense_state)
    assert np.asarray(nets.first) == pytest.approx(np.asarray(dense.first), abs=1e-6)


DRAWS = {
    "split": lambda key: jax.random.key_data(jax.random.split(key, (3, 2))),
    "fold_in": lambda key: jax.random.key_data(jax.random.fold_in(key, 12345)),
    "bits8": lambda key: jax.random.bits(key, (7,), "uint8"),
    "bits16": lambda key: jax.random.bits(key, (7,), "uint16"),
    "uniform": lambda key: jax.random.uniform(key, (5, 3)),
    "randint": lambda key: jax.random.randint(key, (9,), 0, 77),
    "normal": lambda key: jax.random.normal(key, ()),
}


def test_the_draws_are_jax_s():
    @jax.jit
    def all_of_them(key):
        return {name: draw(key) for name, draw in DRAWS.items()}

    for seed in (0, 1, 2**32 - 1):
        ours, theirs = (all_of_them(new(jnp.asarray(seed, jnp.uint32))) for new in (keys.new, jax.random.key))
        for name in DRAWS:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    wrapped = keys.wrap(jax.random.key_data(jax.random.key(3)))
    np.testing.assert_array_equal(jax.random.bits(wrapped), jax.random.bits(jax.random.key(3)))
