"""An f of state numbers on the cells of a grid."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu

KEY = jax.random.key(0)
CELLS = adeu.Cells(adeu.Counts(beta=1.0), bins=(2, 3), low=(-1.0, 0.0), high=(1.0, 3.0))


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ((-1.0, 0.0), 0),
        ((-0.01, 0.99), 0),
        ((0.0, 0.0), 1),
        ((1.0, 0.5), 1),
        ((-0.5, 1.0), 2),
        ((0.5, 3.0), 5),
        ((-9.0, 9.0), 4),  # outside: at the border
    ],
)
def test_each_vector_has_the_number_of_its_cell(place, number):
    assert int(CELLS._group(jnp.array(place))) == number


def test_counts_work_in_a_box():
    env = gymnasium.make("MountainCar-v0")
    behavior = adeu.Behavior(
        adeu.Explorer(adeu.Cells(adeu.Counts(beta=1.0), bins=(9, 1)), adeu.Identity(), adeu.Bernoulli()), env
    )
    assert behavior.explorer.f.f == adeu.Counts(9, beta=1.0)
    assert behavior.explorer.f.bins == (9, 1)
    left, right = np.array([-1.15, 0.0], np.float32), np.array([0.5, 0.0], np.float32)
    for _ in range(3):
        behavior.observe(adeu.Transition(left, 0, 0.0, left, False, False))
    measured = [float(behavior.act(obs, center=np.zeros(3)).uncertainty) for obs in (left, left + 0.01, right)]
    np.testing.assert_allclose(measured, [0.5, 0.5, 1.0])


def test_batches_become_cells_too():
    rows = jnp.array([[-0.5, 0.5], [0.5, 2.5]])
    batch = adeu.Transition(rows, None, None, rows[::-1], None, None)
    seen = CELLS._grouped(batch)
    assert (seen.obs.tolist(), seen.next_obs.tolist()) == ([0, 5], [5, 0])
    assert CELLS.learns_from == {"observe"}


def test_behind_an_encoder_it_takes_its_own_range():
    explorer = adeu.Explorer(CELLS, adeu.Identity(), adeu.Bernoulli())
    env = gymnasium.make("CartPole-v1")
    behavior = adeu.Behavior(explorer, env, encoder=lambda obs: obs[:, :2])
    assert behavior.explorer.f.f.num_states == 6
    for bad in (adeu.Cells(adeu.Counts(), 2), adeu.Cells(adeu.Counts(), 2, -1.0, 1.0)):
        with pytest.raises(
            ValueError, match=r"Cells: the range \(low, high\) takes numbers, one per dimension, where an"
        ):
            adeu.Behavior(adeu.Explorer(bad, adeu.Identity(), adeu.Bernoulli()), env, encoder=lambda obs: obs[:, :2])
    with pytest.raises(ValueError, match="Cells: low and high are not set"):
        adeu.Cells(adeu.Counts(4), 2).init(KEY, jnp.zeros(2))
