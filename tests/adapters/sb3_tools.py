"""Helpers for the tests of the Stable-Baselines3 and SBX callbacks."""

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import adeu
from tests.adapters.clock import Clock

TWO = spaces.Discrete(2)


def constant(c, D=None):
    return adeu.Explorer(adeu.Constant(c), adeu.Identity(), D or adeu.Gaussian())


def clocks(*lengths, **settings):
    """Return a vector with one environment for each length."""
    return DummyVecEnv([lambda i=i, n=n: Clock(n, mark=float(i), **settings) for i, n in enumerate(lengths)])


def make(kind, env, **settings):
    """Return a small model without warm-up that makes no gradient steps by default."""
    settings = {
        "learning_starts": 0,
        "gradient_steps": 0,
        "seed": 0,
        "buffer_size": 2000,
        "batch_size": 16,
    } | settings
    policy = "MultiInputPolicy" if isinstance(env.observation_space, spaces.Dict) else "MlpPolicy"
    return kind(policy, env, **{"policy_kwargs": {"net_arch": [8]}} | settings)


class Record(BaseCallback):
    """Record each step, and the decision of `explorer` in it."""

    def __init__(self, explorer=None):
        super().__init__()
        self.explorer, self.obs, self.actions, self.ended, self.decisions = explorer, [], [], [], []

    def _on_step(self):
        self.obs.append(np.copy(self.model._last_obs))
        self.actions.append(np.copy(self.locals["buffer_actions"]))
        self.ended.append(np.copy(self.locals["dones"]))
        if self.explorer is not None and self.explorer._last.decision is not None:
            self.decisions.append(self.explorer._last.decision)
        return True


def replayed(model):
    """Return the contents of the replay buffer, in order."""
    buffer = model.replay_buffer
    kept = (buffer.observations, buffer.next_observations, buffer.actions, buffer.rewards, buffer.dones)
    return [np.copy(values[: buffer.pos]) for values in kept]


def parameters(model):
    return [parameter.detach().numpy().copy() for parameter in model.policy.parameters()]


def same(left, right):
    return len(left) == len(right) and all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def pendulum():
    return gymnasium.make("Pendulum-v1")
