"""Gymnasium's CartPole-v1 and MountainCar-v0 as pure JAX functions, with the interface of a gymnax environment."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

from adeu.envs.timed_jax import Array, Stepped, Timed, TimedTask, started


@dataclasses.dataclass(frozen=True)
class JaxCartPole(TimedTask):
    """CartPole-v1: a reward of 1 for every step until the pole falls; it takes no params.

    Args:
        limit: the number of steps after which an episode is truncated.

    Examples:
        >>> import jax
        >>> from adeu.envs import JaxCartPole
        >>> env = JaxCartPole()
        >>> obs, state = env.reset_env(jax.random.key(0), None)
        >>> obs, state, reward, terminated, info = env.step_env(jax.random.key(1), state, 1, None)
        >>> obs.shape, float(reward), bool(terminated)
        ((4,), 1.0, False)
    """

    limit: int = 500

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        place = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        return place, started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        x, speed, angle, turn = state.place
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        push = (jnp.where(action == 1, 10.0, -10.0) + 0.05 * turn**2 * sine) / 1.1
        bend = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
        pull = push - 0.05 * bend * cosine / 1.1
        place = jnp.stack([x + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turn, turn + 0.02 * bend])
        fell = (jnp.abs(place[0]) > 2.4) | (jnp.abs(place[2]) > 12 * math.pi / 180)
        return place, Timed(place, state.time + 1), jnp.ones(()), fell, {}

    def observation_space(self, params: Any) -> Box:
        return Box(-np.inf, np.inf, (4,))

    def action_space(self, params: Any = None) -> Discrete:
        return Discrete(2)


@dataclasses.dataclass(frozen=True)
class JaxMountainCar(TimedTask):
    """MountainCar-v0: a reward of -1 for every step until the hill is climbed; it takes no params.

    Args:
        limit: the number of steps after which an episode is truncated.
        sparse: whether the reward is 1 for the step that climbs the hill, and 0 before.
    """

    limit: int = 200
    sparse: bool = False

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        place = jnp.stack([jax.random.uniform(key, minval=-0.6, maxval=-0.4), jnp.zeros(())])
        return place, started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        position, speed = state.place
        speed = jnp.clip(speed + 0.001 * (action - 1) - 0.0025 * jnp.cos(3 * position), -0.07, 0.07)
        position = jnp.clip(position + speed, -1.2, 0.6)
        speed = jnp.where((position <= -1.2) & (speed < 0), 0.0, speed)
        place = jnp.stack([position, speed])
        climbed = (position >= 0.5) & (speed >= 0)
        reward = jnp.where(climbed, 1.0, 0.0) if self.sparse else -jnp.ones(())
        return place, Timed(place, state.time + 1), reward, climbed, {}

    def observation_space(self, params: Any) -> Box:
        return Box(np.array([-1.2, -0.07], np.float32), np.array([0.6, 0.07], np.float32))

    def action_space(self, params: Any = None) -> Discrete:
        return Discrete(3)
