"""Explorers to start with, by the environment."""

from __future__ import annotations

from typing import Any, Literal

from adeu.core import check
from adeu.core.explorer import Explorer
from adeu.distributions import Options, Sticky
from adeu.guards import Returning
from adeu.mechanisms.constant import Constant
from adeu.mechanisms.first_return import FirstReturn
from adeu.normalizers import Identity

BOX = Explorer(Constant(1.0), Identity(), Options(2.0))
DISCRETE = Explorer(Constant(0.3), Identity(), Options(2.0, carried=True))


def default(env: Any) -> Explorer:
    """The explorer that does best at its worst, over the tasks of `adeu run explore-tuning`.

    Of the compositions that were tried on every task, it is the one whose smallest share of a task's best final
    performance is the largest: one for Box actions, one for Discrete ones.

    Args:
        env: anything with an `action_space`: a Gymnasium environment, a vector of them, a Stable-Baselines3 model.

    Examples:
        >>> import adeu, gymnasium
        >>> adeu.recipes.default(gymnasium.make("Pendulum-v1")).D
        Options(mu=2.0, carried=False, options=None, weights=None)
    """
    return BOX if kind_of(env) == "Box" else DISCRETE


def go_explore(
    num_states: int | None = None,
    *,
    longest: int = 1000,
    by: Literal["replay", "agent"] = "replay",
    mean: float = 20.0,
) -> Explorer:
    """Returns to a cell of an archive, then explores from there by repeated actions (Ecoffet et al., 2021).

    Args:
        num_states: how many cells there are; None: what `Behavior` finds in the space.
        longest: the most actions that the archive keeps of a way.
        by: how it returns: "replay" of the actions, where nothing is random, or the "agent", who then gives
            `goal_preferences`.
        mean: how many steps an action is repeated for on average while it explores.

    Examples:
        >>> import adeu
        >>> adeu.recipes.go_explore().D
        Sticky(mean=20.0)
    """
    return Explorer(FirstReturn(num_states, longest, by), Identity(), Sticky(mean), Returning(by))


def kind_of(env: Any) -> Literal["Box", "Discrete"]:
    """The kind of an environment's actions; rejects any other."""
    from gymnasium import spaces

    space = getattr(env, "single_action_space", None) or getattr(env, "action_space", None)
    if isinstance(space, spaces.Box):
        return "Box"
    if isinstance(space, spaces.Discrete):
        return "Discrete"
    check.refuse("adeu.recipes", "env", "an environment with Box or Discrete actions", space)
