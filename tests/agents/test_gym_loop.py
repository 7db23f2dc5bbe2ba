"""`GymLoop`: its rows, resuming with the same bits, and errors."""

import dataclasses
from typing import Any, NamedTuple

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Agent, Dqn, GymLoop
from adeu.agents.agent import Cadence
from adeu.agents.spaces import box_spaces

WATCHED = ("uncertainty", "spread", "explored", "switches", "saturated", "spread_p10", "spread_p90", "deviation")
EZ = adeu.Explorer(adeu.Constant(1 / 6), adeu.Identity(), adeu.Options(2.0, carried=True))
SMALL = Dqn(EZ, hidden=(20, 20), capacity=2_000, batch=8, target_every=10)


def sea():
    return gymnasium.make("adeu.envs:adeu/DeepSea-v0", size=5)


def sea_loop(seed=0, steps=1_500, dqn=SMALL, **settings):
    return GymLoop(dqn, sea(), sea(), steps, seed, evaluate_every=500, **settings)


def play(loop):
    rows, traces = [], {}
    while loop.step < loop.steps:
        new, named = loop.advance()
        rows += new
        traces |= named
    return rows, traces


@pytest.mark.slow
def test_it_finds_the_treasure_and_its_rows_are_right():
    rows, traces = play(sea_loop(evaluate_episodes=2, traced=(7,)))
    assert [row["step"] for row in rows] == [0, 500, 1000, 1500]
    assert [row["episode"] for row in rows] == [0, 100, 200, 300]
    assert rows[-1]["return"] == pytest.approx(0.99)
    rows = rows[1:]  # the first row is before any step
    assert all(row["spread"] == pytest.approx(1 / 6) for row in rows)
    assert 0.1 < np.mean([row["explored"] for row in rows]) < 0.9
    assert all(0.2 < row["switches"] < 5 for row in rows)
    trace = traces["episode-7"]
    assert {name: len(column) for name, column in trace.items()} == dict.fromkeys(trace, 5)
    assert (trace["best"][~trace["explored"]] == trace["action"][~trace["explored"]]).all()


def test_saved_between_episodes_it_resumes_bit_for_bit():
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


def test_the_untrained_agent_is_evaluated_and_single_greedy_episodes_are_recorded():
    loop = sea_loop(steps=500, evaluate_episodes=1, single_every=40)
    untrained = GymLoop(SMALL, sea(), sea(), 500, 0, evaluate_every=500, evaluate_episodes=1)
    rows, _ = play(loop)
    assert [row["step"] for row in rows] == [0, 500]
    assert rows == play(untrained)[0]  # single episodes change nothing
    assert [(episode, step) for episode, step, _ in loop.singles] == [(0, 0), (40, 200), (80, 400)]
    assert loop.singles[0][2] == rows[0]["return"]  # untrained agents in a deterministic environment
    again = sea_loop(steps=500, evaluate_episodes=1, single_every=40)
    again.restore(loop.arrays())
    assert again.singles == loop.singles
    assert untrained.singles == []


def test_seeds_give_different_runs():
    one, other = (play(sea_loop(seed=seed, steps=500))[0][-1] for seed in (0, 1))
    assert one["explored"] != other["explored"]


class Broken(gymnasium.Wrapper):
    """Return NaN in the third observation."""

    steps = 0

    def step(self, action):
        obs, *rest = self.env.step(action)
        self.steps += 1
        return obs * np.nan if self.steps == 3 else obs, *rest


class Walk(gymnasium.Env):
    """Observe the number of steps, in the same array every time."""

    observation_space, action_space = gymnasium.spaces.Box(0, 9, (1,)), gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        self.place = np.zeros(1, np.float32)
        return self.place, {}

    def step(self, action):
        self.place += 1
        return self.place, 0.0, bool(self.place[0] == 5), False, {}


class ScriptedRow(NamedTuple):
    obs: Any
    next_obs: Any


@dataclasses.dataclass(frozen=True)
class Scripted(Agent):
    """An agent that explores with given spreads and learns nothing."""

    batch: int = 1
    spreads: tuple[float, ...] = (0.0,)
    asked: tuple[bool, ...] = (True,)

    cadence = Cadence(update_every=1, updates=1, target_every=0)

    def read_spaces(self, observation_space, action_space):
        return box_spaces(self, observation_space, action_space)

    def init(self, key, obs):
        return ()

    def begin(self, key, carry=None):
        return self.explorer.begin(key, carry)

    def acting(self, learned):
        return ()

    def decide(self, key, acting, carry, obs, step, early, **given):
        at = step % len(self.spreads)
        spread, asked = jnp.array(self.spreads)[at], jnp.array(self.asked)[at]
        return adeu.Decision(jnp.zeros(1), jnp.ones((), bool), jnp.zeros(()), spread, asked, spread / 2), carry

    def exploit(self, key, acting, carry, obs, step, **given):
        return jnp.zeros(1)

    def row(self, coins, transition, decision):
        return ScriptedRow(transition.obs, transition.next_obs), True

    def absorb(self, key, learned, transition, step):
        return learned

    def learn(self, key, learned, batches, step):
        return learned


