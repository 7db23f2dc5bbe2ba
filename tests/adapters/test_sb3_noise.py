"""Correlated noise in real Stable-Baselines3 models, compared with Stable-Baselines3's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise

import adeu
from adeu.adapters.sb3 import ExplorerCallback
from tests.adapters.noise import NOISES, assert_remembered
from tests.adapters.sb3_tools import Record, clocks, constant, make


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("kind", [TD3, SAC])
def test_noise_spans_an_episode_and_is_independent_across_environments(kind, name):
    model, callback = make(kind, clocks(5, 7)), ExplorerCallback(constant(0.05, NOISES[name]))
    model.learn(400, callback=[callback, record := Record(callback)])
    center = model.policy.scale_action(model.predict(np.concatenate(record.obs), deterministic=True)[0])
    noise = np.stack(record.actions) - center.reshape(-1, 2, 2)
    for env, length in enumerate((5, 7)):
        assert_remembered(noise[:, env], length)
    assert abs(np.corrcoef(noise[:, 0].ravel(), noise[:, 1].ravel())[0, 1]) < 0.4


def test_ornstein_uhlenbeck_noise_equals_that_of_sb3(monkeypatch):
    """Given the same normal draws, both are equal from the start of an episode."""
    drawn = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    theirs = OrnsteinUhlenbeckActionNoise(np.zeros(2), np.full(2, 0.3), theta=0.15, dt=0.01)
    left = iter(drawn)
    monkeypatch.setattr(np.random, "normal", lambda size: next(left))
    expected = [theirs() for _ in drawn]

    ours = adeu.OrnsteinUhlenbeck(0.15 * 0.01, from_zero=True, low=[-9.0, -9.0], high=[9.0, 9.0])
    spread = 0.3 * np.sqrt(0.01 / (1 - ours.mixture.rho[0] ** 2))
    assert spread == pytest.approx(1.83 * 0.3, rel=0.01)
    left = iter(drawn)
    monkeypatch.setattr(jax.random, "normal", lambda key, shape: next(left).reshape(shape))
    with jax.disable_jit():
        found, carry = [], ours.begin(jax.random.key(0))
        left = iter(drawn)  # begin() discards its draw
        for _ in drawn:
            action, _, carry = ours.sample(jax.random.key(0), (), carry, jnp.zeros(2), spread / 9)
            found.append(action)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
