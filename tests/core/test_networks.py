"""Networks computed by hand, and Adam compared with optax's."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from adeu.agents import lazy_adam
from adeu.core import networks


@pytest.mark.parametrize("tables", [False, True], ids=["vector", "rows"])
def test_dense_adam_equals_that_of_optax(tables):
    """For vector and for discrete observations."""
    shape = networks.QShape(2, 4, tables, (3,), 2)
    nets = networks.init_q(jax.random.key(0), shape)
    obs = jnp.arange(6) % 3 if tables else jax.random.normal(jax.random.key(2), (6, 4))
    state, optimizer, theirs = lazy_adam.init(nets, False), optax.adam(0.01), nets
    their_state = optimizer.init(theirs)

    def loss(rest, features):
        return jnp.sum((networks.read_rest(rest, features) - 1.0) ** 2), None

    @jax.jit
    def both(nets, state, theirs, their_state):
        nets, state, _ = lazy_adam.descend(loss, nets, state, 0.01, obs)
        gradient = jax.grad(lambda n: loss(n.rest, networks.read_first(n.first, obs))[0])(theirs)
        updates, their_state = optimizer.update(gradient, their_state)
        return nets, state, optax.apply_updates(theirs, updates), their_state

    start = nets
    for _ in range(5):
        nets, state, theirs, their_state = both(nets, state, theirs, their_state)
    for mine, other in zip(jax.tree.leaves(nets), jax.tree.leaves(theirs), strict=True):
        assert np.asarray(mine) == pytest.approx(np.asarray(other), abs=1e-6)
    assert np.abs(nets.first - start.first).max() > 0.02


def test_follow_moves_the_target_by_tau():
    moved = networks.follow({"w": jnp.array([0.0, 1.0])}, {"w": jnp.array([1.0, 3.0])}, 0.25)
    assert moved["w"].tolist() == [0.25, 1.5]


def test_a_lookup_equals_a_linear_layer_over_one_hot_vectors():
    nets = networks.init_q(jax.random.key(0), networks.QShape(2, 6, True, (5, 4), 3))
    rows, matrix = networks.q_values(nets, jnp.arange(6)), networks.q_values(nets, jnp.eye(6))
    assert np.asarray(rows) == pytest.approx(np.asarray(matrix), abs=1e-5)
    assert rows.shape == (2, 6, 3)
    assert 0.9 < np.abs(nets.first).max() <= 1


def test_heads_share_all_but_the_last_layer():
    nets = networks.init_q(jax.random.key(0), networks.QShape(3, 6, True, (5, 4), 2, heads=True))
    assert [leaf.shape[0] for leaf in jax.tree.leaves(nets)] == [1, 1, 1, 1, 1, 3, 3]
    q = networks.q_values(nets, jnp.arange(6))
    for k in range(3):
        alone = nets._replace(rest=(*nets.rest[:-1], tuple(part[k : k + 1] for part in nets.rest[-1])))
        assert np.asarray(q[k]) == pytest.approx(np.asarray(networks.q_values(alone, jnp.arange(6))[0]), abs=1e-6)
    assert (q[0] != q[1]).any()


def test_initial_rows_determine_how_varied_the_greedy_actions_are():
    """With a bound of 1 the greedy action varies across states; with 1/sqrt(rows) it is nearly always the same."""

    def share(bound):
        nets = networks.init_q(jax.random.key(0), networks.QShape(20, 6400, True, (50, 50), 2, rows=bound))
        right = np.argmax(jax.jit(networks.q_values)(nets, jnp.arange(0, 6400, 20)), axis=-1)
        return np.maximum(right.mean(axis=1), 1 - right.mean(axis=1)).mean()

    assert share(1.0) < 0.9
    assert share(6400**-0.5) > 0.99


def test_critics_computed_together_equal_single_ones():
    critics = networks.init_critics(jax.random.key(0), 3, (5, 4, 4, 1))
    obs, action = jax.random.normal(jax.random.key(1), (7, 3)), jax.random.normal(jax.random.key(2), (7, 2))
    q = np.asarray(networks.values(critics, obs, action))
    both = np.concatenate([obs, action], axis=1)
    (first, first_bias), *rest = jax.device_get(critics)
    for k in range(3):
        x = both @ first[:, k] + first_bias[k]
        for weight, bias in rest:
            x = np.maximum(x, 0) @ weight[k] + bias[k]
        assert q[k] == pytest.approx(x[:, 0], abs=1e-5)
        alone = networks.values(networks.some(critics, slice(k, k + 1)), obs, action)
        assert np.asarray(alone)[0] == pytest.approx(q[k], abs=1e-6)
