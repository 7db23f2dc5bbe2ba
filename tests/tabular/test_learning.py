"""Learning on lakes, and on Gymnasium's tables compared with value iteration."""

import gymnasium
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.envs import Lake, lake_mdp

from .solve import start_value

GAMMA = 0.99


def test_adaptive_exploration_solves_a_lake_first():
    lake = Lake(size=30)
    model = tabular.from_mdp(lake_mdp(lake))
    settings = {"episodes": 3000, "max_steps": lake.max_steps, "evaluate_every": 10}
    adaptive = adeu.Explorer(adeu.Counts(model.num_states, beta=0.9), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
    constant = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
    for seed in range(5):
        ours = tabular.QLearning(adaptive).train(model, seed=seed, **settings).first_solved(1e5)
        theirs = tabular.QLearning(constant).train(model, seed=seed, **settings).first_solved(1e5)
        assert ours is not None
        assert theirs is None or ours < theirs


def newest(name):
    """Return the id of the newest version in Gymnasium."""
    versions = [spec.version for spec in gymnasium.registry.values() if spec.name == name]
    return f"{name}-v{max(versions)}"


@pytest.mark.parametrize(
    ("name", "temperature", "start", "episodes"),
    # With 1/n the initial value fades only as n^(gamma - 1), so it should lie between the worst and best return.
    [
        pytest.param("FrozenLake", 0.1, 0.5, 300_000, marks=pytest.mark.slow),
        ("CliffWalking", 1.0, 0.0, 5_000),
        pytest.param("Taxi", 0.5, 0.0, 50_000, marks=pytest.mark.slow),
    ],
)
def test_gymnasium_tables_are_solved(name, temperature, start, episodes):
    model = tabular.from_gymnasium(gymnasium.make(newest(name)))
    explorer = adeu.Explorer(
        adeu.Counts(model.num_states, beta=0.01), adeu.ShiftedSigmoid(2.0), adeu.Categorical(temperature)
    )
    agent = tabular.QLearning(explorer, alpha="1/n", gamma=GAMMA, q=start)
    best = start_value(model, GAMMA)
    for seed in range(3):
        done = agent.train(model, episodes=episodes, max_steps=200, seed=seed, evaluate_every=episodes)
        reached = start_value(model, GAMMA, policy=done.q.argmax(axis=1))
        assert reached >= best - 0.01 * abs(best)


def test_masked_actions_are_never_taken():
    model = tabular.from_arrays([[0, 0]], [[1.0, 5.0]], [[True, True]], mask=[[True, False]])
    explorer = adeu.Explorer(adeu.Constant(1.0), adeu.Identity(), adeu.Bernoulli())
    done = tabular.QLearning(explorer).train(model, episodes=50, max_steps=1, seed=0, evaluate_every=1)
    assert done.q.tolist() == [[1.0, -np.inf]]
    assert set(done.returns) == {1.0}


def test_start_states_and_outcomes_follow_their_probabilities():
    step = [(0.25, 0, 1.0, True), (0.75, 1, 0.0, True)]
    model = tabular.from_table({s: {0: step} for s in range(3)}, start=[0.5, 0.0, 0.5])
    explorer = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())
    agent = tabular.QLearning(explorer, alpha="1/n")
    done = agent.train(model, episodes=20_000, max_steps=5, seed=0, evaluate_every=1)
    assert done.visits[1] == 0
    assert done.visits[0] == pytest.approx(10_000, abs=300)
    assert done.q[0, 0] == pytest.approx(0.25, abs=0.02)
    assert done.returns.mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(("episodes", "bonus"), [(1, 0.9), (4, 0.45)])
def test_the_intrinsic_reward_is_for_rare_next_states(episodes, bonus):
    model = tabular.from_arrays([[1], [1]], [[0.0], [0.0]], [[False], [True]])
    explorer = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())
    agent = tabular.QLearning(explorer, gamma=0.0, intrinsic=0.9)
    done = agent.train(model, episodes=episodes, max_steps=9, seed=0)
    assert done.q.ravel().tolist() == pytest.approx([bonus, 0.0])
