"""Each g follows its equation."""

import jax.numpy as jnp
import numpy as np
import pytest

import adeu

X = np.array([0.0, 0.1, 0.5, 1.0, 3.0, 50.0])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("g", "expected"),
    [
        (adeu.Sigmoid(c=0.2), 0.2 * sigmoid(X)),
        (adeu.Saturating(c=0.2), 0.2 * (1 - np.exp(-X))),
        (adeu.Identity(), X),
        (adeu.Clip(0.2, 2.0), np.clip(X, 0.2, 2.0)),
    ],
    ids=repr,
)
def test_values_follow_the_equation(g, expected):
    np.testing.assert_allclose(g(X), expected, rtol=1e-6)


def test_shifted_sigmoid_is_one_minus_the_trust_of_the_grid_example():
    n = np.array([1, 2, 5, 100, 10_000])
    trust = 1 - adeu.ShiftedSigmoid(shift=2.0)(1 / (0.9 * np.sqrt(n)))
    np.testing.assert_allclose(trust, sigmoid(0.9 * np.sqrt(n) - 2), rtol=1e-6)
    assert adeu.ShiftedSigmoid()(0.0) == 0.0


@pytest.mark.parametrize("g", [adeu.Sigmoid(), adeu.Saturating(c=3.0), adeu.ShiftedSigmoid(), adeu.Clip()], ids=repr)
def test_the_ceiling_is_approached_and_not_exceeded(g):
    spreads = g(np.geomspace(1e-3, 1e6, 100))
    assert np.max(spreads) == pytest.approx(g.ceiling, rel=1e-5)
    assert np.max(spreads) <= g.ceiling * (1 + 1e-6)
    assert adeu.Identity().ceiling is None
    assert adeu.ShiftedSigmoid(-800.0).ceiling == 0.0


def test_saturated_is_within_a_hundredth_of_the_ceiling():
    spreads = np.float32([0.1, 0.197, 0.1981, 0.2])
    for g in (adeu.Sigmoid(0.2), adeu.Saturating(0.2), adeu.Clip(0.0, 0.2)):
        assert g.saturated(spreads).tolist() == [False, False, True, True]
        assert g.saturated(jnp.asarray(spreads)).tolist() == [False, False, True, True]
    assert not adeu.Identity().saturated(np.float32([0.0, 1e30])).any()
