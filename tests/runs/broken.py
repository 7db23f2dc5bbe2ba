"""A pendulum with short episodes that returns NaN at a given step."""

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import PendulumEnv


class Broken(PendulumEnv):
    at = 0
    """The step, over all episodes, whose observation is NaN; 0 for none."""

    def __init__(self):
        super().__init__()
        self.steps = 0

    def step(self, action):
        obs, *rest = super().step(action)
        self.steps += 1
        return np.full_like(obs, np.nan) if self.steps == self.at else obs, *rest


gymnasium.register("Broken-v0", Broken, max_episode_steps=20, disable_env_checker=True)
