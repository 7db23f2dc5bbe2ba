"""Increasing-Reward Games: random games and lakes in the class, and games that violate each clause."""

import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adeu import tabular
from adeu.envs import LAYOUTS, Lake, lake_mdp
from adeu.theory import increasing_reward, pays_in_the_long_run, random_game

GAMES = st.fixed_dictionaries(
    {
        "states": st.integers(1, 25),
        "actions": st.integers(1, 5),
        "seed": st.integers(0, 2**32),
        "side": st.integers(0, 24),
        "hole": st.floats(0, 1),
        "scale": st.floats(1e-3, 1e3),
        "goal": st.floats(0, 1e5),
        "cost": st.floats(0, 100),
        "lure": st.floats(0, 1),
    }
).map(lambda settings: settings | {"side": min(settings["side"], settings["states"] - 1)})


@settings(max_examples=300, deadline=None)
@given(GAMES)
def test_random_games_are_in_the_class(wanted):
    game = random_game(**wanted)
    verdict = increasing_reward(game)
    assert verdict, verdict.why
    assert len(verdict.order) == wanted["states"] - wanted["side"]
    assert verdict.order[0] == game.start
    paid = game.reward.max(axis=1)[list(verdict.order)]
    assert (np.diff(paid) > 0).all()
    last = verdict.order[-1]
    assert game.terminal[last, game.reward[last].argmax()]
    assert increasing_reward(tabular.from_mdp(game)) == verdict


def test_random_games_depend_only_on_their_seed():
    game, again, other = (random_game(30, 4, seed, side=5, lure=0.5) for seed in (1, 1, 2))
    assert all(np.array_equal(one, two) for one, two in zip(game, again, strict=True))
    assert not np.array_equal(game.next_state, other.next_state)
    order = list(increasing_reward(game).order)
    assert len(set(game.reward[order].argmax(axis=1))) == 4
    wrong = game.reward < game.reward.max(axis=1, keepdims=True)
    stays = game.next_state == np.arange(30)[:, None]
    assert (wrong & game.terminal).any()
    assert (wrong & stays & ~game.terminal).any()
    assert (wrong & ~stays).any()
    assert (game.reward[wrong] > 0).any()
    assert (game.reward[wrong] < 0).any()


def chain():
    """Return the chain 0 - 1 - 2 - 3 - end: action 1 goes forward, 0 back, 2 into a hole (from 0 to state 4)."""
    next_state = np.array([[0, 1, 4], [0, 2, 0], [1, 3, 0], [2, 0, 0], [0, 4, 0]])
    terminal = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]], bool)
    reward = np.array([[-1, 1, -1], [-1, 2, -9], [-1, 3, -9], [-1, 4, -9], [0.5, -2, -3]])
    return types.SimpleNamespace(next_state=next_state, reward=reward, terminal=terminal, start=0)


def broken(array, place, value):
    game = chain()
    getattr(game, array)[place] = value
    return increasing_reward(game)


def test_the_chain_is_in_the_class():
    verdict = increasing_reward(chain())
    assert verdict.order == (0, 1, 2, 3)
    assert (verdict.clause, verdict.state) == (None, None)
    assert verdict.why == "The path has 4 states and ends the game."


@pytest.mark.parametrize(
    ("array", "place", "value", "clause", "state", "why"),
    [
        ("reward", (1, 1), 3.5, "1", 1, "pays 3.5, and no neighbouring state pays as much"),
        ("next_state", (2, 1), 2, "1", 2, "no neighbouring state pays as much"),
        ("reward", (2, 2), 2.0, "1", 1, "leads to state 2, where two actions pay as much: 1 and 2"),
        ("reward", (0, 0), 0.5, "1", 4, "leads to state 0, where two actions pay as much: 0 and 1"),
        ("reward", (4, 0), 1.0, "2", 0, "pays 1, and so does state 4, to which another one leads"),
        ("next_state", (1, 0), 3, "2", 1, "so does state 3"),
        ("reward", (2, 0), 3.0, "3", 2, "actions 0 and 1 both pay the most, 3"),
        ("reward", (4, 1), 0.5, "3", 4, "actions 0 and 1 both pay the most, 0.5"),
        ("next_state", (1, slice(2)), [2, 0], "4", 1, "leads to state 0, and state 2 pays better"),
        ("next_state", (1, slice(2)), [2, 1], "4", 1, "leads to state 1, and state 2 pays better"),
    ],
)
def test_a_violated_clause_is_reported(array, place, value, clause, state, why):
    verdict = broken(array, place, value)
    assert not verdict
    assert (verdict.clause, verdict.state, verdict.order) == (clause, state, ())
    assert why in verdict.why


