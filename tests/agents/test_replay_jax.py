"""The replay in JAX arrays: it holds the last rows that were added."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents import replay_jax


class Row(NamedTuple):
    obs: Any
    reward: Any
    mask: Any


EXAMPLE = Row(jnp.zeros((), jnp.int32), jnp.zeros(()), jnp.zeros(2, bool))


def row(number):
    return Row(number, float(number), jnp.array([True, number % 2 == 0]))


def test_it_holds_the_last_rows():
    replay = replay_jax.create(4, EXAMPLE)
    for number in range(11):
        replay = replay_jax.add(replay, row(number), True)
        kept = set(range(max(0, number - 3), number + 1))
        batches = replay_jax.sample(replay, jax.random.key(number), 2, 32)
        assert batches.obs.shape == (2, 32)
        assert set(np.asarray(batches.obs).ravel().tolist()) == kept
        assert (batches.reward == batches.obs).all()
        assert (batches.mask[..., 1] == (batches.obs % 2 == 0)).all()
    assert batches.obs.dtype == jnp.int32


def test_a_row_that_does_not_enter_changes_nothing():
    replay = replay_jax.create(3, EXAMPLE)
    for number in range(8):
        before = replay
        replay = replay_jax.add(replay, row(number), jnp.asarray(number % 3 == 0))
        if number % 3:
            assert all(np.array_equal(*both) for both in zip(*map(jax.tree.leaves, (before, replay)), strict=True))
    assert int(replay.added) == 3
    assert replay.data.obs.tolist() == [0, 3, 6]