SPREADS = Scripted(
    adeu.Explorer(adeu.Constant(1.0), adeu.Saturating(0.2), adeu.Gaussian()),
    spreads=(0.2, 0.199, 0.15, 0.1),
    asked=(True, True, True, False),
)


def test_an_environment_may_reuse_its_observation_array():
    loop = GymLoop(SPREADS, Walk(), Walk(), steps=10, seed=0, evaluate_every=10)
    play(loop)
    replay = loop._player._replay
    seen = replay.layout.unpack(*replay.read(np.arange(10)))
    assert seen.obs.ravel().tolist() == list(range(5)) * 2
    assert seen.next_obs.ravel().tolist() == list(range(1, 6)) * 2


def test_saturation_counts_only_steps_in_which_f_was_asked():
    rows, _ = play(GymLoop(SPREADS, Walk(), Walk(), steps=20, seed=0, evaluate_every=20))
    assert rows[-1]["saturated"] == pytest.approx(2 / 3)
    assert rows[-1]["spread_p10"] == pytest.approx(0.15)
    assert rows[-1]["spread_p90"] == pytest.approx(0.2)
    assert rows[-1]["deviation"] == pytest.approx(np.mean(SPREADS.spreads) / 2)
    assert np.isnan([rows[0][name] for name in WATCHED]).all()  # no step was taken
    assert (rows[0]["step"], rows[0]["return"]) == (0, 0.0)


def test_a_bad_observation_is_reported():
    env, other = Broken(gymnasium.make("CartPole-v1")), gymnasium.make("CartPole-v1")
    loop = GymLoop(SMALL, env, other, steps=500, seed=0, evaluate_every=500)
    with pytest.raises(
        ValueError,
        match=r"CartPole-v1.*step\(\) at step 3 of training, in episode 1: observation .* got nan at index \[0",
    ):
        play(loop)


def test_a_bad_observation_in_the_evaluation_is_reported():
    env, other = gymnasium.make("CartPole-v1"), Broken(gymnasium.make("CartPole-v1"))
    loop = GymLoop(SMALL, env, other, steps=10, seed=0, evaluate_every=10)
    with pytest.raises(ValueError, match=r"step\(\) in the evaluation after step 0: observation takes fin.* got nan"):
        play(loop)


def test_bad_arguments_are_rejected():
    lengths = {"steps": 10, "seed": 0, "evaluate_every": 10}
    for argument, value, message in (
        ("seed", 2**32, "GymLoop: seed takes a whole number >= 0 and <= 4294967295, got 4294967296"),
        ("warmup", -1, "GymLoop: warmup takes a whole number >= 0, got -1"),
        ("single_every", -1, "GymLoop: single_every takes a whole number >= 0, got -1"),
        ("stream", 2, "GymLoop: stream takes a whole number >= 0 and <= 1, got 2"),
        ("steps", 15, "GymLoop: steps takes a multiple of evaluate_every=10, got 15"),
        ("agent", EZ, "GymLoop: agent takes an Agent, got Explorer"),
    ):
        with pytest.raises(ValueError, match=message):
            GymLoop(**{"agent": SPREADS, "env": Walk(), "evaluation_env": Walk()} | lengths | {argument: value})
    cart_pole = gymnasium.make("CartPole-v1")
    costly = Dqn(adeu.Explorer(adeu.Sum((adeu.ExpectedCost(),)), adeu.Saturating(1.0), adeu.Bernoulli()))
    with pytest.raises(
        ValueError, match=r"Dqn: explorer takes parts that need no cost in update\(\): the agent does not pro"
    ):
        GymLoop(costly, cart_pole, cart_pole, **lengths)
    envs = gymnasium.make_vec("CartPole-v1", num_envs=2)
    with pytest.raises(ValueError, match="GymLoop: env takes a single environment; VectorLoop takes a vector, got"):
        GymLoop(SMALL, envs, cart_pole, **lengths)
    with pytest.raises(ValueError, match=r"Dqn: action space takes a Discrete, got Box"):
        GymLoop(SMALL, Walk(), Walk(), **lengths)

    class Words:
        observation_space, action_space = gymnasium.spaces.Text(5), gymnasium.spaces.Discrete(2)

    with pytest.raises(ValueError, match=r"Dqn: observation space takes a Box or a Discrete, not empty, got Text"):
        GymLoop(SMALL, Words(), Words(), **lengths)
    other = sea_loop(dqn=Dqn(EZ, hidden=(4,), target_every=10))
    with pytest.raises(ValueError, match="its arrays do not have the shapes of its parts"):
        sea_loop().restore(other.arrays())
