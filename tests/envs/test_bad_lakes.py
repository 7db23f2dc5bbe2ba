"""Lakes reject bad input: the message names the class, the argument, the valid values and the given one."""

import re

import gymnasium
import numpy as np
import pytest

from adeu.envs import FrozenLake, Lake, SafeFrozenLake

NAN, INF = float("nan"), float("inf")
LAKES = [
    ({"size": 2}, "Lake: size takes a whole number >= 3, got 2"),
    ({"size": 4.0}, "Lake: size takes a whole number >= 3, got 4.0"),
    ({"size": True}, "Lake: size takes a whole number >= 3, got True"),
    (
        {"layout": "stairs"},
        "Lake: layout takes 'L' or 'staircase' or 'random' or 'Z', got 'stairs'; did you mean 'staircase'?",
    ),
    ({"layout": "z"}, "got 'z'; did you mean 'Z'?"),
    ({"layout": None}, "got None"),
    ({"layout_seed": -1}, "Lake: layout_seed takes a whole number >= 0, got -1"),
    ({"preset": "print"}, "Lake: preset takes 'table' or 'printed', got 'print'; did you mean 'printed'?"),
    ({"reward_scale": NAN}, "Lake: reward_scale takes a finite number, got nan"),
    ({"goal": INF}, "Lake: goal takes a finite number, got inf"),
    ({"goal": "1e5"}, "Lake: goal takes a finite number, got '1e5'"),
    ({"back_cost": NAN}, "Lake: back_cost takes a finite number >= 0, got nan"),
    ({"back_cost": -10}, "Lake: back_cost takes a finite number >= 0, got -10"),
]


@pytest.mark.parametrize(("fields", "message"), LAKES, ids=[message for _, message in LAKES])
def test_bad_settings_are_rejected_by_the_lake_and_its_environments(fields, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Lake(**fields)
    for name in ("adeu/FrozenLake-v0", "adeu/SafeFrozenLake-v0"):
        with pytest.raises(ValueError, match=re.escape(message)):
            gymnasium.make(name, **fields)


def test_safe_must_be_a_bool_and_is_no_argument_of_the_environment():
    with pytest.raises(ValueError, match="Lake: safe takes a bool, got 1"):
        Lake(safe=1)
    with pytest.raises(TypeError, match="safe"):
        FrozenLake(safe=True)


def test_numpy_numbers_become_python_numbers():
    lake = Lake(size=np.int64(5), goal=np.float32(2), back_cost=3)
    assert lake == Lake(size=5, goal=2.0, back_cost=3.0)
    assert [type(value) for value in (lake.size, lake.goal, lake.back_cost)] == [int, float, float]


def test_an_unknown_or_missing_render_mode_is_rejected():
    message = "FrozenLake: render_mode takes 'rgb_array' or 'ansi', got 'rgb'; did you mean 'rgb_array'?"
    with pytest.raises(ValueError, match=re.escape(message)):
        FrozenLake(size=5, render_mode="rgb")
    with pytest.raises(ValueError, match="FrozenLake: render takes an environment made with render_mode"):
        FrozenLake(size=5).render()


@pytest.mark.parametrize("action", [-1, 4, 1.0, "up", None])
def test_a_bad_action_is_rejected(action):
    env = SafeFrozenLake(size=5)
    env.reset()
    with pytest.raises(ValueError, match="SafeFrozenLake: action takes 0 up, 1 right, 2 down or 3 left, got"):
        env.step(action)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(24), "FrozenLake: values takes 25 numbers, one per cell, got (24,)"),
        (np.full(25, 2.0), "FrozenLake: values takes numbers in [0, 1], got (2.0, 2.0)"),
        (np.full(25, -0.1), "FrozenLake: values takes numbers in [0, 1], got"),
        (np.full(25, NAN), "FrozenLake: values takes numbers in [0, 1], got (nan, nan)"),
    ],
)
def test_a_bad_heat_map_is_rejected(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        FrozenLake(size=5).show(values)
