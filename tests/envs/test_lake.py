"""The layouts, rewards and arrays of `Lake`."""

import collections
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adeu.envs import LAYOUTS, Lake, lake_mdp
from adeu.envs.lake import path_cells, unsafe_cells
from tests.envs.rules import move, neighbours

quick = settings(max_examples=100, deadline=None, derandomize=True)
lakes = st.builds(
    Lake,
    size=st.integers(3, 40),
    layout=st.sampled_from(sorted(LAYOUTS)),
    layout_seed=st.integers(0, 1000),
    back_cost=st.floats(0, 20),
    safe=st.booleans(),
)


def forward_rewards(lake):
    """Return the reward of each step of the path, from start to goal."""
    mdp = lake_mdp(lake)
    states = np.arange(len(path_cells(lake)) - 1)
    on_path = mdp.next_state[states] == states[:, None] + 1
    on_path[-1] = mdp.terminal[states[-1]] & (mdp.reward[states[-1]] == lake.rewards[1])
    assert (on_path.sum(axis=1) == 1).all()
    return mdp.reward[states][on_path]


def test_the_rewards_of_the_path_sum_to_the_maximum_of_the_paper():
    rewards = forward_rewards(Lake(size=1500))
    assert len(rewards) == 2998
    assert round(rewards.sum(), 1) == 104_487.0
    assert rewards[0] == pytest.approx(1 / 1_125_750)


def test_the_rewards_of_the_printed_formula_sum_to_little_more_than_the_goal():
    rewards = forward_rewards(Lake(size=1500, preset="printed"))
    assert rewards[1] == pytest.approx(1500 * 1501 / (1500**2 * (1500**2 + 1) / 2))
    assert rewards.sum() == pytest.approx(10_003, abs=0.1)


def test_reward_scale_goal_and_back_cost_override_the_preset():
    lake = Lake(size=4, reward_scale=2.0, goal=7.0, back_cost=3.0)
    assert forward_rewards(lake).tolist() == [2.0, 10.0, 18.0, 20.0, 22.0, 7.0]
    assert lake_mdp(lake).reward[1].tolist() == [-3.0, -10.0, 10.0, -3.0]  # border, hole, forward, back
    assert dataclasses.replace(Lake(size=4), size=5).rewards == Lake(size=5).rewards


def test_paths_of_the_layouts():
    assert path_cells(Lake(size=10))[6:11].tolist() == [51, 61, 71, 81, 82]
    assert path_cells(Lake(size=4, layout="staircase")).tolist() == [0, 1, 5, 6, 10, 11, 15]
    slant = [3, 10, 17, 24, 23, 30, 37, 44]
    assert path_cells(Lake(size=7, layout="Z")).tolist() == [0, 1, 2, *slant, 45, 46, 47, 48]
    one, other, again = (path_cells(Lake(size=20, layout="random", layout_seed=seed)) for seed in (1, 2, 1))
    assert (one == again).all()
    assert (one != other).any()
    assert set(np.diff(one)) == {1, 20}


@given(lakes)
@quick
def test_a_path_leads_from_corner_to_corner_and_never_touches_itself(lake):
    path = path_cells(lake).tolist()
    assert path[0] == 0
    assert path[-1] == lake.size**2 - 1
    assert len(set(path)) == len(path)
    assert len(path) - 1 < lake.max_steps == 3 * lake.size
    for place, cell in enumerate(path):
        beside = {path.index(other) for other in neighbours(lake.size, cell) if other in path}
        assert beside == {place - 1, place + 1} & set(range(len(path)))


@given(lakes)
@quick
def test_no_way_to_the_goal_is_shorter_than_the_path_even_over_unsafe_cells(lake):
    mdp = lake_mdp(lake)
    distance, queue = {mdp.start: 0}, collections.deque([mdp.start])
    goal = mdp.terminal & (mdp.reward == lake.rewards[1])
    arrivals = []
    while queue:
        state = queue.popleft()
        arrivals += [distance[state] + 1] * bool(goal[state].any())
        for following in mdp.next_state[state][~mdp.terminal[state]].tolist():
            if following not in distance:
                distance[following] = distance[state] + 1
                queue.append(following)
    assert min(arrivals) == len(path_cells(lake)) - 1
    assert len(distance) == len(mdp.cell)


@given(lakes)
@quick
def test_the_arrays_follow_the_rules(lake):
    mdp, path, unsafe = lake_mdp(lake), path_cells(lake).tolist(), unsafe_cells(lake).tolist()
    assert [array.dtype for array in mdp[:4]] == [np.int32, np.float64, np.bool_, np.float64]
    assert mdp.cell.tolist() == path[:-1] + unsafe
    for state, cell in enumerate(mdp.cell.tolist()):
        for action in range(4):
            target, reward, ended, cost = move(lake, path, unsafe, cell, action)
            assert mdp.reward[state, action] == reward
            assert mdp.terminal[state, action] == ended
            assert mdp.cost[state, action] == cost
            following = mdp.next_state[state, action]
            assert following == state if ended else mdp.cell[following] == target


def test_state_of_inverts_cell():
    mdp = lake_mdp(Lake(size=10, layout="Z", safe=True))
    assert (mdp.state_of(mdp.cell) == np.arange(len(mdp.cell))).all()
    assert mdp.state_of([99, 90, -5, 10**6]).tolist() == [-1, -1, -1, -1]
    assert mdp.start == mdp.state_of(0) == 0


def test_unsafe_cells_of_the_l_lie_next_to_every_4th_cell_on_the_inner_side():
    lake = Lake(size=1500, safe=True)
    path, unsafe = path_cells(lake), unsafe_cells(lake)
    right_of_the_column = path[4:1499:4] + 1
    above_the_row = path[1500:2998:4] - 1500
    assert unsafe.tolist() == [*right_of_the_column, *above_the_row]
    assert unsafe_cells(Lake(size=10, safe=True)).tolist() == [32, 72, 74, 78]
    assert unsafe_cells(Lake(size=10)).tolist() == []


def test_a_bump_into_the_border_from_an_unsafe_cell_has_no_cost():
    lake = Lake(size=12, layout="random", layout_seed=45, safe=True)
    assert 5 in unsafe_cells(lake)
    mdp = lake_mdp(lake)
    state = mdp.state_of(5)
    assert mdp.next_state[state, 0] == state
    assert (mdp.reward[state, 0], mdp.cost[state, 0]) == (-10.0, 0.0)


def test_every_layout_has_unsafe_cells_along_its_whole_path():
    for layout in LAYOUTS:
        lake = Lake(size=100, layout=layout, safe=True)
        unsafe = unsafe_cells(lake)
        assert len(unsafe) >= 0.9 * (len(path_cells(lake)) - 2) // 4


@given(lakes.map(lambda lake: dataclasses.replace(lake, safe=True)))
@quick
def test_unsafe_cells_are_off_the_path_nearer_to_the_middle_and_not_adjacent(lake):
    path, unsafe = path_cells(lake).tolist(), unsafe_cells(lake).tolist()
    assert len(set(unsafe)) == len(unsafe)
    assert not set(unsafe) & set(path)

    def from_middle(cell):
        return np.hypot(*(2 * np.array(divmod(cell, lake.size)) - lake.size + 1))

    for cell in unsafe:
        beside = neighbours(lake.size, cell)
        assert not set(beside) & set(unsafe)
        assert any(other in path[4:-1:4] and from_middle(cell) < from_middle(other) for other in beside)
