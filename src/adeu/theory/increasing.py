"""Checks whether a game is an Increasing-Reward Single-Agent Game."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from adeu.theory.game import END, Floats, Game, read_game


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether a definition holds and, if not, why. `bool(verdict)` is True if it holds."""

    clause: str | None
    """The first clause that fails: "1" to "4" in the order of the definition, or "hyper-state"; None if all hold."""
    state: int | None
    """The state in which it fails; in a sparse game, the hyper-state."""
    why: str
    """An explanation in one sentence."""
    order: tuple[int, ...]
    """s_0, s_1, ...: the states that the best actions lead through; empty if the definition fails."""

    def __bool__(self) -> bool:
        return self.clause is None


def increasing_reward(mdp: Any) -> Verdict:
    """Check whether a game is an Increasing-Reward Single-Agent Game: best actions lead to states that pay more.

        m(s) = max_a r(s, a),  in every state s that can be reached:
        1  exactly one (s*, a*) with s* beside s pays r(s*, a*) >= m(s)
        2  every other s' beside s has m(s') < m(s)
        3  exactly one action b has r(s, b) = m(s)
        4  b leads to s*, and m(s*) > m(s') for every other s' beside s

    Ambiguous points of the definition are interpreted as follows:

    - A step that ends the episode leads to no state. If b is such a step, s has no s*, so 1 and 4 do not apply.
      Otherwise no finite game with an end would qualify.
    - A state is not a neighbour of itself. Otherwise an action without effect would violate 1 and 2, and every lake
      has such actions at its border.
    - 1 uses >= as in the formula, not "higher" as in the sentence after it. If ties form a cycle, `why` says so.
    - 1 counts pairs: at s*, every action but one pays less than m(s).
    - 2 and the inequality of 4 follow from 1. A second neighbour that pays at least m(s) violates 1 and 2: if b leads
      to a neighbour that also does, the verdict is 2, else 4.
    - A tie for the best action in s* violates 1 in s and 3 in s*: the verdict is 3.
    - All reachable states count, not only those on the path from the start.

    Args:
        mdp: an `adeu.envs.Mdp`, a deterministic model of `adeu.tabular`, or any object with next_state, reward
            and terminal of shape (states, actions) and an initial state, start.

    Examples:
        >>> from adeu.envs import Lake, lake_mdp
        >>> from adeu.theory import increasing_reward
        >>> increasing_reward(lake_mdp(Lake(size=4))).order
        (0, 1, 2, 3, 4, 5)
        >>> verdict = increasing_reward(lake_mdp(Lake(size=10, layout="Z")))
        >>> bool(verdict), verdict.clause, verdict.state
        (False, '1', 7)
        >>> verdict.why
        'In state 7 the best action pays 0.636364, and no neighbouring state pays as much.'

    Paper: Definition 2.1.
    """
    game = read_game("increasing_reward", mdp)
    path = game.path()
    fault = find_fault(game, [*path, *np.setdiff1d(game.reachable(), path)])
    if fault:
        clause, s, why = fault
        return Verdict(clause, s, f"In state {s} {why}.", ())
    return holds(game, "states")


def holds(game: Game, what: str) -> Verdict:
    path = game.path()
    ends = game.next_state[path[-1], game.reward[path[-1]].argmax()] == END
    ending = "ends the game" if ends else "never ends, because equal rewards form a cycle"
    return Verdict(None, None, f"The path has {len(path)} {what} and {ending}.", tuple(path.tolist()))


def find_fault(game: Game, states: Iterable[int], word: str = "state") -> tuple[str, int, str] | None:
    """Return the first clause that fails, the state and the reason; clause 3 is checked first."""
    states = [int(s) for s in states]
    highest = game.reward.max(axis=1) + 0.0  # -0 prints as 0
    for s in states:
        best = np.flatnonzero(game.reward[s] == highest[s])
        if len(best) > 1:
            return "3", s, f"actions {best[0]} and {best[1]} both pay the most, {highest[s]:g}"
    for s in states:
        fault = _misled(game, s, highest, word)
        if fault:
            return fault[0], s, fault[1]
    return None


def _misled(game: Game, s: int, highest: Floats, word: str) -> tuple[str, str] | None:
    """Return which of clauses 1, 2 and 4 fails in s, and the reason."""
    most, ahead = highest[s], game.next_state[s, game.reward[s].argmax()]
    rivals = [x for x in game.beside(s) if x != ahead and highest[x] >= most]
    if ahead != END and (ahead == s or highest[ahead] < most):
        if rivals:
            return "4", f"the best action leads to {word} {ahead}, and {word} {rivals[0]} pays better"
        return "1", f"the best action pays {most:g}, and no neighbouring {word} pays as much"
    if rivals:
        return "2", f"the best action pays {most:g}, and so does {word} {rivals[0]}, to which another one leads"
    alike = np.flatnonzero(game.reward[ahead] >= most)
    if ahead != END and len(alike) > 1:
        return (
            "1",
            f"the best action leads to {word} {ahead}, where two actions pay as much: {alike[0]} and {alike[1]}",
        )
    return None
