"""The loop on Gymnasium environments: what it counts, that it goes on bit for bit, what it learns and refuses."""

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, DqnAgent, HostLoop

EZ = adeu.Explorer(adeu.Constant(1 / 6), adeu.Identity(), adeu.Options(2.0, carried=True))
SMALL = Dqn(EZ, hidden=(20, 20), capacity=2_000, batch=8, target_every=10, evaluate_every=10)


def sea():
    return gymnasium.make("adeu/DeepSea-v0", size=5)


def sea_loop(seed=0, steps=1_500, dqn=SMALL, **settings):
    env = sea()
    return HostLoop(DqnAgent(dqn, env, seed), env, sea(), steps, seed, evaluate_every=500, **settings)


def play(loop):
    rows, traces = [], {}
    while loop.step < loop.steps:
        new, trace = loop.advance()
        rows += new
        traces |= {loop.episode: trace} if trace else {}
    return rows, traces


@pytest.mark.slow
def test_it_finds_the_treasure_and_counts_what_happened():
    rows, traces = play(sea_loop(evaluate_episodes=2, traced=(7,)))
    assert [row["step"] for row in rows] == [500, 1000, 1500]
    assert [row["episode"] for row in rows] == [100, 200, 300]
    assert rows[-1]["return"] == pytest.approx(0.99)
    assert all(row["spread"] == pytest.approx(1 / 6) for row in rows)
    assert 0.1 < np.mean([row["explored"] for row in rows]) < 0.9
    assert all(0.2 < row["switches"] < 5 for row in rows)
    trace = traces[7]
    assert {name: len(column) for name, column in trace.items()} == dict.fromkeys(trace, 5)
    assert (trace["best"][~trace["explored"]] == trace["action"][~trace["explored"]]).all()


def test_saved_between_episodes_it_goes_on_bit_for_bit():
    whole = sea_loop(seed=3, steps=1_000)
    expected, _ = play(whole)
    loop, rows = sea_loop(seed=3, steps=1_000), []
    for _ in range(150):
        rows += loop.advance()[0]
        if loop.episode in (1, 77, 130):
            saved = {name: array.copy() for name, array in loop.arrays().items()}
            loop = sea_loop(seed=3, steps=1_000)
            loop.restore(saved)
    rows += play(loop)[0]
    assert rows == expected
    for name, array in whole.arrays().items():
        assert np.array_equal(array, loop.arrays()[name]), name


def test_another_seed_is_another_run():
    one, other = (play(sea_loop(seed=seed, steps=500))[0][0] for seed in (0, 1))
    assert one["explored"] != other["explored"]


class Broken(gymnasium.Wrapper):
    """Its third observation is not a number."""

    steps = 0

    def step(self, action):
        obs, *rest = self.env.step(action)
        self.steps += 1
        return obs * np.nan if self.steps == 3 else obs, *rest


class Walk(gymnasium.Env):
    """Counts its steps, and returns the same array again and again."""

    observation_space, action_space = gymnasium.spaces.Box(0, 9, (1,)), gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        self.place = np.zeros(1, np.float32)
        return self.place, {}

    def step(self, action):
        self.place += 1
        return self.place, 0.0, bool(self.place[0] == 5), False, {}


class Scripted:
    """Explores with the spreads it is given, and keeps what it sees."""

    def __init__(self, spreads=(0.0,), asked=(True,)):
        self.spreads, self.asked, self.seen = spreads, asked, []

    def begin(self, obs):
        pass

    def act(self, step):
        at = step % len(self.spreads)
        return adeu.Decision(np.zeros(1), True, np.float32(0), np.float32(self.spreads[at]), self.asked[at])

    def observe(self, transition, step):
        self.seen.append(transition)

    def exploit(self, obs):
        return np.zeros(1)


def test_an_environment_may_write_into_what_it_returned():
    agent = Scripted()
    play(HostLoop(agent, Walk(), Walk(), steps=10, seed=0, evaluate_every=10))
    assert [(float(seen.obs[0]), float(seen.next_obs[0])) for seen in agent.seen] == [
        (n, n + 1) for n in range(5)
    ] * 2


def test_steps_with_the_largest_spread_are_counted_outside_rollout_episodes():
    agent = Scripted(spreads=(0.2, 0.199, 0.15, 0.1), asked=(True, True, True, False))
    g = adeu.Saturating(0.2)
    rows, _ = play(HostLoop(agent, Walk(), Walk(), steps=20, seed=0, evaluate_every=20, saturation=g))
    assert rows[0]["saturated"] == pytest.approx(2 / 3)


def test_what_an_environment_breaks_is_named():
    env, other = Broken(gymnasium.make("CartPole-v1")), gymnasium.make("CartPole-v1")
    loop = HostLoop(DqnAgent(SMALL, env, 0), env, other, steps=500, seed=0, evaluate_every=500)
    with pytest.raises(
        ValueError, match=r"CartPole-v1.*step\(\) returned the observation \[nan.* at step 3 of training"
    ):
        play(loop)


def test_what_the_environment_of_evaluations_breaks_is_named():
    env, other = gymnasium.make("CartPole-v1"), Broken(gymnasium.make("CartPole-v1"))
    loop = HostLoop(DqnAgent(SMALL, env, 0), env, other, steps=10, seed=0, evaluate_every=10)
    with pytest.raises(ValueError, match=r"observation \[nan.* in the evaluation after step 10; it takes finite"):
        play(loop)


def test_bad_input():
    with pytest.raises(
        ValueError, match="HostLoop: seed takes a whole number >= 0 and <= 4294967295, got 4294967296"
    ):
        HostLoop(Scripted(), Walk(), Walk(), steps=10, seed=2**32, evaluate_every=10)
    costly = Dqn(adeu.Explorer(adeu.Sum((adeu.ExpectedCost(),)), adeu.Saturating(1.0), adeu.Bernoulli()))
    with pytest.raises(ValueError, match="Dqn: explorer takes an f that learns no costs from batches"):
        DqnAgent(costly, gymnasium.make("CartPole-v1"), 0)
    with pytest.raises(ValueError, match="HostLoop: steps takes a multiple of evaluate_every=500, got 600"):
        sea_loop(steps=600)
    with pytest.raises(ValueError, match=r"Dqn: action space takes a Discrete, got Box"):
        DqnAgent(SMALL, gymnasium.make("Pendulum-v1"), 0)

    class Words:
        observation_space, action_space = gymnasium.spaces.Text(5), gymnasium.spaces.Discrete(2)

    with pytest.raises(ValueError, match=r"Dqn: observation space takes a Box or a Discrete, got Text"):
        DqnAgent(SMALL, Words(), 0)
    other = sea_loop(dqn=Dqn(EZ, hidden=(4,), target_every=10, evaluate_every=10))
    with pytest.raises(ValueError, match="its arrays do not have the shapes of its parts"):
        sea_loop().restore(other.arrays())
