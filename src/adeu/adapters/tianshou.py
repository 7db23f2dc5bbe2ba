"""Explorers for tianshou 2, in the training collector.

exploration = Exploration(explorer, algorithm, training_collector, seed=0)
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from adeu.adapters.asking import check_given
from adeu.adapters.versions import require
from adeu.behavior.behavior import Behavior
from adeu.behavior.tally import Tally
from adeu.core import check
from adeu.core.contract import Decision, Transition
from adeu.core.explorer import Explorer

require("tianshou")

from gymnasium import spaces  # noqa: E402
from tianshou.algorithm.modelfree.ddpg import ContinuousDeterministicPolicy  # noqa: E402
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy  # noqa: E402


class Exploration:
    """Explores for DQN, DDPG or TD3 in one collector; other collectors are unchanged.

        a ~ D(pi(s), g(f(s))), in the policy's action space: [-1, 1] with `action_scaling`

    It replaces the policy's `add_exploration_noise` while that collector steps. f learns from each step, and from the
    batches that the algorithm learns from. Use `behavior.save` and `behavior.load` to save and restore its state.

    Args:
        explorer: f, g and D; D must be for a Box if actions are continuous, for a Discrete space with DQN.
        algorithm: a tianshou algorithm with a `ContinuousDeterministicPolicy` or a `DiscreteQLearningPolicy`.
        collector: the training collector, created with `exploration_noise=True`.
        seed: the seed of the explorer's random numbers.
        encoder: see `Behavior`.
    """

    def __init__(
        self,
        explorer: Explorer,
        algorithm: Any,
        collector: Any,
        seed: int = 0,
        encoder: Callable[[Any], Any] | None = None,
    ) -> None:
        policy = algorithm.policy
        _check(self, policy, collector)
        self._discrete = isinstance(policy, DiscreteQLearningPolicy)
        self.behavior = Behavior(explorer, _interface(policy, collector), seed, encoder)
        self._needed = check_given(self, self.behavior, ["q_values"])
        self._learns = "update" in self.behavior.explorer.learns_from
        self._num_envs = collector.env_num
        self._ready: Any = None
        self._decision: Decision | None = None
        self._tally = Tally(self.behavior.explorer)
        self._attach(algorithm, policy, collector)

    def figures(self) -> dict[str, float]:
        """Returns figures to log of the decisions since the last call; empty if there were none."""
        return self._tally.scalars()

    def _attach(self, algorithm: Any, policy: Any, collector: Any) -> None:
        acting, adding, learning = type(collector), type(policy), type(algorithm)

        def _compute_action_policy_hidden(own: Any, random: bool, ready_env_ids_R: Any, *args: Any, **kw: Any) -> Any:
            self._ready, self._decision = np.asarray(ready_env_ids_R), None
            try:
                return acting._compute_action_policy_hidden(own, random, ready_env_ids_R, *args, **kw)
            finally:
                self._stepping, self._ready = self._ready, None

        def run_on_step_hook(own: Any, action_batch: Any, rollout_batch: Any) -> None:
            self._observe(rollout_batch)
            acting.run_on_step_hook(own, action_batch, rollout_batch)

        def reset_env(own: Any, *args: Any, **kwargs: Any) -> Any:
            if self.behavior.step:
                self.behavior.begin()
            return acting.reset_env(own, *args, **kwargs)

        def add_exploration_noise(own: Any, act: Any, batch: Any) -> Any:
            if self._ready is None:
                return adding.add_exploration_noise(own, act, batch)
            return self._decide(algorithm, act, batch)

        def _update_with_batch(own: Any, batch: Any, *args: Any, **kwargs: Any) -> Any:
            if self._learns:
                self.behavior.update(_transition(batch))
            return learning._update_with_batch(own, batch, *args, **kwargs)

        _override_methods(collector, _compute_action_policy_hidden, run_on_step_hook, reset_env)
        _override_methods(policy, add_exploration_noise)
        _override_methods(algorithm, _update_with_batch)

    def _decide(self, algorithm: Any, act: np.ndarray, batch: Any) -> np.ndarray:
        obs = batch.obs
        center, given = act, {}
        with torch.no_grad():
            if self._discrete:
                center = algorithm.policy(batch).logits.numpy(force=True)
            if "q_values" in self._needed:
                critics = [getattr(algorithm, name) for name in ("critic", "critic2") if hasattr(algorithm, name)]
                values = [critic(obs, act).numpy(force=True).reshape(len(act)) for critic in critics]
                given["q_values"] = center[:, None] if self._discrete else np.stack(values, axis=1)
        self._skip(self._ready)
        spread_out = {name: self._rows(self._ready, value) for name, value in given.items()}
        whole = self.behavior.act(self._rows(self._ready, obs), self._rows(self._ready, center), **spread_out)
        self._decision = decision = Decision(*(value[self._ready] for value in whole))
        self._tally.add(decision)
        return decision.action

    def _observe(self, batch: Any) -> None:
        ready, step = self._stepping, _transition(batch)
        if self._decision is None:  # random steps are observed too
            self._skip(ready)
        self.behavior.observe(Transition(*(None if part is None else self._rows(ready, part) for part in step)))

    def _skip(self, ready: Any) -> None:
        if len(ready) < self._num_envs:
            self.behavior.skip(~np.isin(np.arange(self._num_envs), ready))

    def _rows(self, ready: Any, values: Any) -> np.ndarray:
        """Expands the values of the ready environments to all environments; other rows are placeholders."""
        values = np.asarray(values)
        if len(ready) == self._num_envs:
            return values
        whole = np.repeat(values[:1], self._num_envs, axis=0)
        whole[ready] = values
        return whole


def _transition(batch: Any) -> Transition:
    cost = batch.info.get("cost") if hasattr(batch.info, "get") else None
    return Transition(batch.obs, batch.act, batch.rew, batch.obs_next, batch.terminated, batch.truncated, cost)


def _override_methods(instance: Any, *methods: Any) -> None:
    """Overrides methods of one object by giving it a subclass of its class; its attributes do not change."""
    cls = type(instance)
    body = {method.__name__: method for method in methods} | {"__module__": cls.__module__}
    instance.__class__ = type(cls.__name__, (cls,), body)


def _interface(policy: Any, collector: Any) -> types.SimpleNamespace:
    action_space = policy.action_space
    if isinstance(action_space, spaces.Box) and policy.action_scaling:
        action_space = spaces.Box(-1.0, 1.0, action_space.shape, np.float32)
    observation_space = collector.env.observation_space[0]
    return types.SimpleNamespace(
        observation_space=observation_space, action_space=action_space, num_envs=collector.env_num
    )


def _check(owner: Exploration, policy: Any, collector: Any) -> None:
    if not isinstance(policy, ContinuousDeterministicPolicy | DiscreteQLearningPolicy):
        takes = "an algorithm with a ContinuousDeterministicPolicy or a DiscreteQLearningPolicy (DDPG, TD3, DQN)"
        check.refuse(owner, "algorithm", takes, type(policy).__name__)
    if getattr(policy, "exploration_noise", None) is not None:
        takes = "a policy without exploration_noise, which Exploration replaces"
        check.refuse(owner, "algorithm", takes, policy.exploration_noise)
    if not collector.exploration_noise:
        check.refuse(owner, "collector", "a Collector(exploration_noise=True)", "exploration_noise=False")
