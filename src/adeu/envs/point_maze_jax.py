"""A point in a U-shaped maze with a reward only near its other end, as pure JAX functions."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from gymnasium.spaces import Box

from adeu.envs.timed_jax import Array, Stepped, Timed, TimedTask, started

SIDE = 1.0
"""Both coordinates lie in [-SIDE, SIDE]."""
TIP, HALF = 0.0, 0.1
"""The wall reaches from the left side to x = TIP, and from y = -HALF to HALF."""
START, NEAR = (-0.75, -0.55), 0.05
GOAL, RADIUS = (-0.75, 0.55), 0.3
STEP = 0.15


@dataclasses.dataclass(frozen=True)
class JaxPointMaze(TimedTask):
    """A point that has to move around a wall; a step pays 1 if it ends within 0.3 of the goal, else 0.

        x' = x + 0.15 clip(a_1, -1, 1),  up to the first wall in the way
        y' = y + 0.15 clip(a_2, -1, 1),  likewise, from (x', y)

    The maze is the square [-1, 1]^2 with a wall, [-1, 0] x [-0.1, 0.1], which the point cannot enter or cross;
    it slides along the wall. An episode starts within 0.05 of (-0.75, -0.55) in both coordinates; the goal,
    (-0.75, 0.55), lies on the other side of the wall. No episode terminates.

    Args:
        limit: the number of steps after which an episode is truncated.
    """

    limit: int = 100

    def reset_env(self, key: Array, params: Any) -> tuple[Array, Timed]:
        place = jnp.array(START) + jax.random.uniform(key, (2,), minval=-NEAR, maxval=NEAR)
        return place, started(place)

    def step_env(self, key: Array, state: Timed, action: Array, params: Any) -> Stepped:
        (x, y), move = state.place, STEP * jnp.clip(action, -1.0, 1.0)
        # Beside the wall's end, x cannot enter the wall; left of the end, y stays above or below the wall.
        least = jnp.where((jnp.abs(y) < HALF), TIP, -SIDE)
        x = jnp.clip(x + move[0], least, SIDE)
        behind = x < TIP
        bottom = jnp.where(behind & (y >= HALF), HALF, -SIDE)
        top = jnp.where(behind & (y <= -HALF), -HALF, SIDE)
        place = jnp.stack([x, jnp.clip(y + move[1], bottom, top)])
        there = jnp.sum((place - jnp.array(GOAL)) ** 2) < RADIUS**2
        return place, Timed(place, state.time + 1), jnp.where(there, 1.0, 0.0), jnp.zeros((), bool), {}

    def observation_space(self, params: Any = None) -> Box:
        return Box(-SIDE, SIDE, (2,))

    def action_space(self, params: Any = None) -> Box:
        return Box(-1.0, 1.0, (2,))
