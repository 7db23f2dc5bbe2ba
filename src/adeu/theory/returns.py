"""Checks whether the action with the highest reward also has the highest return."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.theory.game import END, read_game

ROUNDING = 1e-9


def pays_in_the_long_run(mdp: Any, gamma: float = 0.99) -> NDArray[np.bool_]:
    """Return whether, in each state of the path, the action with the highest reward also has the highest return.

        r(s, b) = max_a r(s, a)  and  Q*(s, b) = max_a Q*(s, a)

    An Increasing-Reward Game does not guarantee this: moving back and forth may pay more than reaching the end. A
    learner that maximises the return then does not learn the path.

    Args:
        mdp: the game, as in `increasing_reward`.
        gamma: the discount, in [0, 1).

    Examples:
        >>> from adeu.envs import Lake, lake_mdp
        >>> from adeu.theory import pays_in_the_long_run
        >>> bool(pays_in_the_long_run(lake_mdp(Lake(size=4))).all())
        True
        >>> pays_in_the_long_run(lake_mdp(Lake(size=4, goal=2.0, back_cost=0.0))).tolist()
        [True, True, True, True, True, False]
    """
    me = "pays_in_the_long_run"
    game = read_game(me, mdp)
    gamma = check.as_number(me, "gamma", gamma, at_least=0, at_most=1)
    if gamma == 1:
        check.refuse(me, "gamma", "a number in [0, 1)", gamma)
    value, size = np.zeros(len(game.reward)), np.abs(game.reward[np.isfinite(game.reward)]).max() / (1 - gamma)
    change = np.inf
    while change > ROUNDING * (1 - gamma) * size:
        q = game.reward + gamma * np.where(game.next_state == END, 0.0, value[game.next_state])
        change, value = np.abs(q.max(axis=1) - value).max(), q.max(axis=1)
    path = game.path()
    best = q[path, game.reward[path].argmax(axis=1)]
    return np.asarray(best >= value[path] - ROUNDING * size)
