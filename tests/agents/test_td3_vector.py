"""TD3 in a vector of environments: each decides for itself, ends in its own time, and only real steps are learned."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import adeu
from adeu.agents import Td3, Td3Vector
from adeu.agents.memory import unpack

EXPLORER = adeu.Explorer(adeu.Rollouts(adeu.Constant(1.0), 0.5, 0.0), adeu.Saturating(0.2), adeu.Gaussian())
SMALL = Td3(EXPLORER, hidden=(8,), batch=8, warmup=8, capacity=300, policy_delay=1)


class Counter(gymnasium.Env):
    """What it observes: its number, the episode, the step. Every second episode terminates, the others are cut."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,))
    action_space = gymnasium.spaces.Box(-2.0, 4.0, (2,))

    def __init__(self, number):
        self.state, self.length = np.array([number, -1, 0], np.float32), 3 + number

    def reset(self, *, seed=None, options=None):
        self.state = self.state * np.float32([1, 1, 0]) + np.float32([0, 1, 0])
        return self.state, {}

    def step(self, action):
        self.state = self.state + np.float32([0, 0, 1])
        ended, terminal = self.state[2] == self.length, self.state[1] % 2 == 0
        return self.state, float(action[0]), bool(ended and terminal), bool(ended and not terminal), {}


def counters(mode):
    return SyncVectorEnv([lambda number=number: Counter(number) for number in range(3)], autoreset_mode=mode)


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_only_real_steps_are_learned_from(mode):
    loop = Td3Vector(SMALL, counters(mode), Counter(0), steps=100, evaluate_every=100)
    decided, counted, first = [], 0, set()
    while loop.step < loop.steps:
        before = loop.step
        loop.advance()
        counted += loop.step - before
        assert loop._updates == max(loop.step - 8, 0)
    for number, memory in enumerate(loop._memories):
        batch = unpack(*memory.read(np.arange(len(memory))))
        assert (batch.obs[:, 0] == number).all()
        assert np.array_equal(batch.next_obs, batch.obs + np.float32([0, 0, 1]))
        last = batch.next_obs[:, 2] == 3 + number
        assert np.array_equal(batch.terminated, last & (batch.obs[:, 1] % 2 == 0))
        # The reward is the action that was taken, in the environment's own range: between -2 and 4.
        assert batch.action[:, 0] == pytest.approx((batch.reward - 1) / 3, abs=1e-6)
        seen = [tuple(obs) for obs in batch.obs]
        assert seen == sorted(set(seen))  # one after the other, none left out or twice
        decided.append(len(memory))
        first.add(float(batch.reward[0]))
    assert len(first) == 3  # each began with random numbers of its own
    assert sum(decided) == counted == loop.step
    assert loop.episode == sum(memory_steps // (3 + number) for number, memory_steps in enumerate(decided))


def test_environments_decide_independently():
    """Their noise and the coins of their rollout episodes are their own; another seed has others."""
    coins = []
    for seed in range(2):
        loop = Td3Vector(
            SMALL, counters(AutoresetMode.SAME_STEP), Counter(0), steps=100, evaluate_every=100, seed=seed
        )
        loop.step = 8  # past the uniform actions
        spreads = []
        for _ in range(60):
            loop.advance()
            spreads.append(np.asarray(loop._carry.f.rollout))
        coins.append(np.array(spreads))
    assert not np.array_equal(coins[0], coins[1])
    for env in range(3):
        assert 0 < coins[0][:, env].mean() < 1
        changes = np.flatnonzero(np.diff(coins[0][:, env].astype(int))) + 2  # steps taken when the coin is new
        assert (changes % (3 + env) == 0).all()
    assert not np.array_equal(coins[0][:, 0], coins[0][:, 1])


def test_a_single_environment_is_refused():
    with pytest.raises(ValueError, match=r"Td3Vector: envs takes a vector of environments; .* HostLoop, got"):
        Td3Vector(SMALL, Counter(0), Counter(0), steps=1_000)
    with pytest.raises(ValueError, match="Td3Vector: steps takes a multiple of evaluate_every=10, got 25"):
        Td3Vector(SMALL, counters(AutoresetMode.SAME_STEP), Counter(0), steps=25, evaluate_every=10)


@pytest.mark.parametrize(("where", "call"), [("reset", "reset"), ("step", "step"), ("evaluation", "reset")])
def test_numbers_that_are_not_finite_are_named(where, call, monkeypatch):
    def broken(self, *, seed=None, options=None):
        return np.full(3, np.nan, np.float32), {}

    envs, other = counters(AutoresetMode.SAME_STEP), Counter(0)
    if where == "evaluation":
        other.reset = broken.__get__(other)
    elif where == "reset":
        monkeypatch.setattr(Counter, "reset", broken)
    else:
        monkeypatch.setattr(Counter, "step", lambda self, action: (self.state * np.nan, 0.0, False, False, {}))
    with pytest.raises(ValueError, match=rf"Td3Vector: {call}\(\) of an environment returned .*nan"):
        Td3Vector(SMALL, envs, other, steps=6, evaluate_every=6).run()


@pytest.mark.slow
def test_it_learns_the_pendulum():
    explorer = adeu.Explorer(adeu.Rollouts(adeu.Rnd(), 0.3, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
    td3 = Td3(explorer, hidden=(64, 64), learning_rate=1e-3, batch=128, gamma=0.98, tau=0.02, warmup=1_000)
    envs, other = gymnasium.make_vec("Pendulum-v1", num_envs=4), gymnasium.make("Pendulum-v1")
    rows = Td3Vector(td3, envs, other, steps=10_000, seed=11).run()
    assert max(row["return"] for row in rows) > -200
