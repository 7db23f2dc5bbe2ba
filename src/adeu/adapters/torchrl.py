"""Explorers for torchrl, as a module after the actor.

policy = TensorDictSequential(actor, ExplorerModule(explorer, env))
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
import torch

from adeu.adapters.asking import check_given
from adeu.adapters.versions import require
from adeu.behavior import storage
from adeu.behavior.behavior import Behavior
from adeu.behavior.hosts import host_states, hosts_of, restore_hosts
from adeu.behavior.tally import Tally
from adeu.core import check, npz
from adeu.core.contract import Decision, Transition
from adeu.core.explorer import Explorer

require("torchrl")

from gymnasium import spaces  # noqa: E402
from tensordict import TensorDict, TensorDictBase  # noqa: E402
from tensordict.nn import TensorDictModuleBase  # noqa: E402
from torchrl.data import Bounded, Categorical, OneHot  # noqa: E402
from torchrl.envs.utils import ExplorationType, exploration_type  # noqa: E402

Key = str | tuple[str, ...]
LOGGED = ("explored", "uncertainty", "spread", "asked", "deviation")
"""The fields of a decision that are written to the tensordict, besides its action."""
HOST_STATES = "host_states"
"""The entry of a `state_dict` with the state of `from_host` objects, as the bytes of an npz file."""


class ExplorerModule(TensorDictModuleBase):  # type: ignore[misc]
    """Replaces the actor's action by a ~ D(pi(s), g(f(s))) if `exploration_type()` is RANDOM or None.

    The state of each environment (its random stream, the steps left in an option, a rollout coin) is stored in the
    tensordict under `"adeu"`, with `uncertainty`, `spread`, `explored`, `asked` (whether f decided the spread) and
    `deviation`. The state of f is stored in buffers, so it is in `state_dict()` and is sent to a collector's
    workers with the weights. The environment needs an `InitTracker`, which marks the first steps of episodes.

    Args:
        explorer: f, g and D.
        env: a torchrl environment, used only for its specs.
        seed: the seed of the explorer's random numbers; by default torch's global generator is used, as in torchrl.
        observation_key: the key of the observation that f sees.
        action_key: the key of the action to replace.
        center_key: the key of pi(s); the default is `action_key` if actions are continuous, else `"action_value"`.
        given: maps each name that a mechanism needs to its key in the tensordict, such as `{"q_values": "q_values"}`.
        encoder: see `Behavior`.

    Examples:
        >>> import adeu, torch
        >>> from adeu.adapters.torchrl import ExplorerModule
        >>> from tensordict.nn import TensorDictModule, TensorDictSequential
        >>> from torchrl.envs import GymEnv, InitTracker, TransformedEnv
        >>> env = TransformedEnv(GymEnv("Pendulum-v1"), InitTracker())
        >>> actor = TensorDictModule(torch.nn.Linear(3, 1), in_keys=["observation"], out_keys=["action"])
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> policy = TensorDictSequential(actor, ExplorerModule(explorer, env, seed=0))
        >>> env.rollout(5, policy)["adeu", "spread"].shape
        torch.Size([5])
    """

    def __init__(
        self,
        explorer: Explorer,
        env: Any,
        *,
        seed: int | None = None,
        observation_key: Key = "observation",
        action_key: Key = "action",
        center_key: Key | None = None,
        given: Mapping[str, Key] | None = None,
        encoder: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self._observation_space = _space(env.observation_spec_unbatched[observation_key])
        self._action_spec = env.full_action_spec_unbatched[action_key]
        self._action_space = _space(self._action_spec)
        discrete = isinstance(self._action_space, spaces.Discrete)
        self.observation_key, self.action_key = observation_key, action_key
        self.center_key: Key = center_key or ("action_value" if discrete else action_key)
        self.given = dict(given or {})
        self.in_keys = [observation_key, self.center_key, *self.given.values()]
        self.out_keys = [action_key, "adeu"]
        self._explorer, self._encoder = explorer, encoder
        self._hosts = hosts_of(explorer.parts.values())
        self._behaviors: dict[int, Behavior] = {}
        self._generator = None if seed is None else torch.Generator().manual_seed(seed)
        one = self._behavior(1, self._draw_seed())
        check_given(self, one, list(self.given))
        if "reward" in explorer.needs("act"):
            takes = "an f that needs no reward: a collector's rewards are not available when it acts"
            check.refuse(self, "explorer", takes, explorer)
        for index, leaf in enumerate(jax.tree.leaves(one.state)):
            self.register_buffer(f"state_{index}", torch.from_numpy(storage.to_disk(leaf).copy()))
        self._version, self._state, self._steps = self._versions(), one.state, 0

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        if exploration_type() not in (ExplorationType.RANDOM, None):
            return tensordict
        n, axes = max(tensordict.numel(), 1), tensordict.ndim
        behavior = self._ready(n)
        behavior.carry = self._carry(behavior, tensordict)
        given = {name: _rows(tensordict.get(key), axes) for name, key in self.given.items()}
        obs, center = (tensordict.get(key) for key in (self.observation_key, self.center_key))
        decision = behavior.act(_rows(obs, axes), _rows(center, axes), **given)
        leaves = [torch.from_numpy(storage.to_disk(leaf).copy()) for leaf in jax.tree.leaves(behavior.carry)]
        entries = {f"carry_{index}": leaf for index, leaf in enumerate(leaves)} | {
            "begun": torch.ones(n, dtype=torch.bool)
        }
        for name in LOGGED:
            entries[name] = torch.from_numpy(getattr(decision, name))
        shape, device = tensordict.shape, tensordict.device
        entries = {name: value.reshape((*shape, *value.shape[1:])) for name, value in entries.items()}
        tensordict.set("adeu", TensorDict(entries, batch_size=shape, device=device))
        tensordict.set(self.action_key, self._encode(decision.action, shape).to(center.device))
        return tensordict

    def observe(self, data: TensorDictBase) -> None:
        """Observes the steps of a collector, of shape (environments, time), or (time,) for one environment.

        Call it once for each batch that the collector returns.
        """
        time = data.shape[-1]
        n = data.numel() // time
        behavior = self._ready(n)
        if "observe" in behavior.explorer.learns_from:
            flat = data.reshape(n, time)
            for t in range(time):
                behavior.observe(self._transition(flat[:, t]))
            self._keep(behavior.state)
        self._steps += n * time

    def update(self, batch: TensorDictBase) -> None:
        """Trains f on a batch, typically the one that the agent learns from."""
        behavior = self._ready(1)
        flat = batch.reshape(-1)
        behavior.update(self._transition(flat))
        self._keep(behavior.state)

    def figures(self, data: TensorDictBase) -> dict[str, float]:
        """Returns figures to log of the decisions in a collector's data; empty if there are none."""
        tally, decided = Tally(self._ready(1).explorer), data.get("adeu", None)
        if decided is not None:
            made = _rows(decided.get("begun"), decided.ndim)
            tally.add(Decision(None, *(_rows(decided.get(name), decided.ndim)[made] for name in LOGGED)))
        return tally.scalars()

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        states = host_states(self._hosts)
        if states:
            content = npz.pack(storage.pack_hosts(states))
            destination[prefix + HOST_STATES] = torch.frombuffer(bytearray(content), dtype=torch.uint8)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        content, names = (
            state_dict.pop(prefix + HOST_STATES, None),
            [h.name for h in self._hosts if h.state is not None],
        )
        super()._load_from_state_dict(state_dict, prefix, *others)
        if names and content is None:
            _, _, missing_keys, _, _ = others
            missing_keys.append(prefix + HOST_STATES)
        elif names:
            states = storage.unpack_hosts(npz.unpack(content.numpy(force=True).tobytes()), names)
            restore_hosts(prefix + HOST_STATES, self._hosts, states)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled functions are not sent to a collector's workers.
        return super().__getstate__() | {"_behaviors": {}, "_state": None, "_version": -1, "_generator": None}

    def _behavior(self, n: int, seed: int = 0) -> Behavior:
        env = types.SimpleNamespace(
            observation_space=self._observation_space, action_space=self._action_space, num_envs=n
        )
        return Behavior(self._explorer, env, seed, self._encoder)

    def _ready(self, n: int) -> Behavior:
        """Returns the behavior for n environments, with the state of f read from the buffers if they have changed."""
        if n not in self._behaviors:
            self._behaviors[n] = self._behavior(n)
        behavior = self._behaviors[n]
        if self._versions() != self._version:
            like, structure = jax.tree.flatten(behavior.state)
            leaves = [storage.from_disk(buffer.numpy(force=True), leaf) for buffer, leaf in zip(self._kept(), like)]  # noqa: B905
            self._state, self._version = jax.tree.unflatten(structure, leaves), self._versions()
        behavior.state, behavior.step = self._state, self._steps
        return behavior

    def _keep(self, state: Any) -> None:
        for buffer, leaf in zip(self._kept(), jax.tree.leaves(state), strict=True):
            buffer.copy_(torch.from_numpy(storage.to_disk(leaf).copy()))
        self._state, self._version = state, self._versions()

    def _kept(self) -> list[torch.Tensor]:
        return list(self.buffers())

    def _versions(self) -> int:
        return sum(buffer._version for buffer in self._kept())

    def _carry(self, behavior: Behavior, tensordict: TensorDictBase) -> Any:
        """Returns the carry in the tensordict, with new episodes begun, or a fresh carry."""
        first = tensordict.get("is_init", None)
        if first is None:
            raise KeyError(
                "ExplorerModule needs an 'is_init' entry: append torchrl.envs.InitTracker() to the environment"
            )
        before, (leaves, structure) = tensordict.get("adeu", None), jax.tree.flatten(behavior.carry)
        n = len(leaves[0])
        begun = np.zeros(n, bool) if before is None else _rows(before.get("begun"), before.ndim)
        if not begun.all():  # new environments, or a collector's zeros
            fresh = self._behavior(n, self._draw_seed()).carry
            if not begun.any():
                return fresh
            kept = _where(begun, self._saved_carry(before, leaves), jax.tree.leaves(fresh))
        else:
            kept = self._saved_carry(before, leaves)
        behavior.carry = jax.tree.unflatten(structure, kept)
        behavior.begin(_rows(first, tensordict.ndim).reshape(n) & begun)
        return behavior.carry

    def _saved_carry(self, before: TensorDictBase, leaves: list[Any]) -> list[Any]:
        return [
            storage.from_disk(_rows(before.get(f"carry_{i}"), before.ndim), leaf) for i, leaf in enumerate(leaves)
        ]

    def _draw_seed(self) -> int:
        return int(torch.randint(2**31, (1,), generator=self._generator).item())

    def _encode(self, action: np.ndarray, shape: torch.Size) -> torch.Tensor:
        tensor = torch.from_numpy(np.asarray(action))
        if isinstance(self._action_spec, OneHot):
            tensor = torch.nn.functional.one_hot(tensor.long(), self._action_spec.space.n)
        return tensor.to(self._action_spec.dtype).reshape((*shape, *self._action_spec.shape))

    def _transition(self, data: TensorDictBase) -> Transition:
        n, following = len(data), data.get("next")
        action = _rows(data.get(self.action_key), 1)
        cost = following.get("cost", None)
        return Transition(
            obs=_rows(data.get(self.observation_key), 1),
            action=action.argmax(axis=-1) if isinstance(self._action_spec, OneHot) else action,
            reward=_rows(following.get("reward"), 1).reshape(n),
            next_obs=_rows(following.get(self.observation_key), 1),
            terminated=_rows(following.get("terminated"), 1).reshape(n),
            truncated=_rows(following.get("truncated"), 1).reshape(n),
            cost=None if cost is None else _rows(cost, 1).reshape(n),
        )