@settings(max_examples=100, deadline=None)
@given(GAMES.filter(lambda wanted: wanted["actions"] > 1), st.data())
def test_a_tie_is_detected_in_any_game(wanted, data):
    game = random_game(**wanted)
    s = data.draw(st.sampled_from(increasing_reward(game).order))
    best = game.reward[s].argmax()
    game.reward[s, best - 1] = game.reward[s, best]
    verdict = increasing_reward(game)
    before = increasing_reward(random_game(**wanted)).order.index(s) - 1
    # In the next state of the previous one, two actions now have the same reward, which violates clause 1 there.
    assert (verdict.clause, verdict.state) in {
        ("3", s),
        ("1", increasing_reward(random_game(**wanted)).order[before]),
    }


def test_the_last_state_must_not_have_better_neighbors():
    assert broken("reward", (2, 1), 4.5).state == 2
    game = chain()
    game.terminal[1, 1] = True  # the game ends early, beside a state with a lower reward
    assert increasing_reward(game).order == (0, 1)
    game.next_state[1, 0] = 2
    assert (increasing_reward(game).clause, increasing_reward(game).state) == ("2", 1)


def test_equal_rewards_are_allowed_and_may_form_a_cycle():
    assert broken("reward", (2, 1), 3).order == (0, 1, 2, 3)
    game = types.SimpleNamespace(next_state=[[1], [0]], reward=[[1], [1]], terminal=[[False]] * 2, start=1)
    verdict = increasing_reward(game)
    assert verdict.order == (1, 0)
    assert "never ends" in verdict.why


def test_unreachable_states_and_masked_actions_do_not_count():
    game = chain()
    game.terminal[0, 2] = True  # state 4 is unreachable
    game.reward[4] = 0.0
    assert increasing_reward(game)
    game = chain()
    game.reward[2, 2] = 3.0
    mask = np.ones((5, 3), bool)
    mask[2, 2] = False
    arrays = game.next_state, game.reward, game.terminal
    assert increasing_reward(tabular.from_arrays(*arrays)).clause == "3"
    assert increasing_reward(tabular.from_arrays(*arrays, mask=mask)).order == (0, 1, 2, 3)


@pytest.mark.parametrize("size", [4, 5, 10, 21, 50])
@pytest.mark.parametrize("layout", ["L", "staircase", "random"])
@pytest.mark.parametrize("change", [{}, {"preset": "printed"}, {"back_cost": 0.0}, {"layout_seed": 7}])
def test_lakes_with_increasing_cells_are_in_the_class(size, layout, change):
    mdp = lake_mdp(Lake(**({"size": size, "layout": layout} | change)))
    assert increasing_reward(mdp).order == tuple(range(len(mdp.cell)))


@pytest.mark.parametrize("size", [7, 10, 21, 50])
def test_the_z_is_not_in_the_class_because_a_step_left_has_a_lower_reward(size):
    mdp = lake_mdp(Lake(size=size, layout="Z"))
    verdict = increasing_reward(mdp)
    assert verdict.clause == "1"
    s = verdict.state
    assert mdp.cell[s + 2] == mdp.cell[s + 1] - 1
    assert increasing_reward(lake_mdp(Lake(size=6, layout="Z")))  # too small for a diagonal


@pytest.mark.parametrize("size", [6, 10, 21, 50])
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "Z"])
@pytest.mark.parametrize("back_cost", [0.0, 5.0, 10.0])
def test_the_safe_lake_is_not_in_the_class_only_because_of_unsafe_cells(size, layout, back_cost):
    mdp = lake_mdp(Lake(size=size, layout=layout, back_cost=back_cost, safe=True))
    path = 2 * size - 2
    verdict = increasing_reward(mdp)
    assert verdict.state >= path
    assert verdict.clause in {"1", "3"}
    if back_cost == 10.0:
        assert verdict.clause == "3"
        assert "both pay the most, -10" in verdict.why
    assert increasing_reward(mdp._replace(terminal=mdp.terminal | (mdp.next_state >= path)))


def test_the_path_pays_in_the_long_run_unless_going_back_and_forth_pays_more():
    for back_cost in (0.0, 10.0):
        assert pays_in_the_long_run(lake_mdp(Lake(size=10, back_cost=back_cost))).all()
    small = Lake(size=10, goal=2.0, back_cost=0.0)
    assert increasing_reward(lake_mdp(small))
    assert not pays_in_the_long_run(lake_mdp(small)).all()
    assert pays_in_the_long_run(lake_mdp(small), gamma=0.0).all()
    assert pays_in_the_long_run(random_game(30, 4, 0, hole=1.0, lure=0.5)).all()
    assert pays_in_the_long_run(random_game(30, 4, 0, cost=2000.0)).all()
    assert not pays_in_the_long_run(random_game(30, 4, 0)).all()
