"""The explorer of one Stable-Baselines3 or SBX model."""

from __future__ import annotations

import copy
import pathlib
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from adeu.adapters.sb3_values import values_of
from adeu.behavior.behavior import Behavior
from adeu.behavior.tally import Tally
from adeu.core.contract import Decision, Transition

SUFFIX = ".adeu.npz"


class ModelExplorer:
    """A behavior for the environments of one model. Holds no reference to the model.

    Args:
        behavior: created for `interface_of(model)`.
        needed: the names that `behavior.act` requires.
        interface: the result of `interface_of(model)`.
    """

    def __init__(self, behavior: Behavior, needed: frozenset[str], interface: types.SimpleNamespace) -> None:
        self.behavior, self.needed, self.interface = behavior, needed, interface
        self.learns = "update" in behavior.explorer.learns_from
        self.decision: Decision | None = None
        self.tally = Tally(behavior.explorer)
        self._next_obs: Any = None

    def copied(self) -> ModelExplorer:
        """Returns an independent copy with the current state, for another model."""
        return ModelExplorer(copy.copy(self.behavior), self.needed, self.interface)

    def start(self, model: Any) -> None:
        """Prepares for a call of learn(): starts new episodes if learn() has reset the environments."""
        if self.behavior.step and model._last_obs is not self._next_obs:
            self.behavior.begin()
        self.decision = None

    def decide(self, model: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns the actions for the environments, and the same actions as the replay buffer stores them."""
        obs, values = model._last_obs, values_of(model)
        center = values.center(model, obs)
        given = {"q_values": values.q_values(model, obs, center)} if "q_values" in self.needed else {}
        self.decision = self.behavior.act(obs, center, **given)
        action = self.decision.action
        return (model.policy.unscale_action(action) if isinstance(model.action_space, spaces.Box) else action), action

    def observe(self, model: Any, step: Mapping[str, Any]) -> None:
        """Observes a step, given the local variables of SB3's rollout collection."""
        infos, ended = step["infos"], step["dones"]
        self._next_obs = step["new_obs"]
        truncated = np.array([info.get("TimeLimit.truncated", False) for info in infos]) & ended
        self.behavior.observe(
            Transition(
                obs=model._last_obs,
                action=step["buffer_actions"],
                reward=step["rewards"],
                next_obs=_last_observations(self._next_obs, ended, infos),
                terminated=ended & ~truncated,
                truncated=truncated,
                cost=np.array([info["cost"] for info in infos]) if all("cost" in info for info in infos) else None,
            )
        )

    def learn_from(self, samples: Any) -> None:
        """Trains f on a batch that the model has just sampled from its replay buffer."""
        size, seen = len(samples.rewards), self.interface
        self.behavior.update(
            Transition(
                obs=_shaped(samples.observations, seen.observation_space, size),
                action=_shaped(samples.actions, seen.action_space, size),
                reward=_numpy(samples.rewards).reshape(size),
                next_obs=_shaped(samples.next_observations, seen.observation_space, size),
                terminated=_numpy(samples.dones).reshape(size) != 0,
                truncated=np.zeros(size, bool),
            )
        )

    def save(self, path: Any) -> None:
        """Saves the explorer's state beside the model file at `path`."""
        self.behavior.save(beside(path))

    def restore(self, path: pathlib.Path) -> None:
        """Restores a saved state and begins new episodes."""
        self.behavior.load(path)
        self._next_obs = None


def beside(path: Any) -> pathlib.Path:
    """Returns the path of the explorer's state for a model saved at `path`.

    Examples:
        >>> from adeu.adapters.sb3 import beside
        >>> beside("models/td3.zip").name, beside("models/td3").name, beside("mine.npz").name
        ('td3.adeu.npz', 'td3.adeu.npz', 'mine.npz')
    """
    path = pathlib.Path(path)
    return path if path.suffix == ".npz" else path.with_name(path.name.removesuffix(".zip") + SUFFIX)


def interface_of(model: Any) -> types.SimpleNamespace:
    """Returns the spaces and number of environments of the model, with Box actions scaled to [-1, 1]."""
    actions = model.action_space
    if isinstance(actions, spaces.Box):
        actions = spaces.Box(-1.0, 1.0, actions.shape, np.float32)
    return types.SimpleNamespace(
        observation_space=model.observation_space, action_space=actions, num_envs=model.n_envs
    )


def _shaped(values: Any, space: spaces.Space[Any], size: int) -> Any:
    """Reshapes a batch to the space's shape: SB3's replay buffer adds an axis to discrete values."""
    if isinstance(space, spaces.Dict):
        return {name: _shaped(values[name], inner, size) for name, inner in space.spaces.items()}
    return _numpy(values).reshape((size, *(space.shape or ())))


def _numpy(values: Any) -> np.ndarray:
    return values if isinstance(values, np.ndarray) else values.numpy(force=True)


def _last_observations(new_obs: Any, ended: np.ndarray, infos: list[dict[str, Any]]) -> Any:
    """Returns `new_obs` with the first observation of each new episode replaced by the final one of the last."""
    places = [index for index in np.flatnonzero(ended) if infos[index].get("terminal_observation") is not None]
    if not places:
        return new_obs
    if isinstance(new_obs, dict):
        return {
            name: _replaced(values, places, [infos[index]["terminal_observation"][name] for index in places])
            for name, values in new_obs.items()
        }
    return _replaced(new_obs, places, [infos[index]["terminal_observation"] for index in places])


def _replaced(values: np.ndarray, places: list[Any], last: list[Any]) -> np.ndarray:
    values = values.copy()
    values[places] = np.stack(last)
    return values
