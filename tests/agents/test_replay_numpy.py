"""The replay in numpy: it returns the last transitions that were added, and stores each observation once."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adeu
from adeu.agents import Dqn
from adeu.agents.replay_numpy import NumpyReplay, RowLayout
from adeu.agents.td3 import Td3Row

NAMES, TYPES = ("obs", "action", "reward", "terminated"), ("f", "f", "f", "b")


def empty(capacity, size=2, actions=2):
    return NumpyReplay(capacity, RowLayout(Td3Row, NAMES, ((size,), (actions,), (), ()), TYPES))


def rows_of(replay, places, *shape):
    return replay.layout.unpack(*replay.read(places, *shape))


def play(replay, steps, seed, ends, jumps=0.0):
    """Add random steps and return them in order."""
    rng, added = np.random.default_rng(seed), []
    obs = rng.normal(size=2).astype(np.float32)
    for _ in range(steps):
        action, next_obs = rng.normal(size=(2, 2)).astype(np.float32)
        reward = np.float32(rng.normal())
        terminated, truncated = rng.random(2) < ends
        replay.add(Td3Row(obs, action, reward, next_obs, terminated), bool(terminated or truncated))
        added.append((*obs, *action, reward, terminated, *next_obs))
        other = terminated or truncated or rng.random() < jumps
        obs = rng.normal(size=2).astype(np.float32) if other else next_obs
    return added


def contents(replay):
    obs, action, reward, next_obs, terminated = rows_of(replay, np.arange(len(replay)))
    columns = obs, action, reward[:, None], terminated[:, None], next_obs
    return sorted(map(tuple, np.concatenate(columns, axis=1).astype(np.float64)))


@settings(deadline=None)
@given(
    capacity=st.integers(1, 12),
    steps=st.integers(1, 40),
    seed=st.integers(0, 9),
    ends=st.sampled_from([0.0, 0.2, 1.0]),
    jumps=st.sampled_from([0.0, 0.3]),
)
def test_it_holds_the_last_transitions(capacity, steps, seed, ends, jumps):
    replay = empty(capacity)
    last = play(replay, steps, seed, ends, jumps)[-capacity:]
    assert contents(replay) == sorted(tuple(map(float, each)) for each in last)
    copy = empty(capacity)
    play(copy, 3, seed + 1, 0.5)  # restore() overwrites these
    copy.restore(replay.arrays())
    assert contents(copy) == contents(replay)
    play(copy, 7, 5, 0.5)
    play(replay, 7, 5, 0.5)
    assert contents(copy) == contents(replay)


def test_minibatches_are_stacked():
    replay = empty(8)
    play(replay, 8, 0, 0.2)
    places = np.array([3, 1, 4, 1, 5, 7])
    flat, stacked = rows_of(replay, places), rows_of(replay, places, (2, 3))
    assert stacked.obs.shape == stacked.next_obs.shape == (2, 3, 2)
    for one, other in zip(flat, stacked, strict=True):
        assert np.array_equal(one, other.reshape(one.shape))


def test_truncated_steps_keep_their_next_observation_and_are_not_terminal():
    replay = empty(4, 1, 1)
    for terminated, truncated in ((False, True), (True, False), (False, False)):
        step = Td3Row(np.zeros(1), np.zeros(1), 0.0, np.ones(1), terminated)
        replay.add(step, terminated or truncated)
    rows = rows_of(replay, np.arange(3))
    assert rows.terminated.tolist() == [False, True, False]
    assert rows.next_obs.ravel().tolist() == [1.0, 1.0, 1.0]


def test_a_replay_for_humanoid_takes_less_than_150_megabytes():
    replay = empty(100_000, 348, 17)
    assert sum(array.nbytes for array in vars(replay).values() if isinstance(array, np.ndarray)) < 0.15e9


def test_bad_arguments_are_rejected():
    with pytest.raises(ValueError, match="NumpyReplay: capacity takes a whole number >= 1, got 0"):
        empty(0)
    replay = empty(4, 1, 1)
    with pytest.raises(ValueError, match=r"NumpyReplay: rows takes an array of shape \(1, 4\), got \(1, 5\)"):
        replay.restore(empty(4, 2, 1).arrays())


def test_integers_and_masks_are_restored_exactly():
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
    spaces = gymnasium.spaces.Discrete(2**24), gymnasium.spaces.Discrete(3)
    layout = RowLayout.of(Dqn(explorer, ensemble=3).bind(*spaces))
    replay = NumpyReplay(4, layout)
    for state in (0, 2**24 - 1):
        replay.add(layout.kind(state, 2, 0.5, 7, state > 0, np.array([True, False, True])), ended=state > 0)
    rows = rows_of(replay, np.arange(2))
    assert rows.obs.tolist() == [0, 2**24 - 1]
    assert rows.next_obs.tolist() == [7, 7]
    assert rows.obs.dtype == rows.next_obs.dtype == rows.action.dtype == np.int32
    assert rows.mask.tolist() == [[True, False, True]] * 2
    assert rows.terminated.tolist() == [False, True]
    with pytest.raises(ValueError, match=r"Dqn: observation space takes at most 16,777,216 states, got 16777217"):
        RowLayout.of(Dqn(explorer).bind(gymnasium.spaces.Discrete(2**24 + 1), spaces[1]))
