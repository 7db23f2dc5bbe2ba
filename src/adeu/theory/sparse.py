"""Increasing-Reward Games with sparse rewards: groups of states with one paying state each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adeu.core import check
from adeu.tabular.array_check import as_array
from adeu.theory.game import END, Floats, Game, Ints, read_game
from adeu.theory.increasing import Verdict, find_fault, holds


def sparse_increasing_reward(mdp: Any, hyper_states: ArrayLike | None = None) -> Verdict:
    """Check whether a game is a Sparse Increasing-Reward Game: as `increasing_reward`, for hyper-states.

        a hyper-state H:  one state s_d with some r(s_d, a) != 0, and any number of states s_n with r(s_n, .) = 0
        its actions:      all actions of s_d, and those of the s_n that leave H

    Ambiguous points of the definition are interpreted as follows:

    - A hyper-action is a way of leaving H. It includes the steps inside H before, which pay nothing.
    - Hyper-states on the path must have a positive reward. Clauses 1 to 4 apply to all hyper-states that do. From
      each of their states s_d must be reachable inside H; otherwise the best hyper-action cannot be executed, and
      clause 4 fails.
    - All others must only be hyper-states and pay less (clause 2): rewards cannot increase if all are negative.
    - Rewards of other neighbours need not be negative. A step back to the previous hyper-state leads to a positive
      one, which Definition 2.1, generalised here, allows.
    - Steps that end the episode lead to no state, as in `increasing_reward`: these are the terminal hyper-states.

    If every state is a separate hyper-state with a reward other than 0, `increasing_reward` gives the same verdict.

    Args:
        mdp: the game, as in `increasing_reward`.
        hyper_states: (S,), the number 0, 1, ... of each state's hyper-state, ignored for unreachable states. The
            default is `find_hyper_states(mdp)`.

    Examples:
        >>> from adeu.tabular import from_arrays
        >>> from adeu.theory import sparse_increasing_reward
        >>> ends = [[False, False]] * 3 + [[False, True]]
        >>> corridor = from_arrays([[0, 1], [0, 2], [1, 3], [2, 3]], [[0, 0], [0, 1], [0, 0], [0, 2]], ends)
        >>> sparse_increasing_reward(corridor, [0, 0, 1, 1]).order
        (0, 1)
        >>> sparse_increasing_reward(corridor, [0, 0, 0, 0]).why
        'In hyper-state 0 states 1 and 3 pay, and only one may.'

    Paper: the appendix's generalisation of Definition 2.1.
    """
    me = "sparse_increasing_reward"
    game = read_game(me, mdp)
    if hyper_states is None:
        group = find_hyper_states(game)
    else:
        group = as_array(me, "hyper_states", hyper_states, (len(game.reward),), np.int64)
        if group.min() < 0:
            check.refuse(me, "hyper_states", "numbers >= 0", int(group.min()))
    reachable, pays = game.reachable(), _pays(game)
    names = np.unique(group[reachable])
    members = [reachable[group[reachable] == name] for name in names]
    for name, states in zip(names, members, strict=True):
        paying = states[pays[states]]
        if len(paying) != 1:
            reason = f"states {paying[0]} and {paying[1]} pay, and only one may" if len(paying) else "no state pays"
            return Verdict("hyper-state", int(name), f"In hyper-state {name} {reason}.", ())

    hyper = _merge(game, group, members)
    highest, path = hyper.reward.max(axis=1), hyper.path()
    deciding = [*path, *np.setdiff1d(np.flatnonzero(highest > 0), path)]
    for i in deciding:
        if highest[i] <= 0:
            return Verdict(
                "hyper-state", int(names[i]), f"Hyper-state {names[i]} is on the path and has no positive reward.", ()
            )
        lost = _lost(game, members[i], pays)
        if len(lost):
            why = (
                f"In hyper-state {names[i]} the paying state cannot be reached from state {lost[0]} without leaving."
            )
            return Verdict("4", int(names[i]), why, ())
    fault = find_fault(hyper, deciding, "hyper-state")
    if fault:
        clause, i, why = fault
        return Verdict(clause, int(names[i]), f"In hyper-state {names[i]} {why}.", ())
    verdict = holds(hyper, "hyper-states")
    return Verdict(None, None, verdict.why, tuple(names[list(verdict.order)].tolist()))


def find_hyper_states(mdp: Any) -> Ints:
    """Return the number of each state's hyper-state, in the order in which an agent reaches them.

    A hyper-state has all states without reward that are reachable from its entry before any reward, and the state
    with a positive reward after them (if there is none, with a negative one). The next hyper-state starts
    where the step with the highest reward leads. Unreachable states get -1.

    Examples:
        >>> from adeu.tabular import from_arrays
        >>> from adeu.theory import find_hyper_states
        >>> ends = [[False, False]] * 3 + [[False, True]]
        >>> corridor = from_arrays([[0, 1], [0, 2], [1, 3], [2, 3]], [[0, 0], [0, 1], [0, 0], [0, 2]], ends)
        >>> find_hyper_states(corridor).tolist()
        [0, 0, 1, 1]
    """
    game = read_game("find_hyper_states", mdp)
    pays, highest = _pays(game), game.reward.max(axis=1)
    group = np.full(len(pays), -1)
    entries = [game.start]
    while entries:
        entry = entries.pop(0)
        if group[entry] >= 0:
            continue
        found = _quiet(game, entry, group, pays)
        paying = found[pays[found]]
        chosen = paying[highest[paying] > 0] if (highest[paying] > 0).any() else paying
        inside = np.concatenate([found[~pays[found]], chosen])
        group[inside] = group.max() + 1
        for s in [*chosen, *inside]:
            entries += game.next_state[s, np.argsort(-game.reward[s], kind="stable")].tolist()
        entries = [s for s in dict.fromkeys(entries) if s != END and group[s] < 0]
    return group


def _pays(game: Game) -> Ints:
    """Return whether each state has an allowed action with a reward other than 0."""
    return np.asarray(((game.reward != 0) & np.isfinite(game.reward)).any(axis=1))


def _quiet(game: Game, entry: int, group: Ints, pays: Ints) -> Ints:
    """Return the ungrouped states reachable from the entry before any reward, and the paying states after them."""
    seen, states = {entry}, [entry]
    for s in states:
        if not pays[s]:
            states += [x for x in game.beside(s).tolist() if group[x] < 0 and x not in seen]
            seen.update(states)
    return np.array(states)


def _lost(game: Game, states: Ints, pays: Ints) -> Ints:
    """Return the states of a group from which its paying state cannot be reached inside the group."""
    near = pays[states].copy()
    for _ in states:
        near |= np.isin(game.next_state[states], states[near]).any(axis=1)
    return states[~near]


def _merge(game: Game, group: Ints, members: list[Ints]) -> Game:
    """Return the game over hyper-states: each has the actions of its paying state, and those that leave it."""
    place = {int(group[states[0]]): i for i, states in enumerate(members)}
    rows: list[tuple[list[int], list[float]]] = []
    pays = _pays(game)
    for i, states in enumerate(members):
        to, rewards = [], []
        for s in [*states[pays[states]], *states[~pays[states]]]:
            for ahead, pay in zip(game.next_state[s], game.reward[s], strict=True):
                where = END if ahead == END else place[int(group[ahead])]
                if (pays[s] or where != i) and pay > -np.inf:
                    to.append(where)
                    rewards.append(float(pay))
        rows.append((to, rewards))
    width = max(len(to) for to, _ in rows)
    next_state = np.repeat(np.arange(len(rows))[:, None], width, axis=1)
    reward: Floats = np.full((len(rows), width), -np.inf)
    for i, (to, rewards) in enumerate(rows):
        next_state[i, : len(to)], reward[i, : len(to)] = to, rewards
    return Game(next_state, reward, place[int(group[game.start])])
