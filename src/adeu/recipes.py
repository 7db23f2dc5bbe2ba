"""Explorers to start with, by the environment."""

from __future__ import annotations

from typing import Any

from adeu.core import check
from adeu.core.explorer import Explorer
from adeu.distributions import Colored, Options
from adeu.mechanisms.rnd import Rnd
from adeu.normalizers import Saturating


def default(env: Any) -> Explorer:
    """The explorer that does best at its worst, over the tasks of `adeu run explore-tuning`.

    Of the compositions that were tried on every task, it is the one with the largest smallest share of a task's best
    final performance: one for Box actions, one for Discrete ones. `docs/stuck.md` has the figures, and the tasks
    where it is worse than plain noise.

    Args:
        env: anything with an `action_space`: a Gymnasium environment, a vector of them, a Stable-Baselines3 model.

    Examples:
        >>> import adeu, gymnasium
        >>> adeu.recipes.default(gymnasium.make("Pendulum-v1")).D
        Colored(beta=1.0, carried=False, low=None, high=None, moment='std')
    """
    from gymnasium import spaces

    space = getattr(env, "single_action_space", None) or getattr(env, "action_space", None)
    if isinstance(space, spaces.Box):
        return Explorer(Rnd(), Saturating(1.0), Colored(1.0))
    if isinstance(space, spaces.Discrete):
        return Explorer(Rnd(), Saturating(0.3), Options(2.0, carried=True))
    check.refuse("recipes.default", "env", "an environment with Box or Discrete actions", space)
