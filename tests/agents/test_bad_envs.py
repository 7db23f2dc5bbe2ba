"""Environments that violate their spaces: every loop reports the environment, the call, the step and the error."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import adeu
from adeu.agents import Dqn, GymLoop, Td3, VectorLoop
from tests.bad_envs import STATES, BadEnv

GREEDY = adeu.Explorer(adeu.Constant(0.5), adeu.Identity(), adeu.Bernoulli())
SMALL = Dqn(GREEDY, hidden=(4,), batch=2, capacity=16, target_every=5)
PIXELS = gymnasium.spaces.Box(0, 255, (3,), np.uint8)

STEP = "it must return (observation, reward, terminated, truncated, info), got"
OBSERVATIONS = [
    (0.5, "observation takes shape (3,), got ()"),
    (np.zeros(4), "observation takes shape (3,), got (4,)"),
    (np.zeros((1, 3)), "observation takes shape (3,), got (1, 3)"),
    (np.full(3, 1e300), "observation takes finite numbers, got inf at index [0]"),
    ([0.0, np.nan, 0.0], "observation takes finite numbers, got nan at index [1]"),
    (["a", "b", "c"], "observation takes numbers, got <U1"),
    ({"position": np.zeros(3)}, "observation takes numbers, shape (3,), got a dict"),
    (None, "observation takes numbers, shape (3,), got a NoneType"),
    ([0.0, [1.0], 2.0], "observation takes shape (3,), got a list of unequal parts"),
    (np.zeros(3, complex), "observation takes numbers, got complex128"),
]
ANSWERS = [
    ("reward", "1.5", "reward takes numbers, got <U3"),
    ("reward", None, "reward takes numbers, shape (), got a NoneType"),
    ("reward", np.zeros(2), "reward takes shape (), got (2,)"),
    ("reward", 1e300, "reward takes finite numbers, got inf at index []"),
    ("reward", -np.inf, "reward takes finite numbers, got -inf at index []"),
    ("terminated", "no", "terminated takes true or false, got <U2"),
    ("terminated", None, "terminated takes true or false, shape (), got a NoneType"),
    ("truncated", 0.5, "truncated takes true or false, got 0.5"),
    ("truncated", [False, True], "truncated takes shape (), got (2,)"),
    ("info", None, "info takes a mapping, got a NoneType"),
    ("info", {"cost": "much"}, "info['cost'] takes numbers, got <U4"),
    (
        "",
        (np.zeros(3), 0.0, True, {}),
        f"{STEP} a tuple of 4",
    ),
    ("", np.zeros(5), f"{STEP} a ndarray"),
]


def train(env, other):
    loop = GymLoop(SMALL, env, other, 20, seed=0, warmup=20, evaluate_every=20, evaluate_episodes=1)
    while loop.step < loop.steps:
        loop.advance()


def fails(env, other, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        train(env, other)


@pytest.mark.parametrize(("value", "message"), OBSERVATIONS)
def test_bad_observations_are_rejected(value, message):
    fails(
        BadEnv("reset", "observation", value),
        BadEnv(),
        f"BadEnv(reset): reset() at step 1 of training, in episode 1: {message}",
    )
    fails(
        BadEnv("step", "observation", value, number=13),
        BadEnv(),
        f"BadEnv(step): step() at step 13 of training, in episode 2: {message}",
    )
    fails(
        BadEnv(),
        BadEnv("step", "observation", value, number=13),
        f"BadEnv(step): step() in the evaluation after step 20: {message}",
    )


@pytest.mark.parametrize(("field", "value", "message"), ANSWERS)
def test_other_bad_return_values_are_rejected(field, value, message):
    bad = {"call": "step", "field": field, "value": value}
    fails(BadEnv(**bad, number=3), BadEnv(), f"BadEnv(step): step() at step 3 of training, in episode 1: {message}")
    fails(BadEnv(), BadEnv(**bad), f"BadEnv(step): step() in the evaluation after step 0: {message}")


def test_the_old_reset_interface_is_rejected():
    takes = "it must return (observation, info), got a ndarray"
    fails(BadEnv("reset", "", np.zeros(3)), BadEnv(), "BadEnv(reset): reset() at step 1 of training, in e")
    fails(BadEnv("reset", "", np.zeros(3)), BadEnv(), takes)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (4, "observation takes whole numbers from 0 to 3, got 4"),
        (-1, "observation takes whole numbers from 0 to 3, got -1"),
        (1.0, "observation takes whole numbers, got float64"),
        (np.zeros(1, int), "observation takes shape (), got (1,)"),
        ("2", "observation takes whole numbers, got <U1"),
        (2**40, f"observation takes numbers that fit int32, got {2**40}"),
    ],
)
def test_bad_discrete_observations_are_rejected(value, message):
    fails(BadEnv("step", "observation", value, observation_space=STATES), BadEnv(observation_space=STATES), message)


def test_floats_in_an_integer_space_are_rejected():
    bad = BadEnv("step", "observation", np.full(3, 0.5), observation_space=PIXELS)
    bad._observation = lambda: np.zeros(3, np.uint8)
    other = BadEnv(observation_space=PIXELS)
    other._observation = bad._observation
    fails(bad, other, "step() at step 1 of training, in episode 1: observation takes whole numbers, got float64")


def test_unusual_valid_return_values_are_accepted():
    for field, value in (
        ("observation", [0, 1, 0]),
        ("observation", np.zeros(3, np.float64)),
        ("observation", np.array([True, False, True])),
        ("reward", 1),
        ("reward", np.float16(0.5)),
        ("reward", np.array(2.0)),
        ("terminated", np.bool_(False)),
        ("terminated", 0),
        ("truncated", np.array(True)),
        ("info", {"cost": 1}),
    ):
        train(BadEnv("step", field, value), BadEnv("step", field, value))


MODES = list(AutoresetMode)


def vector(mode, **bad):
    return SyncVectorEnv([BadEnv, lambda: BadEnv(**bad)], autoreset_mode=mode)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_vectors_are_checked(mode):
    for bad, place, message in (
        ({"call": "reset", "value": np.nan}, "reset() after step 0 of training", "[1, 0]"),
        ({"call": "step", "value": np.nan, "number": 3}, "step() after step 4 of training", "[1, 0]"),
    ):
        envs = vector(mode, **bad | {"field": "observation", "value": np.full(3, bad["value"], np.float32)})
        expected = f"{envs}: {place}: observation takes finite numbers, got nan at index {message}"
        with pytest.raises(ValueError, match=re.escape(expected)):
            VectorLoop(SMALL, envs, BadEnv(), 20, warmup=20, evaluate_every=20, evaluate_episodes=1).run()
    envs = vector(mode, call="step", field="reward", value=np.inf)
    with pytest.raises(ValueError, match=r"step\(\) after step 0 of training: reward takes finite numbers, got inf"):
        VectorLoop(SMALL, envs, BadEnv(), 20, warmup=20, evaluate_every=20, evaluate_episodes=1).run()


def test_the_final_observation_is_checked_with_same_step_autoreset():
    envs = vector(AutoresetMode.SAME_STEP, call="step", field="observation", value=np.full(3, np.inf), number=10)
    with pytest.raises(ValueError, match=r"step\(\) after step 18 of training: observation takes finite numbers"):
        VectorLoop(SMALL, envs, BadEnv(), 40, warmup=40, evaluate_every=40, evaluate_episodes=1).run()


class BadVector(SyncVectorEnv):
    """A vector whose step returns the values in `answer` in place of the right ones."""

    def step(self, action):
        names = ("obs", "reward", "terminated", "truncated", "info")
        return tuple(self.answer.get(name, own) for name, own in zip(names, super().step(action), strict=True))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"obs": np.zeros((2, 4))}, "observation takes shape (2, 3), got (2, 4)"),
        ({"obs": np.zeros(3)}, "observation takes shape (2, 3), got (3,)"),
        ({"reward": 0.5}, "reward takes shape (2,), got ()"),
        ({"terminated": np.array(["no", "no"])}, "terminated takes true or false, got <U2"),
        ({"truncated": False}, "truncated takes shape (2,), got ()"),
        ({"info": None}, "info takes a mapping, got a NoneType"),
    ],
)
def test_arrays_of_a_vector_are_checked(answer, message):
    envs = BadVector([BadEnv, BadEnv])
    envs.answer = answer
    with pytest.raises(ValueError, match=re.escape(f"step() after step 0 of training: {message}")):
        VectorLoop(SMALL, envs, BadEnv(), 20, warmup=20, evaluate_every=20, evaluate_episodes=1).run()


def test_empty_spaces_are_rejected():
    none, some = gymnasium.spaces.Box(-1, 1, (0,)), gymnasium.spaces.Box(-1, 1, (1,))
    message = "Dqn: observation space takes a Box or a Discrete, not empty, got Box"
    fails(BadEnv(observation_space=none), BadEnv(), message)
    for spaces in ((none, some), (some, none)):
        td3 = Td3(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian()), hidden=(4,))
        with pytest.raises(ValueError, match=r"Td3: .* space takes a Box of one dimension, not empty, got"):
            td3.bind(*spaces)


@pytest.mark.parametrize("count", [0, 2.7, "2", True])
def test_a_bad_num_envs_is_rejected(count):
    envs = SyncVectorEnv([BadEnv, BadEnv])
    envs.num_envs = count
    with pytest.raises(ValueError, match=r"VectorLoop: envs\.num_envs takes a whole number >= 1, got"):
        VectorLoop(SMALL, envs, BadEnv(), 20, evaluate_every=20)
