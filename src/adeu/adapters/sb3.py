"""Stable-Baselines3 and SBX: an explorer as a callback of `learn`.

model.learn(1_000_000, callback=ExplorerCallback(explorer, seed=0))
"""

from __future__ import annotations

import os
import pathlib
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from adeu.adapters import sb3_hook
from adeu.adapters.asking import check_given
from adeu.adapters.sb3_values import num_critics, values_of
from adeu.adapters.versions import require
from adeu.behavior.behavior import Behavior
from adeu.core import check
from adeu.core.contract import Decision, Transition
from adeu.core.explorer import Explorer
from adeu.mechanisms.cost import check_no_costs

require("stable-baselines3")

from gymnasium import spaces  # noqa: E402
from stable_baselines3 import DQN, SAC, TD3  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402

SUFFIX = ".adeu.npz"


class ExplorerCallback(BaseCallback):
    """Explores on behalf of a TD3, DDPG, SAC or DQN model while it trains; `predict` stays what it is.

        a ~ D(pi(s), g(f(s))), in the scaled space [-1, 1] where actions are continuous

    After the random warm-up (`learning_starts`) it decides each action around the model's own: around the mean
    of SAC, in place of its sampling, and around the Q-values of DQN, in place of its epsilon. f learns from each
    step, and from the batches that the model learns from. `model.save(path)` writes the explorer's state beside
    the model, at `path` with the suffix `.adeu.npz`.

    Args:
        explorer: what to explore by: D is `Gaussian` for continuous actions, a discrete one for DQN.
        seed: of the explorer's random numbers.
        encoder: see `Behavior`.
        verbose: as for any callback.

    Examples:
        >>> import adeu
        >>> from adeu.adapters.sb3 import ExplorerCallback
        >>> from stable_baselines3 import TD3
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> model = TD3("MlpPolicy", "Pendulum-v1", learning_starts=5, policy_kwargs={"net_arch": [8]})
        >>> callback = ExplorerCallback(explorer, seed=0)
        >>> model = model.learn(10, callback=callback)
        >>> callback.behavior.step, len(callback.behavior.history)
        (10, 5)
    """

    def __init__(
        self, explorer: Explorer, seed: int = 0, encoder: Callable[[Any], Any] | None = None, verbose: int = 0
    ) -> None:
        super().__init__(verbose)
        if not isinstance(explorer, Explorer):
            check.refuse(self, "explorer", "an Explorer", explorer)
        self.explorer, self.seed, self.encoder = explorer, seed, encoder
        self.learns = "update" in explorer.learns_from
        self._interface: Any = None
        self._behavior: Behavior | None = None
        self._saved: pathlib.Path | None = None
        self._next_obs: Any = None
        self._decision: Decision | None = None

    @property
    def behavior(self) -> Behavior:
        """The `Behavior` within."""
        if self._behavior is None:
            raise ValueError("ExplorerCallback: its behavior exists from the first learn() on")
        return self._behavior

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the explorer's state beside the model of that path, or at a path that ends in `.npz`."""
        self.behavior.save(beside(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Goes on from what `save` wrote; what has been measured and learned since is forgotten."""
        self._saved = beside(path)
        if not self._saved.exists():
            raise FileNotFoundError(f"{self._saved}: there is no explorer's state")
        if self._interface is not None:
            self._restore()

    def decide(self, model: Any) -> tuple[np.ndarray, np.ndarray]:
        """The actions for the environments, and the same as the replay stores them."""
        obs = model._last_obs
        center = self._values.center(model, obs)
        given = {"q_values": self._values.q_values(model, obs, center)} if "q_values" in self._needed else {}
        self._decision = self.behavior.act(obs, center, **given)
        action = self._decision.action
        return (model.policy.unscale_action(action) if self._scaled else action), action

    def learn_from(self, samples: Any) -> None:
        """Lets f learn from a batch that the model has just drawn from its replay."""
        size, seen = len(samples.rewards), self._interface
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

    def _init_callback(self) -> None:
        model = self.model
        _check_model(self, model)
        interface = _interface(model)
        if self._interface is None:
            behavior = Behavior(self.explorer, interface, self.seed, self.encoder)
            self._needed = check_given(self, behavior, ["q_values"])
            check_no_costs(self, "explorer", behavior.explorer)
            self._behavior, self._interface = behavior, interface
            self._scaled = isinstance(model.action_space, spaces.Box)
            if self._saved is not None:
                self._restore()
        elif interface != self._interface:
            check.refuse(self, "model", f"what it explored in before, {self._interface}", interface)
        self._values = values_of(model)
        if "q_values" in self._needed and num_critics(model) < 2:
            warnings.warn(
                f"{type(model).__name__} has one critic, which cannot disagree with itself: {self.explorer.f!r} "
                "finds no disagreement. TD3 and SAC take policy_kwargs={'n_critics': 5}.",
                stacklevel=2,
            )
        sb3_hook.attach(model, self)

    def _on_training_start(self) -> None:
        # learn() resets the environments, unless it goes on from the observation that it left.
        if self.behavior.step and self.model._last_obs is not self._next_obs:
            self.behavior.begin()
        self._decision = None

    def _on_step(self) -> bool:
        step, infos, ended = self.locals, self.locals["infos"], self.locals["dones"]
        self._next_obs = step["new_obs"]
        truncated = np.array([info.get("TimeLimit.truncated", False) for info in infos]) & ended
        self.behavior.observe(
            Transition(
                obs=self.model._last_obs,
                action=step["buffer_actions"],
                reward=step["rewards"],
                next_obs=_last_observations(self._next_obs, ended, infos),
                terminated=ended & ~truncated,
                truncated=truncated,
                cost=np.array([info["cost"] for info in infos]) if all("cost" in info for info in infos) else None,
            )
        )
        if self._decision is not None:
            for name in ("uncertainty", "spread", "explored"):
                self.logger.record_mean(f"adeu/{name}", float(np.mean(getattr(self._decision, name))))
        return True

    def _restore(self) -> None:
        self.behavior.load(str(self._saved))
        self._next_obs = None


def beside(path: str | os.PathLike[str]) -> pathlib.Path:
    """Where the explorer's state is kept of a model that is saved at `path`.

    Examples:
        >>> from adeu.adapters.sb3 import beside
        >>> beside("models/td3.zip").name, beside("models/td3").name, beside("mine.npz").name
        ('td3.adeu.npz', 'td3.adeu.npz', 'mine.npz')
    """
    path = pathlib.Path(path)
    return path if path.suffix == ".npz" else path.with_name(path.name.removesuffix(".zip") + SUFFIX)


def _interface(model: Any) -> types.SimpleNamespace:
    """The environments as the model sees them: its actions are scaled to [-1, 1]."""
    actions = model.action_space
    if isinstance(actions, spaces.Box):
        actions = spaces.Box(-1.0, 1.0, actions.shape, np.float32)
    return types.SimpleNamespace(
        observation_space=model.observation_space, action_space=actions, num_envs=model.n_envs
    )


def _check_model(callback: ExplorerCallback, model: Any) -> None:
    known: Any = (TD3, SAC, DQN)
    if "sbx" in sys.modules:
        from adeu.adapters import sbx

        known += sbx.models()
    if not isinstance(model, known):
        check.refuse(callback, "model", "a TD3, DDPG, SAC or DQN of Stable-Baselines3 or SBX", type(model).__name__)
    if model.action_noise is not None:
        takes = "a model without action_noise, in whose place it explores"
        check.refuse(callback, "model", takes, f"action_noise={model.action_noise}")
    if model.use_sde:
        check.refuse(callback, "model", "a model without gSDE, in whose place it explores", "use_sde=True")
    if sb3_hook.attached(model):
        check.refuse(callback, "model", "a model that no other ExplorerCallback is attached to", model)


def _shaped(values: Any, space: spaces.Space[Any], size: int) -> Any:
    """A batch in the space's own shape: the replay gives each discrete number an axis."""
    if isinstance(space, spaces.Dict):
        return {name: _shaped(values[name], inner, size) for name, inner in space.spaces.items()}
    return _numpy(values).reshape((size, *(space.shape or ())))


def _numpy(values: Any) -> np.ndarray:
    return values if isinstance(values, np.ndarray) else values.numpy(force=True)


def _last_observations(new_obs: Any, ended: np.ndarray, infos: list[dict[str, Any]]) -> Any:
    """`new_obs`, and where an episode ended its real last observation, not the next one's first."""
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
