"""Explorers for Stable-Baselines3 and SBX, as a callback of `learn`.

model.learn(1_000_000, callback=ExplorerCallback(explorer, seed=0))
"""

from __future__ import annotations

import os
import pathlib
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from adeu import recipes
from adeu.adapters import sb3_hook
from adeu.adapters.asking import check_given
from adeu.adapters.sb3_explorer import ModelExplorer, beside, interface_of
from adeu.adapters.sb3_values import num_critics
from adeu.adapters.versions import require
from adeu.behavior.behavior import Behavior
from adeu.behavior.hosts import hosts_of
from adeu.core import check
from adeu.core.explorer import Explorer
from adeu.mechanisms.cost import check_no_costs

require("stable-baselines3")

from stable_baselines3 import DQN, SAC, TD3  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402

from adeu.adapters import sb3_rows  # noqa: E402


class ExplorerCallback(BaseCallback):
    """Explores for a TD3, DDPG, SAC or DQN model during training; `predict` is unchanged.

        a ~ D(pi(s), g(f(s))), with continuous actions scaled to [-1, 1]

    After the random warm-up (`learning_starts`), it replaces the model's exploration. The center is the actor's
    action for TD3 and DDPG, the mean action for SAC, and the Q-values for DQN. f learns from each step, and from the
    batches that the model learns from. `model.save(path)` also saves the explorer's state, at `path` with the suffix
    `.adeu.npz`. Each model has a separate explorer: a new model starts with a fresh one, unless `learn` is called
    with `reset_num_timesteps=False`.

    Args:
        explorer: f, g and D; D must be for a Box if actions are continuous, for a Discrete space with DQN. The
            default is `adeu.recipes.default`, which the model's logger prints.
        seed: the seed of the explorer's random numbers.
        encoder: see `Behavior`.
        verbose: see `BaseCallback`.

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
        self,
        explorer: Explorer | None = None,
        seed: int = 0,
        encoder: Callable[[Any], Any] | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        if explorer is not None and not isinstance(explorer, Explorer):
            check.refuse(self, "explorer", "an Explorer, or None for the default", explorer)
        self.explorer, self.seed, self.encoder = explorer, seed, encoder
        self._explorers = PerModel()
        self._last: ModelExplorer | None = None
        self._saved: pathlib.Path | None = None
        self._restored: ModelExplorer | None = None

    @property
    def behavior(self) -> Behavior:
        """The `Behavior` of the model that was last trained."""
        if self._last is None:
            raise ValueError("ExplorerCallback: behavior is not available before the first learn()")
        return self._last.behavior

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the explorer's state beside the model at `path`, or at `path` itself if it ends in `.npz`."""
        self.behavior.save(beside(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Restores the state written by `save`, for the model that was last trained and for the next one trained.
        Later measurements and updates are discarded.
        """
        saved = beside(path)
        if not saved.exists():
            raise FileNotFoundError(f"{saved} does not exist: no explorer state was saved there")
        if self._last is not None:
            self._last.restore(saved)
        self._saved, self._restored = saved, self._last

    def _on_training_start(self) -> None:
        model = self.model
        _check_model(self, model)
        own = self._explorers.get(model) or self._new(model, bool(self.locals.get("reset_num_timesteps", True)))
        if self._saved is not None and own is not self._restored:
            own.restore(self._saved)
        self._explorers[model] = self._last = own
        self._saved = self._restored = None
        own.start(model)
        sb3_hook.attach(model, own)

    def _new(self, model: Any, fresh: bool) -> ModelExplorer:
        """Returns the explorer of a new model: a fresh one, or a copy of the last one."""
        interface = interface_of(model)
        if self._last is not None and not fresh:
            if interface != self._last.interface:
                check.refuse(
                    self,
                    "model",
                    f"the same spaces and number of environments as before, {self._last.interface}",
                    interface,
                )
            return self._last.copied()
        explorer = self.explorer
        if explorer is None:
            explorer = recipes.default(interface)
            self.logger.info(f"ExplorerCallback uses {explorer}")
        behavior = Behavior(explorer, interface, self.seed, self.encoder)
        needed = check_given(self, behavior, ["q_values"])
        check_no_costs(self, "explorer", behavior.explorer)
        if "q_values" in needed and num_critics(model) < 2:
            warnings.warn(
                f"{type(model).__name__} has only one critic, so {explorer.f!r} measures no disagreement between "
                "critics. For TD3 and SAC, set policy_kwargs={'n_critics': 5}.",
                stacklevel=2,
            )
        learning = [host for host in hosts_of(explorer.parts.values()) if host.learn is not None]
        if self._last is not None and learning:
            warnings.warn(
                f"{learning[0]!r} keeps what it learned for another model, because it is the same object. "
                "To start fresh, create a new object and a new ExplorerCallback.",
                stacklevel=2,
            )
        return ModelExplorer(behavior, needed, interface)

    def _on_rollout_start(self) -> None:
        self._attach_again(self.model)

    def _on_step(self) -> bool:
        # Not self.model: nested training of another model with the same callback replaces it.
        self.model = model = self.locals["self"]
        self._last = own = self._explorers[model]
        own.observe(model, self.locals)
        if own.decision is not None:
            own.tally.add(own.decision)
            sb3_rows.show(own.tally, self.logger)
        self._attach_again(model)
        return True

    def _attach_again(self, model: Any) -> None:
        """Attaches the explorer again if a nested call of learn() detached it."""
        own = self._explorers[model]
        if sb3_hook.listener_of(model) is not own:
            sb3_hook.detach(model)
            sb3_hook.attach(model, own)
            own.start(model)


class PerModel(weakref.WeakKeyDictionary[Any, ModelExplorer]):
    """Maps each model to its explorer, as long as the model exists. A copy is empty."""

    def __reduce__(self) -> tuple[Any, ...]:
        return PerModel, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> PerModel:
        return PerModel()


def _check_model(callback: ExplorerCallback, model: Any) -> None:
    known: Any = (TD3, SAC, DQN)
    if "sbx" in sys.modules:
        from adeu.adapters import sbx

        known += sbx.models()
    if not isinstance(model, known):
        check.refuse(callback, "model", "a TD3, DDPG, SAC or DQN of Stable-Baselines3 or SBX", type(model).__name__)
    if model.action_noise is not None:
        takes = "a model without action_noise, which the callback replaces"
        check.refuse(callback, "model", takes, f"action_noise={model.action_noise}")
    if model.use_sde:
        check.refuse(callback, "model", "a model without gSDE, which the callback replaces", "use_sde=True")
    if sb3_hook.listener_of(model) is not None:
        check.refuse(callback, "model", "a model without another ExplorerCallback attached", model)
