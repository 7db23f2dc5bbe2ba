"""Random games that satisfy the assumptions of Theorem 1."""

from __future__ import annotations

import numpy as np

from adeu.core import check
from adeu.envs.mdp import Mdp
from adeu.theory.game import END, Floats, Ints

Rng = np.random.Generator


def random_game(
    states: int,
    actions: int,
    seed: int,
    *,
    side: int = 0,
    hole: float = 0.5,
    scale: float = 1.0,
    goal: float = 0.0,
    cost: float = 10.0,
    lure: float = 0.0,
) -> Mdp:
    """Sample an Increasing-Reward Single-Agent Game.

        r(s_i, b_i) = scale * (sum of i + 1 numbers from [0.5, 1.5]),  and the last one + goal

    The best actions b_i are random in each state; they lead along a path, and the last one ends the game. Any other
    action falls into a hole, which ends the game, or stays, goes back to an earlier state, or leaves the path. Off
    the path, the best action ends the game or returns to the path, no further along than where it was left. States
    are numbered at random.

    Args:
        states: the number of states, >= 1.
        actions: the number of actions, >= 1.
        seed: the seed of the game.
        side: the number of states off the path.
        hole: the probability that a wrong action falls into a hole.
        scale: the scale of the rewards.
        goal: added to the reward of the path's last action.
        cost: the reward of a wrong action lies between -cost and -cost/2, unless it is a lure.
        lure: the probability that a wrong action has a positive reward instead, as large as clause 1 allows.

    Examples:
        >>> from adeu.theory import increasing_reward, random_game
        >>> game = random_game(states=5, actions=3, seed=0, side=1)
        >>> increasing_reward(game).order
        (2, 1, 0, 4)
        >>> game.reward.max(axis=1).round(2).tolist()
        [1.83, 1.31, 0.77, 2.22, 3.14]

    Paper: Definition 2.1.
    """
    me = "random_game"
    states, actions = check.as_whole(me, "states", states), check.as_whole(me, "actions", actions)
    rng = np.random.default_rng(check.as_whole(me, "seed", seed, at_least=0))
    side = check.as_whole(me, "side", side, at_least=0)
    if side >= states:
        check.refuse(me, "side", f"a whole number < states = {states}", side)
    hole = check.as_number(me, "hole", hole, at_least=0, at_most=1)
    lure = check.as_number(me, "lure", lure, at_least=0, at_most=1)
    scale, goal = check.as_number(me, "scale", scale, above=0), check.as_number(me, "goal", goal, at_least=0)
    cost = check.as_number(me, "cost", cost, at_least=0)

    # States are first numbered along the path, then off it.
    length = states - side
    left_at = rng.integers(length, size=side)  # the first path state from which each side state can be entered
    most = np.cumsum(rng.uniform(0.5, 1.5, length))
    most = scale * np.concatenate([most, most[left_at] * rng.uniform(0.25, 0.75, side)])
    most[length - 1] += goal
    best = rng.integers(actions, size=states)
    next_state = _wrong(rng, most, left_at, actions, hole)
    next_state[np.arange(states), best] = _right(rng, most, left_at)

    limit = np.full(states, np.inf)  # clause 1: all but the best action pay less than the previous state's best
    ahead = next_state[np.arange(states), best]
    np.minimum.at(limit, ahead[ahead != END], most[ahead != END])
    wrong = np.where(
        rng.random((states, actions)) < lure,
        np.minimum(limit, most)[:, None] * rng.uniform(0.0, 0.95, (states, actions)),
        -cost * rng.uniform(0.5, 1.0, (states, actions)),
    )
    reward = np.where(np.arange(actions) == best[:, None], most[:, None], wrong)
    return _shuffled(rng, next_state, reward)


def random_sparse_game(
    hyper_states: int, size: int, actions: int, seed: int, *, hole: float = 0.5, cost: float = 10.0
) -> Mdp:
    """Sample a Sparse Increasing-Reward Game: each state of a `random_game` becomes a corridor that pays at its end.

    A hyper-state has size - 1 states without any reward, in each of which one action leads on, and a paying state,
    whose actions lead to the first states of corridors. Any other action in a corridor stays, or goes back within it.

    Args:
        hyper_states: the number of hyper-states, >= 1, all on the path.
        size: the number of states of each hyper-state, >= 1.
        actions: the number of actions, >= 1.
        seed: the seed of the game.
        hole: the probability that a wrong action of a paying state falls into a hole.
        cost: the reward of a wrong action of a paying state lies between -cost and -cost/2.

    Examples:
        >>> from adeu.theory import find_hyper_states, random_sparse_game, sparse_increasing_reward
        >>> game = random_sparse_game(hyper_states=4, size=3, actions=2, seed=0)
        >>> len(sparse_increasing_reward(game).order), find_hyper_states(game).max()
        (4, np.int64(3))

    Paper: the appendix's generalisation of Definition 2.1.
    """
    me = "random_sparse_game"
    hyper_states = check.as_whole(me, "hyper_states", hyper_states)
    size, actions = check.as_whole(me, "size", size), check.as_whole(me, "actions", actions)
    whole = random_game(hyper_states, actions, seed, hole=hole, cost=cost)
    rng = np.random.default_rng((seed, size))
    states = hyper_states * size
    ends = np.arange(size - 1, states, size)  # corridor i has the states size * i .. size * i + size - 1
    next_state, reward = np.full((states, actions), END), np.zeros((states, actions))
    for s in np.setdiff1d(np.arange(states), ends):
        next_state[s] = rng.integers(s - s % size, s + 1, actions)
        next_state[s, rng.integers(actions)] = s + 1
    next_state[ends] = np.where(whole.terminal, END, size * whole.next_state)
    reward[ends] = whole.reward
    return _shuffled(rng, next_state, reward, size * whole.start)


def _wrong(rng: Rng, most: Floats, left_at: Ints, actions: int, hole: float) -> Ints:
    """Sample the next state of each wrong action: END, a state with a lower best reward, or the same state."""
    states, length = len(most), len(most) - len(left_at)
    to = np.full((states, actions), END)
    for s, a in np.argwhere(rng.random((states, actions)) >= hole):
        earlier = np.flatnonzero(most[:length] < most[s])
        beside = length + np.flatnonzero(left_at <= s) if s < length else earlier[:0]
        choices = [np.array([s]), *(some for some in (earlier, beside) if len(some))]
        to[s, a] = rng.choice(choices[rng.integers(len(choices))])
    return to


def _right(rng: Rng, most: Floats, left_at: Ints) -> Ints:
    """Sample the next state of each best action: along the path; from a side state, back to the path or END."""
    length = len(most) - len(left_at)
    to = np.append(np.arange(1, length), END)
    back = [
        END if rng.random() < 0.5 else rng.choice(_returns(most, u, int(at))) for u, at in enumerate(left_at, length)
    ]
    return np.concatenate([to, np.array(back, np.int64)])


def _returns(most: Floats, u: int, at: int) -> Ints:
    """Return the path's states, up to the one that u is entered from, whose best reward exceeds that of u."""
    return np.flatnonzero(most[: at + 1] > most[u])


def _shuffled(rng: Rng, next_state: Ints, reward: Floats, first: int = 0) -> Mdp:
    """Return the game with its states renumbered at random."""
    number = rng.permutation(len(reward))
    old = np.argsort(number)
    terminal = (next_state == END)[old]
    where = np.where(terminal, np.arange(len(reward))[:, None], number[next_state[old]])
    start = int(number[first])
    return Mdp(where.astype(np.int32), reward[old], terminal, np.zeros(reward.shape), start, np.arange(len(reward)))
