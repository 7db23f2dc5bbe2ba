"""Rollout episodes with a changing rate and uncertainty."""

import jax
import numpy as np

import adeu

KEY = jax.random.key(0)
STEPS, EPISODES = 3, 400


def play(f, reward=lambda rollout: 0.0):
    """Return the uncertainty of each step, and whether it was in a rollout episode."""

    def step(state, carry, number, reward_of):
        measured, carry = f.measure(jax.random.fold_in(KEY, number), state, carry, 0, step=number)
        asked = f.asked(carry)
        ends = number % STEPS == STEPS - 1
        transition = adeu.Transition(0, 0, reward_of(~asked), 0, ends, False)
        state = f.observe(state, transition, td_error=0.0)
        begun = f.begin(jax.random.fold_in(KEY, number + 10**6), carry)
        carry = jax.tree.map(lambda a, b: jax.numpy.where(ends, a, b), begun, carry)
        return state, carry, (measured, ~asked)

    def fold(both, number):
        state, carry, out = step(*both, number, reward)
        return (state, carry), out

    first = f.init(KEY, 0), f.begin(KEY)
    _, (measured, rollout) = jax.lax.scan(fold, first, jax.numpy.arange(STEPS * EPISODES))
    return np.asarray(measured).reshape(EPISODES, STEPS), np.asarray(rollout).reshape(EPISODES, STEPS)


def test_a_scheduled_rho_is_the_rate_of_rollouts_at_the_first_step_of_an_episode():
    f = adeu.Rollouts(adeu.Constant(0.5), adeu.Schedule(1.0, 0.0, steps=STEPS * EPISODES), c=2.0)
    measured, rollout = play(f)
    assert (rollout == rollout[:, :1]).all()
    assert (measured == np.where(rollout, 2.0, 0.5)).all()
    shares = rollout[:, 0].reshape(4, -1).mean(axis=1)
    np.testing.assert_allclose(shares, [0.875, 0.625, 0.375, 0.125], atol=0.16)  # 3 standard errors of 100 coins


def test_the_uncertainty_of_rollouts_may_be_any_f():
    f = adeu.Rollouts(adeu.Counts(1), rho=0.5, c=adeu.Product((adeu.Counts(1), adeu.Constant(3.0))))
    measured, rollout = play(f)
    n = np.arange(1, STEPS * EPISODES + 1).reshape(EPISODES, STEPS)
    np.testing.assert_allclose(measured, np.where(rollout, 3.0, 1.0) / (0.9 * np.sqrt(n)), rtol=1e-5)
    assert 0.4 < rollout[:, 0].mean() < 0.6


def test_a_bandit_makes_rollouts_frequent_only_if_they_increase_the_return():
    f = adeu.Rollouts(adeu.Constant(0.5), adeu.ReturnBandit((0.0, 1.0), width=0.3), c=2.0)
    _, paid = play(f, lambda rollout: 1.0 * rollout)
    _, fined = play(f, lambda rollout: -1.0 * rollout)
    assert paid[100:].mean() > 0.8
    assert fined[100:].mean() < 0.2
    assert fined[100:].any()


def test_discounted_ucb_computed_by_hand():
    f = adeu.ReturnBandit((0.0, 0.1, 0.3), decay=0.5, width=1.0)
    state, arms = f.init(KEY, 0), []
    for earned in (4.0, 0.0, 2.0, 1.0):
        arms.append(int(state.arm))
        halves = (adeu.Transition(0, 0, earned / 2, 0, False, last) for last in (False, True))
        for transition in halves:
            state = f.observe(state, transition)
    # After three: n = 1/4, 1/2, 1, means 4, 0, 2, range 4, log(1.75) = 0.5596: scores 9.98, 4.23, 4.99.
    # After four: n = 1.125, 1/4, 1/2; means (4/8 + 1)/1.125, 0, 2; log(1.875) = 0.6286: scores 4.32, 6.34, 6.48.
    assert arms == [0, 1, 2, 0]
    assert int(state.arm) == 2
    np.testing.assert_allclose(state.pulls, [1.125, 0.25, 0.5])
    np.testing.assert_allclose(state.total, [1.5, 0.0, 1.0])
    assert f.figures(state) == {"arm": np.float32(0.3)}
