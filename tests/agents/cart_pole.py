"""Gymnasium's CartPole-v1 in pure JAX, with the interface of gymnax: for where that is not installed."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete


class State(NamedTuple):
    place: jax.Array
    time: jax.Array


@dataclasses.dataclass(frozen=True)
class CartPole:
    limit: int = 500

    default_params = None

    def reset_env(self, key, params):
        place = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        return place, State(place, jnp.zeros((), jnp.int32))

    def step_env(self, key, state, action, params):
        x, speed, angle, turn = state.place
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        push = (jnp.where(action == 1, 10.0, -10.0) + 0.05 * turn**2 * sine) / 1.1
        bend = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
        pull = push - 0.05 * bend * cosine / 1.1
        place = jnp.stack([x + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turn, turn + 0.02 * bend])
        fell = (jnp.abs(place[0]) > 2.4) | (jnp.abs(place[2]) > 12 * np.pi / 180)
        return place, State(place, state.time + 1), jnp.ones(()), fell, {}

    def is_truncated(self, state, params):
        return state.time >= self.limit

    def observation_space(self, params):
        return Box(-np.inf, np.inf, (4,))

    def action_space(self, params):
        return Discrete(2)
