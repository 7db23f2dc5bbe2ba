"""Reads the arrays of a deterministic game from any object that has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.tabular.array_check import as_array

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
END = -1


class Game(NamedTuple):
    """A deterministic game with states 0 .. S - 1."""

    next_state: Ints
    """(S, A): END if the step ends the episode, the state itself if the action is not allowed."""
    reward: Floats
    """(S, A): -inf if the action is not allowed."""
    start: int

    def beside(self, s: int) -> Ints:
        """Return the states that one step from s leads to, except s itself."""
        states = np.unique(self.next_state[s])
        return np.asarray(states[(states != END) & (states != s)])

    def reachable(self) -> Ints:
        """Return the states that can be reached from the start, in order."""
        seen = np.zeros(len(self.reward), bool)
        states = np.array([self.start])
        while len(states):
            seen[states] = True
            ahead = np.unique(self.next_state[states])
            states = ahead[(ahead != END) & ~seen[ahead]]
        return np.flatnonzero(seen)

    def path(self) -> Ints:
        """Return the states visited by taking the highest reward in each, from the start up to the end or a cycle."""
        best, path = self.reward.argmax(axis=1), dict.fromkeys([self.start])
        while (s := int(self.next_state[last := next(reversed(path)), best[last]])) != END and s not in path:
            path[s] = None
        return np.array(list(path))


def read_game(owner: str, mdp: Any) -> Game:
    """Read the game of an `adeu.envs.Mdp`, a deterministic model of `adeu.tabular`, or an object with such arrays."""
    if isinstance(mdp, Game):
        return mdp
    takes = "a deterministic game: next_state, reward and terminal of shape (states, actions), and start"
    missing = [name for name in ("next_state", "reward", "terminal", "start") if not hasattr(mdp, name)]
    if missing or hasattr(mdp, "offsets"):
        without = f" without {missing[0]}" if missing else ""
        check.refuse(owner, "mdp", takes, type(mdp).__name__ + without)
    compiled = hasattr(mdp, "num_actions")  # a model of `adeu.tabular` has flat arrays
    size = (mdp.num_states, mdp.num_actions) if compiled else np.shape(mdp.next_state)
    if len(size) != 2 or 0 in size:
        check.refuse(owner, "next_state", "an array of shape (states, actions)", f"shape {size}")

    def array(name: str, dtype: Any) -> NDArray[Any]:
        value = getattr(mdp, name)
        return as_array(owner, name, value.reshape(size) if compiled else value, size, dtype)

    terminal, reward = array("terminal", np.bool_), array("reward", np.float64)
    next_state = array("next_state", np.int64)
    outside = (next_state < 0) | (next_state >= size[0])
    if (outside & ~terminal).any():
        check.refuse(owner, "next_state", f"states 0 .. {size[0] - 1}", int(next_state[outside & ~terminal][0]))
    next_state[terminal] = END
    if hasattr(getattr(mdp, "mask", None), "table"):
        here = np.broadcast_to(np.arange(size[0])[:, None], size)
        next_state = np.where(mdp.mask.table, next_state, here)
        reward[~mdp.mask.table] = -np.inf
    return Game(next_state, reward, _start(owner, mdp.start, size[0]))


def _start(owner: str, start: Any, num_states: int) -> int:
    if np.shape(start) == (num_states,):  # cumulative probabilities, as in `adeu.tabular`
        places = np.flatnonzero(np.diff(start, prepend=0.0) > 0)
        if len(places) != 1:
            check.refuse(owner, "start", "one initial state", f"{len(places)} states")
        return int(places[0])
    if np.ndim(start) != 0:
        check.refuse(owner, "start", f"a state 0 .. {num_states - 1}", f"shape {np.shape(start)}")
    first = check.as_whole(owner, "start", start, at_least=0)
    if first >= num_states:
        check.refuse(owner, "start", f"a state 0 .. {num_states - 1}", start)
    return first
