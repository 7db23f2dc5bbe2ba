"""`from_host` in `GymLoop`: what the functions are called with, and how the state of their object is saved."""

import dataclasses
import warnings

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, GymLoop, Td3
from adeu.agents.rehearsal import rehearse
from adeu.experiments.lib.training_setting import TrainingSetting

SMALL = {"hidden": (8,), "batch": 4}


class Novelty:
    """The distance to the running mean of the observations it learned from."""

    def __init__(self):
        self.mean, self.seen, self.learned = np.zeros(()), [], []

    def compute(self, obs):
        self.seen.append(obs)
        return np.abs(obs - self.mean).reshape(len(obs), -1).sum(axis=1)

    def learn(self, batch):
        self.learned.append(batch)
        self.mean = 0.9 * self.mean + 0.1 * batch.obs.mean(axis=0)

    def state(self):
        return {"mean": self.mean}

    def set_state(self, state):
        self.mean = state["mean"]

    def part(self, saved=True):
        state = {"state": self.state, "set_state": self.set_state} if saved else {}
        return adeu.from_host(self.compute, self.learn, **state)


def loop(agent, name, steps=60, **fields):
    envs = (gymnasium.make(name, max_episode_steps=50) for _ in range(2))
    return GymLoop(agent, *envs, steps, seed=0, warmup=20, evaluate_every=20, evaluate_episodes=1, **fields)


def dqn(f):
    return Dqn(adeu.Explorer(f, adeu.Saturating(0.5), adeu.Bernoulli()), **SMALL)


def play(each):
    rows = []
    while each.step < each.steps:
        rows += each.advance()[0]
    return rows


def test_it_is_called_every_step_and_learns_from_the_minibatches_of_the_agent():
    novelty = Novelty()
    rows = play(loop(dqn(novelty.part()), "CartPole-v1"))
    assert {obs.shape for obs in novelty.seen} == {(1, 4)}
    assert len(novelty.seen) == 60  # not called in greedy episodes
    assert len(novelty.learned) == 40  # after the warm-up
    batch = novelty.learned[0]
    assert batch.obs.shape == batch.next_obs.shape == (4, 4)
    assert set(batch.action.tolist()) <= {0, 1}
    assert not batch.truncated.any()
    assert rows[-1]["uncertainty"] > 0
    assert rows[-1]["spread"] == pytest.approx(0.5 * (1 - np.exp(-rows[-1]["uncertainty"])), abs=0.1)


def test_actions_and_observations_are_in_the_spaces_of_the_environment():
    """TD3 scales actions internally, and a Discrete space may start anywhere."""
    novelty = Novelty()
    agent = Td3(adeu.Explorer(novelty.part(), adeu.Saturating(0.5), adeu.Gaussian()), **SMALL)
    play(loop(agent, "Pendulum-v1"))
    actions = np.concatenate([batch.action.ravel() for batch in novelty.learned])
    assert 1 < np.abs(actions).max() <= 2
    states = Novelty()
    play(loop(dqn(states.part()), "CliffWalking-v1"))
    assert states.seen[0].shape == (1,)
    assert {int(obs[0]) for obs in states.seen} <= set(range(48))
    assert states.learned[0].obs.shape == (4,)


def test_the_checkpoint_contains_its_state():
    whole, first, second = (loop(dqn(Novelty().part()), "CartPole-v1", steps=100) for _ in range(3))
    rows = play(whole)
    before = []
    while first.step < 40:
        before += first.advance()[0]
    second.restore(first.arrays())
    assert before + play(second) == rows


def test_without_a_saved_state_there_is_no_checkpoint(tmp_path):
    each = loop(dqn(Novelty().part(saved=False)), "CartPole-v1")
    each.advance()
    assert each.arrays() == {}
    setting = TrainingSetting(
        "CartPole-v1", dqn(Novelty().part(saved=False)), steps=100, warmup=20, evaluate_every=50
    )
    with pytest.warns(UserWarning, match=r"Novelty.learn.* is not saved: an interrupted run restarts"):
        assert setting.trainer(0).alone
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dataclasses.replace(setting, agent=dqn(Novelty().part())).trainer(0).alone
        assert not dataclasses.replace(setting, agent=dqn(adeu.Constant(0.1))).trainer(0).alone


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda obs: [1.0, 2.0], r"the output of host_uncertainty takes shape \(1,\), got \(2,\)"),
        (lambda obs: [-1.0], "must return a finite number >= 0.*returned -1.0"),
        (lambda obs: [np.nan], "takes finite numbers, got nan"),
    ],
)
def test_a_bad_uncertainty_is_rejected(compute, message):
    with pytest.raises(ValueError, match=message):
        loop(dqn(adeu.from_host(compute)), "CartPole-v1").advance()


def test_a_rehearsal_does_not_call_the_functions():
    novelty, env = Novelty(), gymnasium.make("CartPole-v1")
    rehearse(dqn(adeu.Rollouts(novelty.part(), rho=0.1, c=0.5)), env.observation_space, env.action_space)
    assert not novelty.seen
    assert not novelty.learned
