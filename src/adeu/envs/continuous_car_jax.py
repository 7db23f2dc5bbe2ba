"""Gymnasium's MountainCarContinuous-v0 as pure JAX functions, with the interface of a gymnax environment."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box

from adeu.envs.timed_jax import Array, Stepped, Timed, TimedTask, started


@dataclasses.dataclass(frozen=True)
class JaxMountainCarContinuous(TimedTask):
    """MountainCarContinuous-v0: a reward of 100 for climbing the hill, and -0.1 a^2 for every action.

        v' = clip(v + 0.0015 clip(a, -1, 1) - 0.0025 cos(3x), -0.07, 0.07)
        x' = clip(x + v', -1.2, 0.6);  at x' = -1.2 the car stops

    The hill is climbed at x' >= 0.45 with v' >= 0, which ends the episode. A car that never moves has a return of 0,
    more than one that explores and fails.

    Args:
        limit: the number of steps after which an episode is truncated.
    """

    limit: int = 999

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        place = jnp.stack([jax.random.uniform(key, minval=-0.6, maxval=-0.4), jnp.zeros(())])
        return place, started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        position, speed = state.place
        push = jnp.clip(action[0], -1.0, 1.0)
        speed = jnp.clip(speed + 0.0015 * push - 0.0025 * jnp.cos(3 * position), -0.07, 0.07)
        position = jnp.clip(position + speed, -1.2, 0.6)
        speed = jnp.where((position <= -1.2) & (speed < 0), 0.0, speed)
        place = jnp.stack([position, speed])
        climbed = (position >= 0.45) & (speed >= 0)
        reward = jnp.where(climbed, 100.0, 0.0) - 0.1 * action[0] ** 2
        return place, Timed(place, state.time + 1), reward, climbed, {}

    def observation_space(self, params: Any = None) -> Box:
        return Box(np.array([-1.2, -0.07], np.float32), np.array([0.6, 0.07], np.float32))

    def action_space(self, params: Any = None) -> Box:
        return Box(-1.0, 1.0, (1,))
