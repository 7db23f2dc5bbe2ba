"""How a vector of environments begins its next episodes: Gymnasium's autoreset modes."""

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
    """The autoreset mode of a vector; DISABLED for a single environment and for what has no `metadata`.

    A vector whose metadata name no mode is assumed to reset at the next step, as in Gymnasium.

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
    """The observations that a step led to: `obs`, but the real last one where an episode ended and was already reset.

    Args:
        mode: of the vector.
        obs: the observations that the step returned.
        ended: where an episode ended.
        info: what the step returned with them.
        read: from one environment's observation to arrays like a row of `obs`.
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
    """The observations to decide on next: those of `reset` where an episode ended, unless it resets itself."""
    return reset(ended) if ended.any() and mode.name == "DISABLED" else obs
