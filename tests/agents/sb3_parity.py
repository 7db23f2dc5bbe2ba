"""Helpers for the parity tests of the actor-critics: convert Stable-Baselines3's weights and batches."""

import numpy as np
import torch
from stable_baselines3.common.type_aliases import ReplayBufferSamples

from adeu.core.contract import Transition

BATCH = 256


def linear_layers(network):
    """Return transposed copies: torch changes the weights in place."""
    layers = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    return [tuple(value.detach().numpy().T.copy() for value in (layer.weight, layer.bias)) for layer in layers]


def critics_of(critic):
    stacked = []
    for number, both in enumerate(zip(*map(linear_layers, critic.q_networks), strict=True)):
        weights, biases = zip(*both, strict=True)
        stacked.append((np.stack(weights, axis=1 if number == 0 else 0), np.stack(biases)))
    return tuple(stacked)


def batches(number, dtype):
    rng = np.random.default_rng(0)
    shape = number, BATCH
    return Transition(
        rng.normal(size=(*shape, 3)).astype(dtype),
        rng.uniform(-1, 1, size=(*shape, 1)).astype(dtype),
        rng.normal(size=shape).astype(dtype),
        rng.normal(size=(*shape, 3)).astype(dtype),
        rng.random(shape) < 0.2,
        np.zeros(shape, bool),
    )


def as_torch(data):
    for obs, action, reward, next_obs, terminated in zip(*data[:5], strict=True):
        column = (torch.from_numpy(value)[:, None] for value in (terminated.astype(reward.dtype), reward))
        yield ReplayBufferSamples(*map(torch.from_numpy, (obs, action, next_obs)), *column)
