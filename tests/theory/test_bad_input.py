"""Bad games, and bad arguments of measurements in them, are rejected."""

import types

import gymnasium
import numpy as np
import pytest

from adeu import tabular, theory

ARRAYS = {"next_state": [[0, 1], [1, 0]], "reward": [[0, 1], [0, 2]], "terminal": [[False, False], [False, True]]}
GAME = types.SimpleNamespace(**ARRAYS, start=0)


@pytest.mark.parametrize(
    ("argument", "value", "complaint"),
    [
        ("next_state", [0, 1], r"shape \(states, actions\), got 'shape \(2,\)'"),
        ("next_state", [[0, 1], [2, 0]], r"states 0 .. 1, got 2"),
        ("next_state", [[0, -1], [1, 0]], r"states 0 .. 1, got -1"),
        ("next_state", [[0, 0.5], [1, 0]], "int64"),
        ("reward", [[0, 1, 2], [0, 2, 3]], r"shape \(2, 2\), got 'shape \(2, 3\)'"),
        ("reward", [[0, np.nan], [0, 2]], "finite"),
        ("reward", [[0, np.inf], [0, 2]], "finite"),
        ("reward", "high", "shape"),
        ("terminal", [[False, False]], "shape"),
        ("terminal", [[0, 2], [0, 1]], "bool"),
        ("start", 2, "a state 0 .. 1, got 2"),
        ("start", -1, "a whole number >= 0, got -1"),
        ("start", 0.5, "a whole number"),
        ("start", [0, 0, 1], r"a state 0 .. 1, got 'shape \(3,\)'"),
        ("start", [0.5, 1.0], "one initial state, got '2 states'"),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        theory.increasing_reward,
        theory.sparse_increasing_reward,
        theory.find_hyper_states,
        theory.pays_in_the_long_run,
    ],
)
def test_bad_arrays_are_rejected(function, argument, value, complaint):
    game = types.SimpleNamespace(**(ARRAYS | {"start": 0, argument: value}))
    with pytest.raises(ValueError, match=f"{function.__name__}: {argument} takes .*{complaint}"):
        function(game)


def test_other_than_deterministic_games_are_rejected():
    with pytest.raises(ValueError, match=r"mdp takes a deterministic game: .* got 'SimpleNamespace without start'"):
        theory.increasing_reward(types.SimpleNamespace(**ARRAYS))
    slippery = tabular.from_gymnasium(gymnasium.make("FrozenLake-v1"))
    with pytest.raises(ValueError, match=r"mdp takes a deterministic game: .* got 'Stochastic'"):
        theory.increasing_reward(slippery)


@pytest.mark.parametrize("value", [[0], [0, 0.5], [0, -1], "both"])
def test_bad_hyper_states_are_rejected(value):
    with pytest.raises(ValueError, match="sparse_increasing_reward: hyper_states takes "):
        theory.sparse_increasing_reward(GAME, value)


@pytest.mark.parametrize(
    "change",
    [
        {"states": 0},
        {"actions": 0},
        {"seed": -1},
        {"side": 3},
        {"side": -1},
        {"hole": 1.5},
        {"scale": 0.0},
        {"goal": -1.0},
        {"cost": -1.0},
        {"lure": np.nan},
    ],
)
def test_bad_arguments_of_random_game_are_rejected(change):
    with pytest.raises(ValueError, match=f"random_game: {next(iter(change))} takes "):
        theory.random_game(**({"states": 3, "actions": 2, "seed": 0} | change))


@pytest.mark.parametrize("gamma", [1.0, -0.1, np.nan])
def test_a_bad_gamma_is_rejected(gamma):
    with pytest.raises(ValueError, match="pays_in_the_long_run: gamma takes "):
        theory.pays_in_the_long_run(GAME, gamma)


def test_bad_tables_are_rejected():
    table = np.zeros((2, 2))
    for shape in [(2,), (2, 3), (3, 2)]:
        with pytest.raises(ValueError, match="frontier: q takes "):
            theory.frontier(np.zeros(shape), GAME)
        with pytest.raises(ValueError, match="exploration: p takes "):
            theory.exploration(np.zeros(shape), GAME)
    with pytest.raises(ValueError, match="frontier: q takes numbers, got 'NaN'"):
        theory.frontier(table * np.nan, GAME)
    with pytest.raises(ValueError, match="claim: p takes a table for each in q"):
        theory.claim([table, table], [table], GAME)
    with pytest.raises(ValueError, match="claim: q takes "):
        theory.claim(table, table, GAME)


@pytest.mark.parametrize("change", [{"beta": 0.0}, {"shift": np.inf}, {"temperature": 0.0}, {"visits": [0, 0, 0]}])
def test_bad_arguments_of_policy_are_rejected(change):
    with pytest.raises(ValueError, match=f"policy: {next(iter(change))} takes "):
        theory.policy(**({"q": np.zeros((2, 2)), "visits": [0, 0]} | change))
