"""Gymnasium's Pendulum-v1, and a version that pays only for holding it upright, as pure JAX functions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box

from adeu.envs.timed_jax import Array, Stepped, Timed, TimedTask, started

UPRIGHT, SLOW = 0.5, 2.0
"""The sparse pendulum pays if its angle from the top and its speed are below these."""


@dataclasses.dataclass(frozen=True)
class JaxPendulum(TimedTask):
    """Pendulum-v1: swing up a pendulum with a torque too weak to lift it at once, and hold it there.

        w'     = clip(w + 0.05 (15 sin(theta) + 3u), -8, 8),  u = clip(a, -2, 2)
        theta' = theta + 0.05 w'
        r      = -(theta^2 + 0.1 w^2 + 0.001 u^2),  theta in [-pi, pi), 0 at the top

    The observation is cos(theta), sin(theta), w. No episode terminates.

    Args:
        limit: the number of steps after which an episode is truncated.
        sparse: whether episodes start within 0.1 of hanging still, and a step pays 1 if |theta'| < 0.5 and |w'| < 2,
            else 0.
    """

    limit: int = 200
    sparse: bool = False

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        middle, width = ((math.pi, 0.0), (0.1, 0.1)) if self.sparse else ((0.0, 0.0), (math.pi, 1.0))
        place = jnp.array(middle) + jnp.array(width) * jax.random.uniform(key, (2,), minval=-1.0)
        return _observed(place), started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        angle, speed = state.place
        torque = jnp.clip(action[0], -2.0, 2.0)
        cost = _from_top(angle) ** 2 + 0.1 * speed**2 + 0.001 * torque**2
        speed = jnp.clip(speed + 0.05 * (15 * jnp.sin(angle) + 3 * torque), -8.0, 8.0)
        angle = angle + 0.05 * speed
        held = (jnp.abs(_from_top(angle)) < UPRIGHT) & (jnp.abs(speed) < SLOW)
        reward = jnp.where(held, 1.0, 0.0) if self.sparse else -cost
        place = jnp.stack([angle, speed])
        return _observed(place), Timed(place, state.time + 1), reward, jnp.zeros((), bool), {}

    def observation_space(self, params: Any = None) -> Box:
        high = np.array([1.0, 1.0, 8.0], np.float32)
        return Box(-high, high)

    def action_space(self, params: Any = None) -> Box:
        return Box(-2.0, 2.0, (1,))


def _from_top(angle: Array) -> Array:
    return (angle + math.pi) % (2 * math.pi) - math.pi


def _observed(place: Array) -> Array:
    return jnp.stack([jnp.cos(place[0]), jnp.sin(place[0]), place[1]])
