"""An environment that observes the time step of the episode, so that tests can check every step."""

import gymnasium
import numpy as np
from gymnasium import spaces


class Clock(gymnasium.Env):
    """Observe (steps since the reset, `mark`); terminate after `length` steps, or truncate if `truncates`."""

    def __init__(self, length=5, mark=0.0, actions=None, truncates=False, offset=0.0):
        self.observation_space = spaces.Box(-1000.0, 1000.0, (2,), np.float32)
        self.action_space = actions or spaces.Box(np.float32([-2, 0]), np.float32([6, 1]))
        self.length, self.mark, self.truncates, self.offset = length, mark, truncates, offset
        self.time, self.taken = 0, []

    def _observe(self):
        return np.array([self.time + self.offset, self.mark], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self._observe(), {}

    def step(self, action):
        self.time += 1
        self.taken.append(np.copy(action))
        ended = self.time >= self.length
        info = {"cost": float(self.time)}
        return self._observe(), 1.0, ended and not self.truncates, ended and self.truncates, info
