"""The properties of an environment's spaces that agents need, and scaling of Box actions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.contract import Array, Key, Numbers


class Spaces(NamedTuple):
    """The properties of an environment's spaces that an agent needs."""

    inputs: int
    """The number of states if `discrete`, else the size of an observation."""
    discrete: bool
    """Whether an observation is a state index."""
    actions: int
    """The number of actions; in a Box, the size of an action."""
    low: tuple[float, ...] = ()
    """The lower bounds of a Box of actions; empty for Discrete actions."""
    high: tuple[float, ...] = ()


def discrete_spaces(owner: object, observation_space: object, action_space: object) -> Spaces:
    """Reads the Gymnasium or gymnax spaces of an agent with Discrete actions."""
    if not hasattr(action_space, "n"):
        check.refuse(owner, "action space", "a Discrete", action_space)
    actions = int(action_space.n)
    if hasattr(observation_space, "n") and not getattr(observation_space, "shape", ()):
        return Spaces(int(observation_space.n), True, actions)
    shape: tuple[int, ...] | None = getattr(observation_space, "shape", None)
    dtype: np.dtype[Any] | None = getattr(observation_space, "dtype", None)
    if not shape or not all(shape) or not np.issubdtype(dtype or np.float32, np.number):
        check.refuse(owner, "observation space", "a Box or a Discrete, not empty", observation_space)
    return Spaces(math.prod(map(int, shape)), False, actions)


def box_spaces(owner: object, observation_space: object, action_space: object) -> Spaces:
    """Reads the spaces of an agent with a bounded Box of actions."""
    from gymnasium.spaces import Box

    def box(name: str, space: object) -> Box:
        if not isinstance(space, Box) or len(space.shape) != 1 or not all(space.shape):
            check.refuse(owner, name, "a Box of one dimension, not empty", space)
        return space

    observed, acted = box("observation space", observation_space), box("action space", action_space)
    if not (np.isfinite(acted.low).all() and np.isfinite(acted.high).all()):
        check.refuse(owner, "action space", "a bounded Box", action_space)
    low, high = (tuple(map(float, bound)) for bound in (acted.low, acted.high))
    return Spaces(observed.shape[0], False, len(low), low, high)


def _range(spaces: Spaces) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns the middle of the Box of actions and half its range, in JAX's default precision."""
    low, high = (np.array(bound, jnp.result_type(float)) for bound in (spaces.low, spaces.high))
    return (high + low) / 2, (high - low) / 2


def scale_action(spaces: Spaces, action: Numbers) -> Numbers:
    """Scales an action from the environment's range to [-1, 1]."""
    middle, half = _range(spaces)
    scaled: Numbers = (action - middle) / half
    return scaled


def unscale_action(spaces: Spaces, action: Numbers) -> Numbers:
    """Scales an action from [-1, 1] to the environment's range."""
    middle, half = _range(spaces)
    unscaled: Numbers = middle + half * action
    return unscaled


def random_action(spaces: Spaces, key: Key) -> Array:
    """Draws a uniform action in the environment's range."""
    return unscale_action(spaces, jax.random.uniform(key, (spaces.actions,), minval=-1.0))
