"""Cart-pole swing-up with a reward only for an upright pole and a centered cart, as pure JAX functions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box

from adeu.envs.timed_jax import Array, Stepped, Timed, TimedTask, started

TRACK = 2.4
"""The largest distance of the cart from the center."""
UPRIGHT, CENTERED = 0.8, 1.0
"""A step pays above this cosine of the pole's angle and below this distance of the cart from the center."""
SUBSTEPS, SECONDS, FORCE = 2, 0.02, 7.0


@dataclasses.dataclass(frozen=True)
class JaxSwingUp(TimedTask):
    """CartPole with a pole that starts hanging down; a step pays 1 if the pole is upright near the center.

    A step has two substeps of 0.02 s. In each, with CartPole-v1's masses and length,

        p     = (7 clip(a, -1, 1) + 0.05 w^2 sin(theta)) / 1.1
        alpha = (9.8 sin(theta) - cos(theta) p) / (0.5 (4/3 - 0.1 cos(theta)^2 / 1.1))
        v'    = v + 0.02 (p - 0.05 alpha cos(theta) / 1.1),  x'     = x + 0.02 v'
        w'    = w + 0.02 alpha,                              theta' = theta + 0.02 w'

    If x' leaves [-2.4, 2.4], the cart stops at the border without bouncing back: v' = 0, and the impact adds
    1.5 v' cos(theta) to the pole's angular speed. After both substeps

        r = 1 if cos(theta) > 0.8 and |x| < 1, else 0

    The observation is x, v, cos(theta), sin(theta), w; theta is 0 at the top. No episode terminates.

    Args:
        limit: the number of steps after which an episode is truncated.
    """

    limit: int = 250

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        place = jnp.array([0.0, 0.0, math.pi, 0.0]) + jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        return _observed(place), started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        place, force = state.place, FORCE * jnp.clip(action[0], -1.0, 1.0)
        for _ in range(SUBSTEPS):
            place = _moved(place, force)
        up = (jnp.cos(place[2]) > UPRIGHT) & (jnp.abs(place[0]) < CENTERED)
        reward = jnp.where(up, 1.0, 0.0)
        return _observed(place), Timed(place, state.time + 1), reward, jnp.zeros((), bool), {}

    def observation_space(self, params: Any = None) -> Box:
        high = np.array([TRACK, np.inf, 1.0, 1.0, np.inf], np.float32)
        return Box(-high, high)

    def action_space(self, params: Any = None) -> Box:
        return Box(-1.0, 1.0, (1,))


def _moved(place: Array, force: Array) -> Array:
    """Return the state after a substep of semi-implicit Euler; explicit Euler would add energy to a hanging pole."""
    x, speed, angle, turn = place
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = (force + 0.05 * turn**2 * sine) / 1.1
    bend = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
    speed = speed + SECONDS * (push - 0.05 * bend * cosine / 1.1)
    turn = turn + SECONDS * bend
    x = x + SECONDS * speed
    beyond = jnp.abs(x) > TRACK
    turn = turn + jnp.where(beyond, 1.5 * speed * cosine, 0.0)
    speed = jnp.where(beyond, 0.0, speed)
    return jnp.stack([jnp.clip(x, -TRACK, TRACK), speed, angle + SECONDS * turn, turn])


def _observed(place: Array) -> Array:
    x, speed, angle, turn = place
    return jnp.stack([x, speed, jnp.cos(angle), jnp.sin(angle), turn])
