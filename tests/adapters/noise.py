"""Distributions with temporally correlated noise, which every adapter must support."""

import numpy as np

import adeu

NOISES = {"colored": adeu.Colored(2.0), "ou": adeu.OrnsteinUhlenbeck(0.01), "options": adeu.Options(1.1)}


def assert_remembered(noise, length):
    """Assert that noise (steps, dimensions) is correlated within episodes of this length and not across them."""
    episodes = noise[: len(noise) // length * length].reshape(-1, length, noise.shape[1])
    assert len(episodes) >= 20
    assert correlation(episodes[:, :-1], episodes[:, 1:]) > 0.7
    assert abs(correlation(episodes[:-1, -1], episodes[1:, 0])) < 0.4


def correlation(one, other):
    return np.corrcoef(one.ravel(), other.ravel())[0, 1]
