"""Sparse Increasing-Reward Games, the class over hyper-states."""

import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adeu.theory import find_hyper_states, increasing_reward, random_game, sparse_increasing_reward
from tests.theory.test_games import GAMES


@settings(max_examples=150, deadline=None)
@given(GAMES)
def test_with_single_states_as_hyper_states_the_verdict_is_the_same(wanted):
    game = random_game(**wanted)
    each = np.arange(wanted["states"])
    assert sparse_increasing_reward(game, each) == _renamed(increasing_reward(game))
    assert sparse_increasing_reward(game)


def _renamed(verdict):
    return type(verdict)(None, None, verdict.why.replace("states", "hyper-states"), verdict.order)


def stretched(game, steps):
    """Insert `steps` states without reward before each state; 0 goes forward, other actions back to the first."""
    states, actions = game.reward.shape
    first = np.arange(states) * (steps + 1)
    own = first + steps
    next_state = np.zeros(((steps + 1) * states, actions), int)
    reward, terminal = np.zeros(next_state.shape), np.zeros(next_state.shape, bool)
    next_state[own], reward[own], terminal[own] = first[game.next_state], game.reward, game.terminal
    for i in range(steps):
        next_state[first + i] = first[:, None]
        next_state[first + i, 0] = first + i + 1
    group = np.repeat(np.arange(states), steps + 1)
    start = int(first[game.start])
    return types.SimpleNamespace(next_state=next_state, reward=reward, terminal=terminal, start=start), group


@settings(max_examples=100, deadline=None)
@given(GAMES, st.integers(1, 4))
def test_stretched_games_are_sparse_games(wanted, steps):
    game = random_game(**wanted)
    sparse, group = stretched(game, steps)
    verdict = sparse_increasing_reward(sparse, group)
    assert verdict, verdict.why
    assert verdict.order == increasing_reward(game).order
    found = find_hyper_states(sparse)
    reached = found >= 0
    assert len(set(zip(found[reached], group[reached], strict=True))) == len(set(found[reached])) == found.max() + 1
    assert sparse_increasing_reward(sparse)
    assert wanted["actions"] == 1 or not increasing_reward(sparse)


def corridor():
    """Return 0 1 [2] 3 4 [5] end: action 1 goes forward, 0 back; [2] and [5] have rewards, and holes by action 2."""
    next_state = np.array([[0, 1, 0], [0, 2, 0], [1, 3, 2], [2, 4, 3], [3, 5, 3], [4, 5, 5]])
    terminal = np.zeros((6, 3), bool)
    terminal[5, 1] = terminal[2, 2] = terminal[5, 2] = True
    reward = np.zeros((6, 3))
    reward[[2, 5]] = [[0, 1, -5], [0, 2, -5]]
    return types.SimpleNamespace(next_state=next_state, reward=reward, terminal=terminal, start=0)


GROUPS = [0, 0, 0, 1, 1, 1]


def test_the_corridor_is_a_sparse_game():
    assert find_hyper_states(corridor()).tolist() == GROUPS
    for groups in (None, GROUPS, [7, 7, 7, 3, 3, 3]):
        assert sparse_increasing_reward(corridor(), groups)
    assert sparse_increasing_reward(corridor(), [7, 7, 7, 3, 3, 3]).order == (7, 3)


@pytest.mark.parametrize(
    ("changes", "groups", "clause", "state", "why"),
    [
        ({}, [0, 0, 0, 0, 0, 0], "hyper-state", 0, "states 2 and 5 pay, and only one may"),
        ({}, [0, 0, 1, 2, 2, 2], "hyper-state", 0, "no state pays"),
        ({("reward", 3, 0): 0.5}, GROUPS, "hyper-state", 1, "states 3 and 5 pay"),
        ({("reward", 2, 1): -1.0}, GROUPS, "hyper-state", 0, "is on the path and has no positive reward"),
        (
            {("next_state", 4, 1): 4, ("next_state", 0, 2): 5},
            GROUPS,
            "4",
            1,
            "the paying state cannot be reached from state 3",
        ),
        ({("reward", 2, 1): 3.0}, GROUPS, "1", 0, "no neighbouring hyper-state pays as much"),
        ({("reward", 5, 0): 1.5}, GROUPS, "1", 0, "where two actions pay as much"),
        ({("reward", 5, 0): 2.0}, GROUPS, "3", 1, "both pay the most, 2"),
        ({("next_state", 2, 1): 1, ("next_state", 2, 0): 3}, GROUPS, "4", 0, "hyper-state 1 pays better"),
    ],
)
def test_a_violated_clause_is_reported(changes, groups, clause, state, why):
    game = corridor()
    for (array, s, a), value in changes.items():
        getattr(game, array)[s, a] = value
    verdict = sparse_increasing_reward(game, groups)
    assert (verdict.clause, verdict.state) == (clause, state), verdict.why
    assert why in verdict.why


def test_a_negative_hyper_state_only_needs_a_lower_reward():
    game = corridor()
    trap = np.array([[6, 7, 3], [6, 6, 6]])  # 6 leads to 7 or back to the path; all actions in 7 have reward -3
    game.next_state = np.concatenate([game.next_state, trap])
    game.reward = np.concatenate([game.reward, [[0, 0, 0], [-3, -3, -3]]])
    game.terminal = np.concatenate([game.terminal, np.zeros((2, 3), bool)])
    game.next_state[4, 2] = 6
    assert sparse_increasing_reward(game, [*GROUPS, 2, 2]).order == (0, 1)
    game.reward[7, 1] = 4.0
    assert sparse_increasing_reward(game, [*GROUPS, 2, 2]).clause == "2"
