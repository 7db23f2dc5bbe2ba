"""The claims of Theorem 1, measured on a learning agent: how its exploration moves along the path."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adeu.core import check
from adeu.theory.game import Floats, Game, Ints, read_game


def policy(
    q: ArrayLike, visits: ArrayLike, *, beta: float = 0.9, shift: float = 2.0, temperature: float = 1.0
) -> Floats:
    """Return the action probabilities for Counts(beta), ShiftedSigmoid(shift) and Categorical(temperature).

        p(s, a) = softmax(trust(s) * q(s, a) / temperature),  trust(s) = sigmoid(beta * sqrt(visits(s) + 1) - shift)

    Args:
        q: (..., S, A), one or several Q tables.
        visits: (..., S), the visit counts, without the current visit.
        beta: beta of `Counts`, > 0.
        shift: shift of `ShiftedSigmoid`.
        temperature: temperature of `Categorical`, > 0.

    Examples:
        >>> from adeu.theory import policy
        >>> policy([[1.0, 0.0]], [0]).round(3).tolist()
        [[0.562, 0.438]]
        >>> policy([[1.0, 0.0]], [100]).round(3).tolist()
        [[0.731, 0.269]]
    """
    me = "policy"
    values, counted = np.asarray(q, np.float64), np.asarray(visits, np.float64)
    if values.ndim < 2 or counted.shape != values.shape[:-1]:
        check.refuse(me, "visits", f"one number per state, shape {values.shape[:-1]}", f"shape {counted.shape}")
    beta = check.as_number(me, "beta", beta, above=0)
    temperature = check.as_number(me, "temperature", temperature, above=0)
    shift = check.as_number(me, "shift", shift)
    trust = 0.5 + 0.5 * np.tanh((beta * np.sqrt(counted + 1) - shift) / 2)
    weights = np.exp(trust[..., None] / temperature * (values - values.max(axis=-1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def exploration(p: ArrayLike, game: Any) -> tuple[Floats, Floats]:
    """Return the probabilities of deviating from the preferred action, and from the best one, along the path.

        1 - max_a p(s_i, a)  and  1 - p(s_i, b_i)

    They differ while the best action is not the preferred one: an agent that strongly prefers a wrong action explores
    little, but rarely takes the best action.

    Args:
        p: (..., S, A), the action probabilities, as `policy` returns them.
        game: as in `increasing_reward`.

    Examples:
        >>> from adeu.envs import Lake, lake_mdp
        >>> from adeu.theory import exploration
        >>> explores, strays = exploration([[0.1, 0.6, 0.2, 0.1]] * 6, lake_mdp(Lake(size=4)))
        >>> explores.round(1).tolist(), strays.round(1).tolist()
        ([0.4, 0.4, 0.4, 0.4, 0.4, 0.4], [0.4, 0.8, 0.8, 0.4, 0.4, 0.8])
    """
    read = read_game("exploration", game)
    path, best = _path(read)
    along = read_table("exploration", "p", p, read)[..., path, :]
    return 1 - along.max(axis=-1), 1 - along[..., np.arange(len(path)), best]


def frontier(q: ArrayLike, game: Any) -> Any:
    """Return how many states of the path, from the start, have their best action as the only greedy one.

        min i:  q(s_i, b_i) <= max_{a != b_i} q(s_i, a),  and the path's length if there is none

    Args:
        q: (..., S, A), one or several Q tables.
        game: as in `increasing_reward`.

    Examples:
        >>> import numpy as np
        >>> from adeu.envs import Lake, lake_mdp
        >>> from adeu.theory import frontier
        >>> game = lake_mdp(Lake(size=4))
        >>> int(frontier(np.zeros((6, 4)), game)), int(frontier(game.reward, game))
        (0, 6)
    """
    read = read_game("frontier", game)
    path, best = _path(read)
    along = read_table("frontier", "q", q, read)[..., path, :]
    row = np.arange(len(path))
    others = along.copy()
    others[..., row, best] = -np.inf
    known = along[..., row, best] > others.max(axis=-1)
    return np.cumprod(known, axis=-1).sum(axis=-1)


class Claim(NamedTuple):
    """Whether the claims of Theorem 1 held in one training run."""

    found: Ints
    """(L,): the first time by which b_i had been executed, or -1; such states are not covered by the theorem."""
    reduced: NDArray[np.bool_]
    """(L,): whether b_i is preferred at the end, and s_i explored less than when b_i was found, or not at all."""
    focused: NDArray[np.bool_]
    """(L - 1,): whether s_{i+1} was explored more than s_i after b_i was found and before b_{i+1} was found."""
    frontier: Ints
    """(T,): the result of `frontier` at each time."""

    def __bool__(self) -> bool:
        """Return whether the claim held in all states of the path in which the best action was found."""
        return bool(self.reduced[self.found >= 0].all() and self.focused[self.found[:-1] >= 0].all())


def claim(q: ArrayLike, p: ArrayLike, game: Any) -> Claim:
    """Test both parts of Theorem 1: after b_i was executed, the agent explores s_i less, and s_{i+1} more than s_i.

        exploration_i(t) = 1 - max_a p_t(s_i, a),  found_i = the first t with q_t(s_i, b_i) != q_0(s_i, b_i)
        reduced_i:  exploration_i(T) < exploration_i(found_i)  and  argmax_a p_T(s_i, a) = b_i
        focused_i:  exploration_{i+1}(t) > exploration_i(t)  for all t from found_i until found_{i+1}

    Either may be false: a constant epsilon does not reduce exploration, nor do rewards far below the temperature.

    Args:
        q: (T, S, A), the Q table before training and at later times, ideally after each episode.
        p: (T, S, A), the action probabilities at these times.
        game: as in `increasing_reward`.

    Examples:
        >>> import numpy as np
        >>> from adeu.envs import Lake, lake_mdp
        >>> from adeu.theory import claim, policy
        >>> game = lake_mdp(Lake(size=4))
        >>> q = np.array([0 * game.reward, game.reward, game.reward])
        >>> visits = np.array([[0] * 6, [1] * 6, [100] * 6])
        >>> result = claim(q, policy(q, visits), game)
        >>> result.found.tolist(), bool(result.reduced.all()), result.frontier.tolist()
        ([1, 1, 1, 1, 1, 1], True, [0, 6, 6])

    Paper: Theorem 1.
    """
    read = read_game("claim", game)
    values, likely = read_times("claim", q, p, read)
    path, best = _path(read)
    explores, _ = exploration(likely, read)
    preferred = likely[-1, path].argmax(axis=-1) == best
    return compare(first_change(values[:, path, best]), explores, preferred, frontier(values, read))


def first_change(values: Floats) -> Ints:
    """Return when each column first differed from its first row, or -1."""
    moved = values != values[0]
    return np.where(moved.any(axis=0), moved.argmax(axis=0), -1)


def compare(found: Ints, explores: Floats, preferred: NDArray[np.bool_], reached: Ints) -> Claim:
    """Return the claim for the exploration of each state of the path at each time, of shape (T, L)."""
    at_found = explores[found, np.arange(len(found))]
    reduced = (explores[-1] < at_found) | (explores[-1] == 0)
    reduced &= (found >= 0) & preferred

    time = np.arange(len(explores))[:, None]
    until = np.where(found < 0, len(explores), found)[1:]
    between = (found[:-1] >= 0) & (time >= found[:-1]) & (time < until)
    focused = ((explores[:, 1:] > explores[:, :-1]) | ~between).all(axis=0) & (found[:-1] >= 0)
    return Claim(found, reduced, focused, reached)


def _path(game: Game) -> tuple[Ints, Ints]:
    """Return the states s_i and the best action b_i of each."""
    path = game.path()
    return path, game.reward[path].argmax(axis=1)


def read_times(owner: str, q: ArrayLike, p: ArrayLike, game: Game) -> tuple[Floats, Floats]:
    """Return values and action probabilities, checked to have one table for each time."""
    values, likely = read_table(owner, "q", q, game), read_table(owner, "p", p, game)
    if values.ndim != 3:
        check.refuse(owner, "q", "tables of shape (times, states, actions)", f"shape {values.shape}")
    if values.shape != likely.shape:
        check.refuse(owner, "p", f"a table for each in q, shape {values.shape}", f"shape {likely.shape}")
    return values, likely


def read_table(owner: str, argument: str, value: ArrayLike, game: Game) -> Floats:
    table = np.asarray(value, np.float64)
    if table.shape[-2:] != game.reward.shape:
        check.refuse(owner, argument, f"a table of shape (..., {game.reward.shape})", f"shape {table.shape}")
    if np.isnan(table).any():
        check.refuse(owner, argument, "numbers", "NaN")
    return table
