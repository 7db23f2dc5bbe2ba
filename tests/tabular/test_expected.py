"""The expected return of the greedy policy, computed by hand and compared with episodes."""

import gymnasium
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.experiments.lib.table_setting import TableSetting
from adeu.tabular.expected import expected_return

NOTHING = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())


def guard_form(model, guard=None):
    explorer = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli(), guard)
    return tabular.QLearning(explorer).job(model, episodes=1, max_steps=1, seed=0).guard


def expected(model, q, max_steps, guard=None):
    return expected_return(model, np.array(q, float), max_steps, guard_form(model, guard))


def test_expected_returns_computed_by_hand():
    coin = tabular.from_table({0: {0: [(0.25, 0, 0.0, False), (0.75, 0, 1.0, True)]}})
    assert [expected(coin, [[0]], steps) for steps in (1, 2, 3)] == pytest.approx([0.75, 1 - 0.25**2, 1 - 0.25**3])
    rows = {0: {0: [(1.0, 0, 1.0, True)], 1: [(0.5, 0, 3.0, True), (0.5, 1, 5.0, False)]}}
    two = tabular.from_table(rows | {1: {0: [(1.0, 1, 0.0, True)], 1: [(1.0, 1, 8.0, True)]}}, start=[0.5, 0.5])
    # In state 0 action 0 has reward 1; action 1 has a mean of 4 and leads with 1/2 to state 1, with reward 0 or 8.
    assert expected(two, [[1, 0], [1, 0]], 9) == pytest.approx((1 + 0) / 2)
    assert expected(two, [[0, 1], [0, 1]], 9) == pytest.approx((4 + 8 / 2 + 8) / 2)
    assert expected(two, [[0, 1], [0, 1]], 1) == pytest.approx((4 + 8) / 2)
    assert expected(two, [[1, 1], [1, 1]], 9) == pytest.approx(
        ((1 + 4 + 4 / 2) / 2 + 4) / 2
    )  # ties are broken evenly
    assert expected(two, [[1, -np.inf], [-np.inf, 1]], 9) == pytest.approx((1 + 8) / 2)


def test_the_guard_is_followed():
    two = tabular.from_table({0: {0: [(1.0, 0, 1.0, True)], 1: [(1.0, 0, 5.0, True)]}})
    assert expected(two, [[1, 0]], 1) == 1.0
    assert expected(two, [[1, 0]], 1, adeu.KnownUnsafe(states=[0], actions=[1])) == 5.0


def test_it_equals_the_mean_return_of_episodes():
    env = gymnasium.make("FrozenLake-v1")
    model, total = tabular.from_gymnasium(env), 0.0
    q = np.eye(4)[[0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]]  # a good policy
    for seed in range(2_000):
        s, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            s, reward, terminated, truncated, _ = env.step(int(q[s].argmax()))
            total, ended = total + reward, terminated or truncated
    value = expected(model, q, 100)
    assert total / 2_000 == pytest.approx(value, abs=4 * np.sqrt(value * (1 - value) / 2_000) + 1e-9)


def solved(agent, episodes):
    trainer, rows = TableSetting("FrozenLake-v1", agent, episodes=episodes, evaluate_every=100).trainer(0), []
    while trainer.done < trainer.total:
        rows += trainer.advance().rows
    return np.array([row["return"] for row in rows]), np.array([row["solved"] for row in rows])


def test_a_lucky_episode_does_not_count_as_solved():
    returns, found = solved(tabular.QLearning(NOTHING, alpha=1e-9), 20_000)
    assert (returns == 1.0).any()  # some greedy episodes reach the goal
    assert not found.any()


def test_a_learned_policy_counts_as_solved():
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
    _, found = solved(tabular.QLearning(explorer, alpha=0.05), 40_000)
    assert found[-50:].any()
