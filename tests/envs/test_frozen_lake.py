"""The frozen lakes as Gymnasium environments."""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from adeu.envs import LAYOUTS, FrozenLake, SafeFrozenLake
from adeu.envs.lake import path_cells, unsafe_cells
from tests.envs.rules import move

IDS = {"adeu/FrozenLake-v0": FrozenLake, "adeu/SafeFrozenLake-v0": SafeFrozenLake}
UP, RIGHT, DOWN, LEFT = range(4)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("render_mode", [None, "rgb_array", "ansi"])
def test_the_environments_pass_the_env_checker(name, render_mode):
    env = gymnasium.make(name, size=8, render_mode=render_mode)
    assert type(env.unwrapped) is IDS[name]
    check_env(env.unwrapped, skip_render_check=render_mode is None)


def test_the_default_size_is_that_of_the_paper():
    env = gymnasium.make("adeu/FrozenLake-v0")
    assert env.observation_space.n == 1500**2
    assert env.unwrapped.lake.max_steps == 4500


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [FrozenLake, SafeFrozenLake])
def test_random_walks_follow_the_rules_and_the_arrays(kind, layout):
    env = kind(size=9, layout=layout)
    path, unsafe = path_cells(env.lake).tolist(), unsafe_cells(env.lake).tolist()
    rng = np.random.default_rng(0)
    ends, mdp = set(), env.mdp
    for _ in range(200):
        (cell, info), state, ended = env.reset(), mdp.start, False
        assert (cell, info) == (0, {})
        steps = 0
        while not ended:
            # Mostly forward, the action with the highest reward, so that walks get far.
            action = int(mdp.reward[state].argmax() if rng.random() < 0.8 else rng.integers(4))
            expected = move(env.lake, path, unsafe, cell, action)
            obs, reward, terminated, truncated, info = env.step(action)
            steps += 1
            assert (obs, reward, terminated) == expected[:3]
            assert info == ({"cost": expected[3]} if kind is SafeFrozenLake else {})
            assert (reward, terminated) == (mdp.reward[state, action], mdp.terminal[state, action])
            assert truncated == (steps == 27 and not terminated)
            cell, state, ended = obs, mdp.next_state[state, action], terminated or truncated
            assert terminated or mdp.cell[state] == obs
        ends.add("goal" if cell == path[-1] else "hole" if terminated else "cap")
    assert {"goal", "hole"} <= ends


def test_the_return_of_the_whole_path_is_the_maximum_of_the_paper():
    env = FrozenLake()
    env.reset()
    total, terminated = 0.0, False
    for action in [RIGHT] + [DOWN] * 1498 + [RIGHT] * 1498 + [DOWN]:
        assert not terminated
        obs, reward, terminated, _, _ = env.step(action)
        total += reward
    assert (obs, terminated) == (1500**2 - 1, True)
    assert round(total, 1) == 104_487.0


def test_holes_end_the_episode_but_back_steps_and_bumps_do_not():
    env = FrozenLake(size=5)
    env.reset()
    assert env.step(RIGHT)[:4] == (1, pytest.approx(1 / 15), False, False)
    assert env.step(LEFT)[:4] == (0, -10.0, False, False)
    assert env.step(UP)[:4] == (0, -10.0, False, False)
    assert env.step(DOWN)[:4] == (5, -10.0, True, False)


def test_an_unsafe_cell_has_reward_0_and_cost_10_and_the_way_back_is_punished():
    env = SafeFrozenLake(size=10)
    env.reset()
    for action in (RIGHT, DOWN, DOWN, DOWN):
        assert env.step(action)[4] == {"cost": 0.0}
    assert env.step(RIGHT) == (32, 0.0, False, False, {"cost": 10.0})
    assert env.step(LEFT) == (31, -10.0, False, False, {"cost": 0.0})
    env.step(RIGHT)
    assert env.step(RIGHT) == (33, -10.0, True, False, {"cost": 0.0})


def test_an_episode_is_truncated_after_three_times_the_size():
    env = FrozenLake(size=4)
    for _ in range(2):
        env.reset()
        ends = [env.step(UP)[2:4] for _ in range(12)]
        assert ends == [(False, False)] * 11 + [(False, True)]


def test_stepping_without_a_reset_is_rejected():
    env = FrozenLake(size=4)
    with pytest.raises(ResetNeeded, match="FrozenLake: call reset"):
        env.step(RIGHT)
    env.reset()
    env.step(DOWN)
    with pytest.raises(ResetNeeded):
        env.step(RIGHT)


def test_a_vector_of_lakes_reports_its_costs():
    envs = gymnasium.make_vec("adeu/SafeFrozenLake-v0", num_envs=2, size=10)
    envs.reset(seed=0)
    for actions in ([1, 1], [2, 2], [2, 2], [2, 2], [1, 2]):
        *_, info = envs.step(np.array(actions))
    assert info["cost"].tolist() == [10.0, 0.0]
    envs.close()
