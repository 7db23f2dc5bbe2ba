"""`Sticky` repeats actions for geometric times."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box
from scipy.stats import chisquare, kstest

import adeu
from adeu.tabular import from_arrays, lower
from adeu.tabular.decision_forms import sample
from adeu.tabular.stream import streams

MEAN, ACTIONS, STEPS = 4.0, 5, 20_000
LEVEL = 1e-4
"""The false positive rate of each test below."""


def by_jax():
    D = adeu.Sticky(MEAN)

    def step(carry, key):
        action, _, carry = D.sample(key, (), carry, jnp.zeros(ACTIONS), 1.0)
        return carry, action

    keys = jax.random.split(jax.random.key(1), STEPS)
    return np.asarray(jax.lax.scan(step, D.begin(keys[0]), keys)[1])


def by_table():
    model = from_arrays(np.zeros((2, ACTIONS), int), np.zeros((2, ACTIONS)), np.zeros((2, ACTIONS), bool))
    form, stream, scratch = lower(adeu.Sticky(MEAN), model), streams(0, 1)[0], np.empty(ACTIONS)
    with np.errstate(over="ignore"):
        drawn = [
            sample(form, 0, tuple(range(ACTIONS)), np.zeros(ACTIONS), 1.0, scratch, stream) for _ in range(STEPS)
        ]
    assert all(explored for _, explored in drawn)
    return np.array([action for action, _ in drawn])


@pytest.mark.parametrize("actions", [by_jax, by_table])
def test_the_time_is_geometric(actions):
    taken = actions()
    changes = np.flatnonzero(np.diff(taken)) + 1
    times = np.diff(changes)
    change = (1 / MEAN) * (1 - 1 / ACTIONS)  # a new draw is the same action with probability 1/5
    seen = np.array([np.count_nonzero(times == n) for n in range(1, 15)] + [np.count_nonzero(times >= 15)])
    chances = np.array([change * (1 - change) ** (n - 1) for n in range(1, 15)] + [(1 - change) ** 14])
    assert chisquare(seen, seen.sum() * chances).pvalue > LEVEL
    assert chisquare(np.bincount(taken[changes], minlength=ACTIONS)).pvalue > LEVEL


def test_the_policy_or_a_mask_ends_the_repetition():
    D = adeu.Sticky(mean=1e9)
    best, carry = jnp.array([0.0, 0.0, 1.0]), D.begin(jax.random.key(0))
    action, explored, carry = D.sample(jax.random.key(1), (), carry, best, 0.0)
    assert (int(action), bool(explored), bool(carry.explored)) == (2, False, False)
    first, _, carry = D.sample(jax.random.key(2), (), carry, best, 1.0)
    again, _, carry = D.sample(jax.random.key(3), (), carry, best, 1.0)
    assert first == again
    mask = jnp.arange(3) != first
    assert all(D.sample(jax.random.key(k), (), carry, best, 1.0, mask)[0] != first for k in range(5))


LOW, HIGH = np.array([-1.0, 0.0]), np.array([1.0, 4.0])


def test_in_a_box_actions_are_uniform_and_their_time_is_geometric():
    D = adeu.Sticky(MEAN).bind(None, Box(LOW, HIGH, dtype=np.float64))

    def step(carry, key):
        action, explored, carry = D.sample(key, (), carry, jnp.zeros(2), 1.0)
        return carry, (action, explored)

    keys = jax.random.split(jax.random.key(2), STEPS)
    taken, explored = map(np.asarray, jax.lax.scan(step, D.begin(keys[0]), keys)[1])
    assert explored.all()
    changes = np.flatnonzero((np.diff(taken, axis=0) != 0).all(axis=1)) + 1  # both dimensions at once
    assert np.count_nonzero((np.diff(taken, axis=0) != 0).any(axis=1)) == len(changes)
    times = np.diff(changes)
    seen = np.array([np.count_nonzero(times == n) for n in range(1, 15)] + [np.count_nonzero(times >= 15)])
    chances = np.array([(1 - 1 / MEAN) ** (n - 1) / MEAN for n in range(1, 15)] + [(1 - 1 / MEAN) ** 14])
    assert chisquare(seen, seen.sum() * chances).pvalue > LEVEL
    for dimension in range(2):
        scaled = (taken[changes, dimension] - LOW[dimension]) / (HIGH - LOW)[dimension]
        assert kstest(scaled, "uniform").pvalue > LEVEL


def test_in_a_box_the_spread_is_the_probability_and_the_policy_ends_the_repetition():
    D = adeu.BoxSticky(1e9, low=LOW, high=HIGH)
    center, start = jnp.array([0.5, 9.0]), D.begin(jax.random.key(0))
    keys = jax.random.split(jax.random.key(3), 2_000)
    _, explored, _ = jax.vmap(lambda key: D.sample(key, (), start, center, 0.3))(keys)
    assert abs(explored.mean() - 0.3) < 4 * (0.3 * 0.7 / 2_000) ** 0.5
    first, _, carry = D.sample(keys[0], (), start, center, 1.0)
    again, _, carry = D.sample(keys[1], (), carry, center, 1.0)
    np.testing.assert_array_equal(first, again)
    held, _, _ = D.sample(keys[2], (), carry, center, 1.0, jnp.array([True, False]))
    np.testing.assert_array_equal(held, [first[0], 4.0])  # the mask leaves the policy's, within the range
    action, explores, carry = D.sample(keys[3], (), carry, center, 0.0)
    np.testing.assert_array_equal(action, [0.5, 4.0])
    assert not explores
    other, _, _ = D.sample(keys[4], (), carry, center, 1.0)
    assert (other != first).all()
    with pytest.raises(ValueError, match=r"BoxSticky: center takes the shape \(2,\) of its range"):
        D.sample(keys[5], (), carry, jnp.zeros(3), 1.0)
