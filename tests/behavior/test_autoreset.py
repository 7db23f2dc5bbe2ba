"""Observations at the end of an episode in vectors of environments, in each of Gymnasium's autoreset modes."""

import types

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from adeu.behavior import autoreset


class Count(gymnasium.Env):
    """Observe the number of steps of the episode, in a dict; terminate after `length` steps."""

    observation_space = gymnasium.spaces.Dict(steps=gymnasium.spaces.Box(0, 9, (1,)))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, length):
        self.length = length

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return {"steps": np.zeros(1, np.float32)}, {}

    def step(self, action):
        self.steps += 1
        return {"steps": np.full(1, self.steps, np.float32)}, 0.0, self.steps == self.length, False, {}


def vector(mode):
    return SyncVectorEnv([lambda: Count(2), lambda: Count(3)], autoreset_mode=mode)


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_last_and_first_observations(mode):
    env = vector(mode)
    assert autoreset.mode_of(env) is mode
    env.reset(seed=0)

    def reset(mask):
        return env.reset(options={"reset_mask": mask})[0]

    lasts, firsts = [], []
    for _ in range(3):
        obs, _, terminated, truncated, info = env.step(np.zeros(2, int))
        ended = terminated | truncated
        last = autoreset.last_observations(mode, obs, ended, info, lambda one: one)
        first = autoreset.first_observations(mode, reset, obs, ended)
        lasts.append(np.array(last["steps"])[:, 0].tolist())
        firsts.append(np.array(first["steps"])[:, 0].tolist())
    dummy = mode is AutoresetMode.NEXT_STEP
    assert lasts == [[1, 1], [2, 2], [0 if dummy else 1, 3]]
    assert firsts == ([[1, 1], [2, 2], [0, 3]] if dummy else [[1, 1], [0, 2], [1, 0]])


def test_returned_observations_are_not_modified():
    obs, ended = {"steps": np.zeros((2, 1), np.float32)}, np.array([False, True])
    info = {"final_obs": np.array([None, {"steps": np.ones(1)}], object)}
    last = autoreset.last_observations(AutoresetMode.SAME_STEP, obs, ended, info, lambda one: one)
    assert last["steps"].tolist() == [[0], [1]]
    assert obs["steps"].tolist() == [[0], [0]]


def test_default_modes_and_a_missing_final_observation():
    spaces = {"observation_space": None, "action_space": None}
    assert autoreset.mode_of(types.SimpleNamespace(**spaces, num_envs=2)) is AutoresetMode.DISABLED
    assert autoreset.mode_of(types.SimpleNamespace(**spaces, metadata={})) is AutoresetMode.DISABLED
    silent = types.SimpleNamespace(**spaces, num_envs=2, metadata={})
    assert autoreset.mode_of(silent) is AutoresetMode.NEXT_STEP
    silent.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP.value}
    assert autoreset.mode_of(silent) is AutoresetMode.SAME_STEP
    ended = np.array([True])
    with pytest.raises(ValueError, match="autoreset SAME_STEP takes an info with 'final_obs'"):
        autoreset.last_observations(AutoresetMode.SAME_STEP, np.zeros(1), ended, {}, float)
