"""ADEU with `Constant`, `Identity` and `Options` equals ez-greedy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import zeta
from scipy.stats import chi2_contingency, chisquare

import adeu
from tests.ez_greedy import Draws, EzGreedy, Replayed

EPSILON, MU, ACTIONS, EPISODE = 0.05, 2.0, 3, 40
LEVEL = 1e-4
"""The false positive rate of each test below: 1 in 10,000; of the 12 tests together, 1 in 800."""


@functools.partial(jax.jit, static_argnames="explorer")
def behave(explorer, keys):
    """Act in episodes of 40 steps with a cycling greedy action; return actions, explored and option lengths."""
    state = explorer.init(jax.random.key(0), 0)

    def step(carry, given):
        number, key = given
        began = explorer.begin(key, carry)
        carry = jax.tree.map(lambda new, old: jnp.where(number % EPISODE == 0, new, old), began, carry)
        before = carry.D.steps_left
        center = jax.nn.one_hot(number % ACTIONS, ACTIONS)
        decision, carry = explorer.act(key, state, carry, 0, center)
        length = jnp.where((before == 0) & decision.explored, carry.D.steps_left + 1, 0)
        return carry, (decision.action, decision.explored, length)

    numbers = jnp.arange(keys.shape[0])
    return jax.lax.scan(step, explorer.begin(jax.random.key(0)), (numbers, keys))[1]


def instance(carried):
    return adeu.Explorer(adeu.Constant(EPSILON), adeu.Identity(), adeu.Options(MU, carried=carried))


def plain(draws, carried, steps):
    agent, rows = EzGreedy(EPSILON, MU, draws), []
    for number in range(steps):
        draws.step = number
        if number % EPISODE == 0 and not carried:
            agent.end_episode()
        rows.append(agent.act(number % ACTIONS))
    return [np.array(column) for column in zip(*rows, strict=True)]


def pattern(action, explored, length):
    """Return counts to compare: option starts, lengths, actions and places in the episode."""
    begins = length > 0
    free = ~explored | begins
    edges = np.array([1, 2, 3, 4, 5, 7, 10, 15, 25, 60, 200, 10_001])
    return {
        "start": np.bincount(begins[free], minlength=2),
        "length": np.histogram(length[begins], edges)[0],
        "option": np.bincount(action[begins], minlength=ACTIONS),
        "place": np.bincount(np.flatnonzero(begins) % EPISODE // 5, minlength=EPISODE // 5),
    }


@pytest.mark.parametrize("carried", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_both_have_the_same_distribution(carried):
    steps = 200_000
    ours = pattern(*map(np.asarray, behave(instance(carried), jax.random.split(jax.random.key(1), steps))))
    theirs = pattern(*plain(Draws(2, ACTIONS), carried, steps))
    for name in ours:
        assert chi2_contingency([ours[name], theirs[name]]).pvalue > LEVEL, (name, ours[name], theirs[name])
    free = ours["start"].sum()
    assert chisquare(ours["start"], [free * (1 - EPSILON), free * EPSILON]).pvalue > LEVEL
    edges = np.array([1, 2, 3, 4, 5, 7, 10, 15, 25, 60, 200])
    expected = -np.diff(zeta(MU, edges), append=0.0) / zeta(MU)
    assert chisquare(ours["length"], expected * ours["length"].sum()).pvalue > LEVEL


def test_the_comparison_detects_differences():
    steps, keys = 100_000, jax.random.split(jax.random.key(1), 100_000)
    theirs = pattern(*plain(Draws(2, ACTIONS), True, steps))
    for epsilon, options, seen in [
        (0.06, adeu.Options(MU, carried=True), "start"),
        (EPSILON, adeu.Options(2.2, carried=True), "length"),
        (EPSILON, adeu.Options(MU, carried=True, weights=(1, 1, 1.5)), "option"),
    ]:
        ours = pattern(
            *map(np.asarray, behave(adeu.Explorer(adeu.Constant(epsilon), adeu.Identity(), options), keys))
        )
        assert chi2_contingency([ours[seen], theirs[seen]]).pvalue < LEVEL, seen


@pytest.mark.parametrize("carried", [False, True])
def test_actions_are_identical_with_the_same_random_numbers(carried):
    steps = 100_000
    keys = jax.random.split(jax.random.key(3), steps)
    action, explored, length = map(np.asarray, behave(instance(carried), keys))

    @jax.jit
    @jax.vmap
    def drawn(key):
        """Return the draws of `Options` for a key."""
        key_coin, key_option, key_length, _ = jax.random.split(jax.random.split(key)[1], 4)
        option = jax.random.categorical(key_option, jnp.zeros(ACTIONS))
        return jax.random.uniform(key_coin), option, jax.random.uniform(key_length)

    theirs = plain(Replayed(*(column.tolist() for column in map(np.asarray, drawn(keys)))), carried, steps)
    assert (length == theirs[2]).all()
    assert (explored == theirs[1]).all()
    assert (action == theirs[0]).all()
    assert length.max() > 100
    other = behave(instance(not carried), keys)
    assert (np.asarray(other[0]) != action).any()
