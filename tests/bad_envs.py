"""A Gymnasium environment that returns a bad value at one call."""

import gymnasium
import numpy as np

FIELDS = {
    "reset": ("observation", "info"),
    "step": ("observation", "reward", "terminated", "truncated", "info"),
}
BOX, STATES = gymnasium.spaces.Box(-1.0, 1.0, (3,)), gymnasium.spaces.Discrete(4)


class BadEnv(gymnasium.Env):
    """Episodes of ten constant steps, except for one bad value.

    Args:
        call: the method that returns the bad value, "reset" or "step"; "" for none.
        field: the returned value to replace; "" replaces the whole tuple.
        value: the bad value.
        number: the number of the bad call, counted from 1.
        observation_space: a Box of shape (3,) or a Discrete.
        action_space: any space that the agent supports.
    """

    def __init__(self, call="", field="", value=None, number=1, observation_space=BOX, action_space=STATES):
        self.call, self.field, self.value, self.number = call, field, value, number
        self.observation_space, self.action_space = observation_space, action_space
        self.calls = {"reset": 0, "step": 0}

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return self._answer("reset", (self._observation(), {}))

    def step(self, action):
        self.steps += 1
        return self._answer("step", (self._observation(), 0.5, False, self.steps == 10, {}))

    def __str__(self):
        return f"BadEnv({self.call})"

    def _observation(self):
        return np.zeros(3, np.float32) if self.observation_space.shape else 2

    def _answer(self, call, answer):
        self.calls[call] += 1
        if call != self.call or self.calls[call] != self.number:
            return answer
        if not self.field:
            return self.value
        return tuple(
            self.value if name == self.field else own for name, own in zip(FIELDS[call], answer, strict=True)
        )
