"""`VectorLoop`: environments decide and end independently, and the agent learns only from real steps."""

import dataclasses

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import adeu
from adeu.agents import Td3, VectorLoop

EXPLORER = adeu.Explorer(adeu.Rollouts(adeu.Constant(1.0), 0.5, 0.0), adeu.Saturating(0.2), adeu.Gaussian())
SMALL = Td3(EXPLORER, hidden=(8,), batch=8, capacity=300, policy_delay=1)


class Counter(gymnasium.Env):
    """Observe (number, episode, step). Every second episode terminates, the others are truncated."""

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
    loop = VectorLoop(SMALL, counters(mode), Counter(0), steps=100, warmup=8, evaluate_every=100)
    decided, counted, first = [], 0, set()
    while loop.step < loop.steps:
        before = loop.step
        loop.advance()
        counted += loop.step - before
        assert loop._updates == max(loop.step - 8, 0)
    for number, replay in enumerate(loop._replays):
        batch = replay.layout.unpack(*replay.read(np.arange(len(replay))))
        assert (batch.obs[:, 0] == number).all()
        assert np.array_equal(batch.next_obs, batch.obs + np.float32([0, 0, 1]))
        last = batch.next_obs[:, 2] == 3 + number
        assert np.array_equal(batch.terminated, last & (batch.obs[:, 1] % 2 == 0))
        # The reward is the action in the environment's range, between -2 and 4.
        assert batch.action[:, 0] == pytest.approx((batch.reward - 1) / 3, abs=1e-6)
        seen = [tuple(obs) for obs in batch.obs]
        assert seen == sorted(set(seen))  # in order, each once
        decided.append(len(replay))
        first.add(float(batch.reward[0]))
    assert len(first) == 3  # different random numbers in each
    assert sum(decided) == counted == loop.step
    assert loop.episode == sum(steps // (3 + number) for number, steps in enumerate(decided))


def test_rows_show_exploration_after_the_first():
    loop = VectorLoop(SMALL, counters(AutoresetMode.SAME_STEP), Counter(0), steps=60, warmup=90, evaluate_every=60)
    first, last = loop.run()
    names = ("spread", "saturated", "spread_p10", "spread_p90", "deviation")
    assert np.isnan([first[name] for name in names]).all()
    assert last["spread_p10"] == last["spread_p90"] == pytest.approx(float(adeu.Saturating(0.2)(1.0)))
    assert last["spread"] < last["spread_p10"]  # rollout episodes have a spread of 0
    assert last["saturated"] == 0.0
    assert 0.3 < last["deviation"] < 0.8


def test_environments_decide_independently():
    """Noise and rollout coins differ across environments and seeds."""
    coins = []
    for seed in range(2):
        envs = counters(AutoresetMode.SAME_STEP)
        loop = VectorLoop(SMALL, envs, Counter(0), steps=100, warmup=8, evaluate_every=100, seed=seed)
        loop.step = 8  # after the warm-up
        drawn = []
        for _ in range(60):
            loop.advance()
            drawn.append(np.asarray(loop._carry.f.coin))
        coins.append(np.array(drawn))
    assert not np.array_equal(coins[0], coins[1])
    for env in range(3):
        assert len(np.unique(coins[0][:, env])) > 10
        changes = np.flatnonzero(np.diff(coins[0][:, env])) + 2  # steps at which a new coin is drawn
        assert (changes % (3 + env) == 0).all()
    assert not np.array_equal(coins[0][:, 0], coins[0][:, 1])


def test_a_part_for_one_environment_is_rejected_in_a_vector():
    agent = dataclasses.replace(SMALL, explorer=adeu.recipes.go_explore(bins=2, longest=5))
    one, two = (gymnasium.make_vec("adeu/PointMaze-v0", number) for number in (1, 2))
    env = gymnasium.make("adeu/PointMaze-v0")
    with pytest.raises(ValueError, match=r"Cells: env takes one environment, .* got '2 of them'"):
        VectorLoop(agent, two, env, steps=1_000)
    VectorLoop(agent, one, env, steps=1_000)


def test_bad_arguments_are_rejected():
    with pytest.raises(ValueError, match=r"VectorLoop: envs takes a vector of environments; GymLoop takes a si.*got"):
        VectorLoop(SMALL, Counter(0), Counter(0), steps=1_000)
    envs = counters(AutoresetMode.SAME_STEP)
    with pytest.raises(ValueError, match="VectorLoop: steps takes a multiple of evaluate_every=10, got 25"):
        VectorLoop(SMALL, envs, Counter(0), steps=25, evaluate_every=10)
    tiny = dataclasses.replace(SMALL, batch=1, capacity=2)
    with pytest.raises(ValueError, match="Td3: capacity takes at least one row for each of 3 environments, got 2"):
        VectorLoop(tiny, envs, Counter(0), steps=1_000)


@pytest.mark.parametrize(
    ("where", "call", "place"),
    [
        ("reset", "reset", "after step 0 of training"),
        ("step", "step", "after step 0 of training"),
        ("evaluation", "reset", "in the evaluation after step 0"),
    ],
)
def test_observations_that_are_not_finite_are_reported(where, call, place, monkeypatch):
    def broken(self, *, seed=None, options=None):
        return np.full(3, np.nan, np.float32), {}

    envs, other = counters(AutoresetMode.SAME_STEP), Counter(0)
    if where == "evaluation":
        other.reset = broken.__get__(other)
    elif where == "reset":
        monkeypatch.setattr(Counter, "reset", broken)
    else:
        other.step = other.step  # keep the evaluation environment intact
        monkeypatch.setattr(Counter, "step", lambda self, action: (self.state * np.nan, 0.0, False, False, {}))
    with pytest.raises(ValueError, match=rf"{call}\(\) {place}: observation takes finite numbers, got nan"):
        VectorLoop(SMALL, envs, other, steps=6, warmup=8, evaluate_every=6).run()


@pytest.mark.slow
def test_it_learns_the_pendulum():
    explorer = adeu.Explorer(adeu.Rollouts(adeu.Rnd(), 0.3, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
    td3 = Td3(explorer, hidden=(64, 64), learning_rate=1e-3, batch=128, gamma=0.98, tau=0.02)
    envs, other = gymnasium.make_vec("Pendulum-v1", num_envs=4), gymnasium.make("Pendulum-v1")
    rows = VectorLoop(td3, envs, other, steps=10_000, seed=11, warmup=1_000).run()
    assert max(row["return"] for row in rows) > -200
