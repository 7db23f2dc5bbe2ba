"""Gymnasium's autoreset modes: how a vector of environments begins its next episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode


Tree = TypeVar("Tree")


def mode_of(env: object) -> AutoresetMode:
    """Return the autoreset mode of a vector; DISABLED for a single environment or an object without `metadata`.

    The default for a vector without a mode in its metadata is NEXT_STEP, as in Gymnasium.

    Examples:
        >>> import gymnasium
        >>> from adeu.behavior import autoreset
        >>> autoreset.mode_of(gymnasium.make_vec("CartPole-v1", 2)).name
        'NEXT_STEP'
        >>> autoreset.mode_of(gymnasium.make("CartPole-v1")).name
        'DISABLED'
    """
    from gymnasium.vector import AutoresetMode

    metadata = getattr(env, "metadata", None)
    if not hasattr(env, "num_envs") or metadata is None:
        return AutoresetMode.DISABLED
    return AutoresetMode(metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))


def last_observations(
    mode: AutoresetMode,
    obs: Tree,
    ended: NDArray[np.bool_],
    info: Mapping[str, Any],
    read: Callable[[object], Tree],
) -> Tree:
    """Return the next observations of a step: `obs`, or the final one where an environment was already reset.

    Args:
        mode: the autoreset mode of the vector.
        obs: the observations that the step returned.
        ended: the environments whose episode ended.
        info: the `info` that the step returned.
        read: converts an observation of one environment to arrays like a row of `obs`.
    """
    if "final_obs" not in info:
        if ended.any() and mode.name == "SAME_STEP":
            raise ValueError("autoreset SAME_STEP takes an info with 'final_obs', the last observation of an episode")
        return obs
    last: Tree = jax.tree.map(np.array, obs)
    for index in np.flatnonzero(info.get("_final_obs", ended)).tolist():
        final = read(info["final_obs"][index])
        jax.tree.map(lambda all, one, index=index: all.__setitem__(index, one), last, final)
    return last


def first_observations(
    mode: AutoresetMode, reset: Callable[[NDArray[np.bool_]], Any], obs: Any, ended: NDArray[np.bool_]
) -> Any:
    """Return the observations for the next decision; call `reset` if an episode ended and there is no autoreset."""
    return reset(ended) if ended.any() and mode.name == "DISABLED" else obs
