"""The figures that an f logs appear in the rows of metrics.csv."""

import gymnasium

import adeu
from adeu.agents import GymLoop, Td3


def rows(f):
    td3 = Td3(adeu.Explorer(f, adeu.Sigmoid(0.2), adeu.Gaussian()), hidden=(8,), batch=8)
    env, other = (gymnasium.make("Pendulum-v1", max_episode_steps=20) for _ in range(2))
    loop = GymLoop(td3, env, other, steps=40, seed=0, warmup=10, evaluate_every=20, evaluate_episodes=1)
    found = []
    while loop.step < loop.steps:
        found += loop.advance()[0]
    return found


def test_the_first_tuning_of_u_is_logged():
    # With a learning rate of 1, f enters and leaves the range within a few updates.
    found = rows(adeu.Rollouts(adeu.Rnd(scale=1.0, hidden=(), features=1, learning_rate=1.0, tune=0.1), 0.3, 0.2))
    assert (found[0]["scale"], found[0]["tuned_at"]) == (1.0, -1)
    assert found[-1]["scale"] != 1.0
    assert 10 < found[-1]["tuned_at"] <= 40


def test_an_f_without_figures_adds_no_column():
    assert "tuned_at" not in rows(adeu.Rnd())[0]
