"""`Sticky` repeats actions for geometric times."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare

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