def _where(choose: np.ndarray, if_true: list[Any], if_false: list[Any]) -> list[Any]:
    def one(a: Any, b: Any) -> Any:
        return np.where(choose.reshape(-1, *[1] * (np.ndim(a) - 1)), a, b)

    return [one(a, b) for a, b in zip(if_true, if_false, strict=True)]


def _rows(tensor: torch.Tensor, axes: int) -> np.ndarray:
    """Converts a tensor to numpy, with its first `axes` axes (the batch) merged into one."""
    array: np.ndarray = tensor.numpy(force=True)
    return array.reshape(int(np.prod(array.shape[:axes])), *array.shape[axes:])


def _space(spec: Any) -> spaces.Space[Any]:
    """Returns the Gymnasium space of a torchrl spec."""
    if isinstance(spec, OneHot | Categorical):
        return spaces.Discrete(int(spec.space.n))
    dtype = torch.empty(0, dtype=spec.dtype).numpy().dtype
    if isinstance(spec, Bounded):
        return spaces.Box(spec.space.low.numpy(force=True), spec.space.high.numpy(force=True), dtype=dtype.type)
    if dtype.kind != "f":
        check.refuse("ExplorerModule", "env", "specs that are Bounded, Unbounded, OneHot or Categorical", spec)
    return spaces.Box(-np.inf, np.inf, tuple(spec.shape), dtype.type)
