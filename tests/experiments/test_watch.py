"""`adeu run` and `adeu train` warn about a spread that stays at an end of its range, with advice."""

import numpy as np
import pytest

import adeu
from adeu.agents import Td3
from adeu.experiments.lib.training_setting import TrainingSetting
from adeu.experiments.lib.watch import after_warmup, warn_saturated


def setting(f, g):
    return TrainingSetting("Pendulum-v1", Td3(adeu.Explorer(f, g, adeu.Gaussian())))


SETTINGS = {
    "rnd": setting(adeu.Rollouts(adeu.Rnd.paper(), 0.3, 0.2), adeu.Sigmoid(0.2)),
    "q-std": setting(adeu.EnsembleStd(lam=10.0), adeu.Saturating(0.2)),
    "no-noise": setting(adeu.Constant(0.0), adeu.Saturating(0.2)),
}


def curves(saturated, spread):
    """Return curves of one seed; the first row belongs to the warm-up."""
    columns = {"trained": [0.0, 1.0, 1.0], "saturated": saturated, "spread": spread}
    return {name: np.array([values]) for name, values in columns.items()}


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("rnd", r"rnd: after the warm-up, g gave its largest spread in 98% .* adeu.Rnd\(\) fits U to the data"),
        ("q-std", r"q-std: .*its largest spread.* Give EnsembleStd a smaller lam than 10.0"),
    ],
)
def test_a_saturated_g_warns(case, message):
    with pytest.warns(UserWarning, match=message):
        warn_saturated({case: curves([0.0, 0.97, 0.99], [0.2, 0.2, 0.2])}, SETTINGS)


def test_a_g_that_gives_hardly_any_spread_warns():
    with pytest.warns(UserWarning, match=r"q-std: .* hardly explored. Give EnsembleStd a larger lam than 10.0"):
        warn_saturated({"q-std": curves([0.0, 0.0, 0.0], [0.2, 0.001, 0.002])}, SETTINGS)


@pytest.mark.filterwarnings("error")
def test_other_cases_do_not_warn():
    warn_saturated({"rnd": curves([1.0, 0.97, 0.9], [0.2, 0.19, 0.1])}, SETTINGS)
    warn_saturated({"no-noise": curves([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])}, SETTINGS)
    warn_saturated({"of an earlier command": curves([1.0, 1.0, 1.0], [0.2, 0.2, 0.2])}, SETTINGS)
    warn_saturated({"rnd": {"return": np.ones((1, 3))}}, SETTINGS)


def test_means_exclude_the_warmup():
    assert after_warmup(curves([0.0, 1.0, 0.5], [9.0, 0.1, 0.3]), "spread") == pytest.approx([0.2])
