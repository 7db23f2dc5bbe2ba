"""Noise with memory in real Stable-Baselines3 models, and Stable-Baselines3's own beside it."""

import numpy as np
import pytest
from scipy import stats
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise

import adeu
from adeu.adapters.sb3 import ExplorerCallback
from tests.adapters.noise import NOISES, assert_remembered
from tests.adapters.sb3_tools import Record, clocks, constant, make


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("kind", [TD3, SAC])
def test_it_lasts_through_an_episode_and_is_each_environments_own(kind, name):
    model, callback = make(kind, clocks(5, 7)), ExplorerCallback(constant(0.05, NOISES[name]))
    model.learn(400, callback=[callback, record := Record(callback)])
    center = model.policy.scale_action(model.predict(np.concatenate(record.obs), deterministic=True)[0])
    noise = np.stack(record.actions) - center.reshape(-1, 2, 2)
    for env, length in enumerate((5, 7)):
        assert_remembered(noise[:, env], length)
    assert abs(np.corrcoef(noise[:, 0].ravel(), noise[:, 1].ravel())[0, 1]) < 0.4


def test_their_ornstein_uhlenbeck_noise_in_the_long_run():
    """Each comparison would fail in 1 of a million seeds."""
    theirs = OrnsteinUhlenbeckActionNoise(np.zeros(2000), np.full(2000, 0.3), theta=0.15, dt=0.01)
    np.random.seed(0)
    for _ in range(4000):
        before, after = theirs.noise_prev, theirs()
    ours = adeu.OrnsteinUhlenbeck(0.15 * 0.01).mixture
    spread = 0.3 * np.sqrt(0.01 / (1 - ours.rho[0] ** 2))
    assert spread == pytest.approx(1.83 * 0.3, rel=0.01)
    assert stats.kstest(after / spread, "norm").pvalue > 1e-6
    # Fisher's transformation: arctanh of a correlation is normal with a variance of 1 / (n - 3).
    distance = np.arctanh(np.corrcoef(before, after)[0, 1]) - np.arctanh(ours.rho[0])
    assert abs(distance) < stats.norm.isf(1e-6 / 2) / np.sqrt(2000 - 3)
