"""Computes centers and Q-values of a Stable-Baselines3 or SBX model for a batch of observations, as numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Discrete


class Values(NamedTuple):
    """Functions that compute a model's preferences or mean actions, and its critics' values, for observations."""

    center: Callable[[Any, Any], np.ndarray]
    q_values: Callable[[Any, Any, np.ndarray], np.ndarray]


def scaled_mean(model: Any, obs: Any) -> np.ndarray:
    """Returns pi(s) in [-1, 1]; for SAC the deterministic action, so that its sampling is not added."""
    action, _ = model.predict(obs, deterministic=True)
    scaled: np.ndarray = model.policy.scale_action(action)
    return scaled


def _torch_critics(model: Any, obs: Any, center: np.ndarray) -> np.ndarray:
    import torch

    with torch.no_grad():
        tensors, _ = model.policy.obs_to_tensor(obs)
        values = model.critic(tensors, torch.as_tensor(center, dtype=torch.float32, device=model.device))
        return torch.cat(values, dim=1).cpu().numpy()


def _torch_preferences(model: Any, obs: Any) -> np.ndarray:
    import torch

    with torch.no_grad():
        tensors, _ = model.policy.obs_to_tensor(obs)
        values: np.ndarray = model.q_net(tensors).cpu().numpy()
        return values


def _jax_critics(model: Any, obs: Any, center: np.ndarray) -> np.ndarray:
    state, (prepared, _) = model.policy.qf_state, model.policy.prepare_obs(obs)
    dropout = {"rngs": {"dropout": model.key}} if getattr(model.policy, "dropout_rate", None) else {}
    values = model.policy.qf.apply(state.params, prepared, center, **dropout)  # (critics, environments, 1)
    return np.asarray(values)[..., 0].T


def _jax_preferences(model: Any, obs: Any) -> np.ndarray:
    prepared, _ = model.policy.prepare_obs(obs)
    return np.asarray(model.policy.qf.apply(model.policy.qf_state.params, prepared))


def _one_critic(model: Any, obs: Any, center: np.ndarray) -> np.ndarray:
    return center[:, None]


def values_of(model: Any) -> Values:
    """Returns the functions for this kind of model."""
    jax = hasattr(model.policy, "qf_state")
    if isinstance(model.action_space, Discrete):
        return Values(_jax_preferences if jax else _torch_preferences, _one_critic)
    return Values(scaled_mean, _jax_critics if jax else _torch_critics)


def num_critics(model: Any) -> int:
    """Returns the number of critics."""
    if isinstance(model.action_space, Discrete):
        return 1
    return int(model.policy.n_critics if hasattr(model.policy, "qf_state") else model.critic.n_critics)
