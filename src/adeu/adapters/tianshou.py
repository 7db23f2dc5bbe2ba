"""tianshou 2: an explorer in the training collector.

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
    """Explores on behalf of DQN, DDPG or TD3 in one collector; other collectors are unchanged.

        a ~ D(pi(s), g(f(s))), in the policy's own space, [-1, 1] under `action_scaling`

    It takes the place of the policy's `add_exploration_noise` while that collector steps. f learns from each step,
    and from the batches that the algorithm learns from. `behavior` is the `Behavior` within: `behavior.save`
    and `behavior.load` keep what belongs to it.

    Args:
        explorer: what to explore by: D is `Gaussian` for continuous actions, a discrete one for DQN.
        algorithm: a tianshou algorithm with a `ContinuousDeterministicPolicy` or a `DiscreteQLearningPolicy`.
        collector: the training collector, made with `exploration_noise=True`.
        seed: of the explorer's random numbers.
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
        """The figures of the decisions since the last call, for any logger; empty if there were none."""
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

        _become(collector, _compute_action_policy_hidden, run_on_step_hook, reset_env)
        _become(policy, add_exploration_noise)
        _become(algorithm, _update_with_batch)

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
        if self._decision is None:  # a random step has no decision, but is observed
            self._skip(ready)
        self.behavior.observe(Transition(*(None if part is None else self._rows(ready, part) for part in step)))

    def _skip(self, ready: Any) -> None:
        if len(ready) < self._num_envs:
            self.behavior.skip(~np.isin(np.arange(self._num_envs), ready))

    def _rows(self, ready: Any, values: Any) -> np.ndarray:
        """Values of the environments that step, in the rows of all of them."""
        values = np.asarray(values)
        if len(ready) == self._num_envs:
            return values
        whole = np.repeat(values[:1], self._num_envs, axis=0)
        whole[ready] = values
        return whole


def _transition(batch: Any) -> Transition:
    cost = batch.info.get("cost") if hasattr(batch.info, "get") else None
    return Transition(batch.obs, batch.act, batch.rew, batch.obs_next, batch.terminated, batch.truncated, cost)


def _become(instance: Any, *methods: Any) -> None:
    """Makes an object of a subclass of its own class, made for it, so that its attributes stay as they are."""
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
        takes = "one with a ContinuousDeterministicPolicy or a DiscreteQLearningPolicy (DDPG, TD3, DQN)"
        check.refuse(owner, "algorithm", takes, type(policy).__name__)
    if getattr(policy, "exploration_noise", None) is not None:
        takes = "a policy without exploration_noise, in whose place it explores"
        check.refuse(owner, "algorithm", takes, policy.exploration_noise)
    if not collector.exploration_noise:
        check.refuse(owner, "collector", "a Collector(exploration_noise=True)", "exploration_noise=False")
