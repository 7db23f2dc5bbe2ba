"""The claims of Theorem 1 for hyper-states, measured on a learning agent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.core import check
from adeu.theory.game import Floats, Game, Ints, read_game
from adeu.theory.sparse import find_hyper_states, sparse_increasing_reward
from adeu.theory.theorem import Claim, compare, first_change, read_table, read_times


class HyperPath(NamedTuple):
    """The hyper-states H_i that the best hyper-actions lead through; built by `hyper_path`."""

    game: Game
    members: tuple[Ints, ...]
    """The states of each hyper-state."""
    entry: Ints
    """The state in which each hyper-state is entered from the previous one."""
    paying: Ints
    """s_d, the paying state of each hyper-state."""
    best: Ints
    """b, the action of s_d with the highest reward."""

    @property
    def length(self) -> int:
        """L, the number of hyper-states on the path."""
        return len(self.best)

    def exploration(self, p: ArrayLike) -> Floats:
        """Return the probability of deviating from the preferred action, averaged over the states of H_i; (..., L).

            mean_{s in H_i} (1 - max_a p(s, a))

        Args:
            p: (..., S, A), the action probabilities.
        """
        explores = 1 - read_table("exploration", "p", p, self.game).max(axis=-1)
        return np.stack([explores[..., states].mean(axis=-1) for states in self.members], axis=-1)

    def prefers(self, q: ArrayLike) -> NDArray[np.bool_]:
        """Return whether the greedy actions lead from the entry of H_i to s_d, and b is greedy there; (..., L).

        Args:
            q: (..., S, A), preferences: values or probabilities. In a tie no action is greedy.
        """
        table = read_table("prefers", "q", q, self.game)
        flat = table.reshape(-1, *table.shape[-2:])
        greedy = flat.argmax(axis=-1)
        tied = (flat == flat.max(axis=-1, keepdims=True)).sum(axis=-1) > 1
        each = [[self._leads(i, *row) for i in range(self.length)] for row in zip(greedy, tied, strict=True)]
        return np.array(each).reshape(*table.shape[:-2], self.length)

    def frontier(self, q: ArrayLike) -> Ints:
        """Return how many hyper-states, from the start, have their best hyper-action as the only greedy one; (...).

        Args:
            q: (..., S, A), one or several Q tables.
        """
        return np.asarray(np.cumprod(self.prefers(q), axis=-1).sum(axis=-1))

    def claim(self, q: ArrayLike, p: ArrayLike) -> Claim:
        """Test the claim as `adeu.theory.claim` does, for b in s_d; `prefers(p)` replaces the preferred action.

        Args:
            q: (T, S, A), the Q table before training and at later times, ideally after each episode.
            p: (T, S, A), the action probabilities at these times.
        """
        values, likely = read_times("claim", q, p, self.game)
        found = first_change(values[:, self.paying, self.best])
        return compare(found, self.exploration(likely), self.prefers(likely[-1]), self.frontier(values))

    def _leads(self, i: int, greedy: Ints, tied: NDArray[np.bool_]) -> bool:
        s = self.entry[i]
        for _ in self.members[i]:
            if tied[s]:
                return False
            if s == self.paying[i]:
                return bool(greedy[s] == self.best[i])
            s = self.game.next_state[s, greedy[s]]
            if s not in self.members[i]:
                return False
        return False


def hyper_path(mdp: Any, hyper_states: ArrayLike | None = None) -> HyperPath:
    """Return the path of a Sparse Increasing-Reward Game; its `claim` tests Theorem 1.

    Args:
        mdp: the game, as in `increasing_reward`.
        hyper_states: as in `sparse_increasing_reward`, which must hold.

    Examples:
        >>> from adeu.tabular import from_arrays
        >>> from adeu.theory import hyper_path
        >>> ends = [[False, False]] * 3 + [[False, True]]
        >>> corridor = from_arrays([[0, 1], [0, 2], [1, 3], [2, 3]], [[0, 0], [0, 1], [0, 0], [0, 2]], ends)
        >>> path = hyper_path(corridor)
        >>> path.entry.tolist(), path.paying.tolist(), path.best.tolist()
        ([0, 2], [1, 3], [1, 1])
        >>> path.frontier([[0, 1], [0, 1], [0, 0], [0, 1]]).tolist()
        1

    Paper: the corollary on sparse games in the appendix.
    """
    me = "hyper_path"
    game = read_game(me, mdp)
    verdict = sparse_increasing_reward(game, hyper_states)
    if not verdict:
        check.refuse(me, "mdp", "a Sparse Increasing-Reward Game", verdict.why)
    group = find_hyper_states(game) if hyper_states is None else np.asarray(hyper_states)
    reachable = game.reachable()
    members = tuple(reachable[group[reachable] == name] for name in verdict.order)
    highest = game.reward.max(axis=1)
    paying = np.array([states[highest[states].argmax()] for states in members])
    best = game.reward[paying].argmax(axis=1)
    entry = np.concatenate([[game.start], game.next_state[paying[:-1], best[:-1]]])
    return HyperPath(game, members, entry, paying, best)
