"""Noise with memory, as every adapter should pass it on."""

import numpy as np

import adeu

NOISES = {"colored": adeu.Colored(2.0), "ou": adeu.OrnsteinUhlenbeck(0.01), "options": adeu.Options(1.1)}


def assert_remembered(noise, length):
    """Within an episode of this length the noise (steps, dimensions) hardly changes; the next has its own."""
    episodes = noise[: len(noise) // length * length].reshape(-1, length, noise.shape[1])
    assert len(episodes) >= 20
    assert correlation(episodes[:, :-1], episodes[:, 1:]) > 0.7
    assert abs(correlation(episodes[:-1, -1], episodes[1:, 0])) < 0.4


def correlation(one, other):
    return np.corrcoef(one.ravel(), other.ravel())[0, 1]
