"""Gymnasium's Pendulum-v1 in pure JAX, with the interface of gymnax."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box


class State(NamedTuple):
    angle: jax.Array
    speed: jax.Array
    time: jax.Array


@dataclasses.dataclass(frozen=True)
class Pendulum:
    limit: int = 200

    default_params = None

    def reset_env(self, key, params):
        angle, speed = jax.random.uniform(key, (2,), minval=-1.0) * jnp.array([np.pi, 1.0])
        state = State(angle, speed, jnp.zeros((), jnp.int32))
        return self._see(state), state

    def step_env(self, key, state, action, params):
        torque = jnp.clip(action[0], -2.0, 2.0)
        angle = (state.angle + np.pi) % (2 * np.pi) - np.pi
        reward = -(angle**2 + 0.1 * state.speed**2 + 0.001 * torque**2)
        speed = jnp.clip(state.speed + (15.0 * jnp.sin(state.angle) + 3.0 * torque) * 0.05, -8.0, 8.0)
        after = State(state.angle + speed * 0.05, speed, state.time + 1)
        return self._see(after), after, reward, jnp.zeros((), bool), {}

    def is_truncated(self, state, params):
        return state.time >= self.limit

    def observation_space(self, params):
        return Box(np.float32([-1, -1, -8]), np.float32([1, 1, 8]))

    def action_space(self, params):
        return Box(-2.0, 2.0, (1,))

    def _see(self, state):
        return jnp.stack([jnp.cos(state.angle), jnp.sin(state.angle), state.speed])
