"""The measurements of Theorem 1, computed by hand, compared with the parts, and on learning agents."""

import jax
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.envs import Lake, lake_mdp
from adeu.theory import claim, exploration, frontier, increasing_reward, policy, random_game

GAME = random_game(12, 4, 3, hole=1.0)
PATH = list(increasing_reward(GAME).order)
BEST = GAME.reward[PATH].argmax(axis=1)


@pytest.mark.parametrize(("beta", "shift", "temperature"), [(0.9, 2.0, 1.0), (0.5, 0.0, 0.1)])
def test_policy_equals_the_parts(beta, shift, temperature):
    rng = np.random.default_rng(0)
    q, visits = rng.normal(size=(12, 4)), rng.integers(0, 30, size=12)
    f, g, D = adeu.Counts(12, beta), adeu.ShiftedSigmoid(shift), adeu.Categorical(temperature)
    for s in range(12):
        uncertainty, _ = f.measure(jax.random.key(0), jax.numpy.asarray(visits), (), obs=s)
        expected = D.probabilities(q[s], g(uncertainty))
        np.testing.assert_allclose(
            policy(q, visits, beta=beta, shift=shift, temperature=temperature)[s], expected, 2e-5
        )


def test_the_frontier_is_the_first_state_whose_best_action_is_not_greedy():
    q = np.zeros((12, 4))
    for i, s in enumerate(PATH):
        assert frontier(q, GAME) == i
        q[s, BEST[i]] = 1.0
    assert frontier(q, GAME) == 12
    q[PATH[5], BEST[5] - 1] = 1.0  # a tie does not count as known
    q[PATH[8]] = 0.0
    assert frontier(q, GAME) == 5
    assert frontier(np.array([q, 0 * q]), GAME).tolist() == [5, 0]


def test_exploration_of_the_preferred_and_of_the_best_action():
    p = np.full((12, 4), 0.25)
    p[PATH[2]] = 0.1
    p[PATH[2], BEST[2]] = 0.7
    p[PATH[3]] = 0.7 * (np.arange(4) == (BEST[3] + 1) % 4) + 0.1 * (np.arange(4) != (BEST[3] + 1) % 4)
    explores, strays = exploration(p, GAME)
    np.testing.assert_allclose(explores[:4], [0.75, 0.75, 0.3, 0.3])
    np.testing.assert_allclose(strays[:4], [0.75, 0.75, 0.3, 0.9])


def train(game, explorer, episodes, seed=0):
    """Return the Q tables and the visits before training and after each episode."""
    agent, model = tabular.QLearning(explorer), tabular.from_mdp(game)
    q, visits = [np.zeros(game.reward.shape)], [np.zeros(len(game.reward), int)]
    for episode in range(episodes):
        known = {"q": q[-1], "visits": visits[-1]}
        result = agent.train(model, episodes=1, max_steps=90, seed=1000 * seed + episode, **known)
        q.append(result.q)
        visits.append(result.visits)
    return np.array(q), np.array(visits)


def counting(game, temperature=1.0):
    return adeu.Explorer(adeu.Counts(len(game.reward)), adeu.ShiftedSigmoid(2.0), adeu.Categorical(temperature))


def test_exploration_by_counts_moves_along_the_path():
    q, visits = train(GAME, counting(GAME), episodes=150)
    result = claim(q, policy(q, visits), GAME)
    assert result.frontier[0] == 0
    assert result.frontier[-1] == 12
    assert (result.found > 0).all()
    assert (np.diff(result.found) >= 0).all()
    assert result.reduced.all()
    assert result.focused.mean() > 0.8


def test_a_constant_epsilon_does_not_reduce_exploration():
    q, _ = train(GAME, adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli()), episodes=150)
    best = q == q.max(axis=-1, keepdims=True)
    result = claim(q, 0.1 / 4 + 0.9 * best / best.sum(axis=-1, keepdims=True), GAME)
    assert (result.found >= 0).any()
    assert not result.reduced.any()
    assert not result


def test_rewards_far_below_the_temperature_do_not_reduce_exploration():
    game = random_game(12, 4, 3, hole=1.0, scale=1e-3, cost=1e-3)
    q, visits = train(game, counting(game), episodes=150)
    found = claim(q, policy(q, visits), game).found >= 0
    explores, _ = exploration(policy(q[-1], visits[-1]), game)
    assert 0 < found.sum() < 12
    assert (explores > 0.7).all()
    q, visits = train(game, counting(game, 1e-3), episodes=150)
    assert frontier(q[-1], game) == 12


def test_claims_computed_by_hand():
    game = lake_mdp(Lake(size=3))  # four states
    assert increasing_reward(game).order == (0, 1, 2, 3)
    best = game.reward.argmax(axis=1)
    q, p = np.zeros((4, 4, 4)), np.full((4, 4, 4), 0.25)

    def know(t, s, sure):
        q[t:, s, best[s]] = 1.0
        p[t:, s] = (1 - sure) / 3
        p[t:, s, best[s]] = sure

    know(1, 0, 0.4)
    know(2, 0, 0.7)
    know(2, 1, 0.6)
    know(3, 1, 0.8)
    know(3, 2, 0.3)
    result = claim(q, p, game)
    assert result.found.tolist() == [1, 2, 3, -1]
    assert result.reduced.tolist() == [True, True, False, False]
    assert result.focused.tolist() == [True, True, True]
    assert result.frontier.tolist() == [0, 1, 2, 3]
    assert not result
    p[2, 2] = [1, 0, 0, 0]  # certain of an action at state 2 before its best action was found
    assert claim(q, p, game).focused.tolist() == [True, False, True]
    p[-1, 0] = p[-1, 0][::-1]  # certain of another action at state 0 in the end
    assert claim(q, p, game).reduced.tolist() == [False, True, False, False]
