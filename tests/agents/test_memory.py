"""The replay on the host: what is read is what was added, wherever the ring stands, and each observation once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adeu.agents.memory import Memory, unpack


def play(memory, steps, seed, ends, jumps=0.0):
    """Adds random steps and returns them all: transitions of all environments, one step after the other."""
    rng, envs, added = np.random.default_rng(seed), memory.envs, []
    obs = rng.normal(size=(envs, 2)).astype(np.float32)
    for _ in range(steps):
        action, next_obs = rng.normal(size=(2, envs, 2)).astype(np.float32)[:, :, :2]
        reward = rng.normal(size=envs).astype(np.float32)
        terminated, truncated = rng.random((2, envs)) < ends
        memory.add(obs, action, reward, next_obs, terminated, truncated)
        added += [(*o, *a, r, t, *n) for o, a, r, t, n in zip(obs, action, reward, terminated, next_obs, strict=True)]
        other = terminated | truncated | (rng.random(envs) < jumps)
        obs = np.where(other[:, None], rng.normal(size=(envs, 2)), next_obs).astype(np.float32)
    return added


def contents(memory):
    rows, next_obs = memory.read(np.arange(len(memory)))
    return sorted(map(tuple, np.concatenate([rows, next_obs], axis=1).astype(np.float64)))


@settings(deadline=None)
@given(
    capacity=st.integers(2, 12),
    envs=st.integers(1, 2),
    steps=st.integers(1, 40),
    seed=st.integers(0, 9),
    ends=st.sampled_from([0.0, 0.2, 1.0]),
    jumps=st.sampled_from([0.0, 0.3]),
)
def test_it_holds_the_last_transitions(capacity, envs, steps, seed, ends, jumps):
    memory = Memory(capacity, 2, 2, envs)
    added = play(memory, steps, seed, ends, jumps)
    last = added[-min(steps, capacity // envs) * envs :]
    assert contents(memory) == sorted(tuple(map(float, each)) for each in last)
    copy = Memory(capacity, 2, 2, envs)
    play(copy, 3, seed + 1, 0.5)  # what was there before is gone
    copy.restore(memory.arrays())
    assert contents(copy) == contents(memory)
    play(copy, 7, 5, 0.5)
    play(memory, 7, 5, 0.5)
    assert contents(copy) == contents(memory)


def test_a_cut_off_step_is_bootstrapped_and_a_terminal_one_is_not():
    memory = Memory(4, 1, 1)
    for terminated, truncated in ((False, True), (True, False), (False, False)):
        memory.add([[0.0]], [[0.0]], [0.0], [[1.0]], [terminated], [truncated])
    batch = unpack(*memory.read(np.arange(3)))
    assert batch.terminated.tolist() == [False, True, False]
    assert not batch.truncated.any()


def test_humanoid_fits_in_less_than_a_gigabyte_and_a_half():
    memory = Memory(100_000, 348, 17)
    held = sum(array.nbytes for array in vars(memory).values() if isinstance(array, np.ndarray))
    assert held < 0.15e9


def test_bad_input():
    with pytest.raises(
        ValueError, match=r"Memory: capacity takes at least one transition for each of 3 env.*, got 2"
    ):
        Memory(2, 1, 1, envs=3)
    memory = Memory(4, 1, 1)
    with pytest.raises(ValueError, match=r"Memory: rows takes an array of shape \(1, 4\), got \(1, 5\)"):
        memory.restore(Memory(4, 2, 1).arrays())
