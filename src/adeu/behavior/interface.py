"""What an environment looks like from outside: its spaces, and how its numbers are read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from adeu.behavior import arrays
from adeu.core import check
from adeu.core.contract import Transition


class Interface:
    """Reads what belongs to an environment, or to a vector of them, into arrays with a leading axis.

    Discrete states and actions count from 0 inside, from the space's `start` outside.

    Args:
        env: has `observation_space` and `action_space`; a vector also `num_envs`.
        encoder: see `Behavior`.
    """

    def __init__(self, env: Any, encoder: Callable[[Any], Any] | None) -> None:
        from gymnasium.spaces import Box, Discrete

        for attribute in ("observation_space", "action_space"):
            if not hasattr(env, attribute):
                check.refuse("Behavior", "env", f"an environment with an {attribute}", env)
        self.observation_space = getattr(env, "single_observation_space", env.observation_space)
        self.action_space = getattr(env, "single_action_space", env.action_space)
        if not isinstance(self.action_space, Box | Discrete):
            check.refuse("Behavior", "env", "an action space that is Box or Discrete", self.action_space)
        vector = hasattr(env, "num_envs")
        self.num_envs = int(env.num_envs) if vector else 1
        self.lead = self.num_envs if vector else None
        autoreset = (getattr(env, "metadata", None) or {}).get("autoreset_mode")
        self.resets_next_step = vector and getattr(autoreset, "name", None) == "NEXT_STEP"

        states, actions = self.observation_space, self.action_space
        self._num_states = int(states.n) if isinstance(states, Discrete) else None
        self._first_state = int(states.start) if isinstance(states, Discrete) else 0
        self._first_action = int(actions.start) if isinstance(actions, Discrete) else 0
        self._action_shape = actions.shape or ()
        self._action_dtype = arrays.compute_dtype(actions.dtype)
        self._center_shape = (int(actions.n),) if isinstance(actions, Discrete) else self._action_shape
        self._float = arrays.compute_dtype(float)

        self._encoder = encoder
        self._raw = arrays.zeros(states, self.num_envs)
        self.example = self._raw
        if encoder is not None:
            encoded = arrays.to_numpy(encoder(self._raw))
            self.example = encoded.astype(arrays.compute_dtype(encoded.dtype))
            self.encode(self._raw, self.num_envs)

    def observation(self, obs: Any, lead: int | None, name: str = "observation") -> Any:
        """The environment's own observations, checked."""
        raw = arrays.read_tree(name, obs, self._raw, lead)
        if self._num_states is not None:
            raw = raw - self._first_state
            if (raw < 0).any() or (raw >= self._num_states).any():
                raise ValueError(f"{name} takes states of {self.observation_space}, got {obs}")
        return raw

    def encode(self, raw: Any, lead: int) -> Any:
        """What the mechanisms see of checked observations."""
        if self._encoder is None:
            return raw
        return arrays.read_tree("the encoder's output", self._encoder(raw), self.example, lead)

    def center(self, center: Any) -> np.ndarray:
        return arrays.read("center", center, self._center_shape, self._float, self.lead)

    def action_mask(self, mask: Any) -> np.ndarray:
        allowed = arrays.read("action_mask", mask, self._center_shape, np.dtype(bool), self.lead)
        if not allowed.reshape(self.num_envs, -1).any(axis=1).all() and self._action_shape == ():
            raise ValueError(f"action_mask takes at least one allowed action per environment, got {mask}")
        return allowed

    def given(self, given: dict[str, Any], lead: int | None) -> dict[str, np.ndarray]:
        """What an agent offers besides: any arrays, as long as each environment has its own."""
        offered = {name: arrays.to_numpy(value).copy() for name, value in given.items()}
        for name, value in offered.items():
            if lead is not None and value.shape[:1] != (lead,):
                raise ValueError(f"{name} takes a leading axis of {lead}, got shape {value.shape}")
        return offered if lead is not None else {name: value[None] for name, value in offered.items()}

    def transition(self, transition: Any, info: Mapping[str, Any] | None) -> Transition:
        """A step's transition; `info` adds what only it knows: a cost, and where an episode really ended."""
        step, info = self._read(transition, self.lead), info or {}
        if step.cost is None:
            step = step._replace(cost=self._cost(info))
        for index in np.flatnonzero(info.get("_final_obs", ())):
            final = self.observation(info["final_obs"][index], None, "info['final_obs']")
            jax.tree.map(lambda all, one, index=index: all.__setitem__(index, one[0]), step.next_obs, final)
        return step

    def _cost(self, info: Mapping[str, Any]) -> np.ndarray | None:
        """The cost in `info`; of an environment that reset itself within the step, the cost in `final_info`."""
        cost = self._numbers("info['cost']", info["cost"], self.lead) if "cost" in info else None
        if "cost" not in info.get("final_info", ()):
            return cost
        final = self._numbers("info['final_info']['cost']", info["final_info"]["cost"], self.lead)
        return np.where(info["_final_info"], final, 0.0 if cost is None else cost).astype(self._float)

    def batch(self, batch: Any) -> Transition:
        size = arrays.to_numpy(_field(batch, "reward")).shape[:1]
        if size in ((), (0,)):
            raise ValueError("batch takes transitions along a leading axis, at least one; its reward has none")
        return self._read(batch, size[0])

    def encode_transition(self, transition: Transition) -> Transition:
        lead = len(transition.reward)
        return transition._replace(
            obs=self.encode(transition.obs, lead), next_obs=self.encode(transition.next_obs, lead)
        )

    def action(self, action: np.ndarray) -> Any:
        """A decision's actions in the environment's own type and numbering."""
        own = (action + self._first_action).astype(self.action_space.dtype)
        if action.dtype == own.dtype or self._action_shape == ():
            return own
        return np.clip(own, self.action_space.low, self.action_space.high)

    def _read(self, transition: Any, lead: int | None) -> Transition:
        flag = np.dtype(bool)
        cost = _field(transition, "cost")
        action = arrays.read("action", _field(transition, "action"), self._action_shape, self._action_dtype, lead)
        return Transition(
            obs=self.observation(_field(transition, "obs"), lead, "obs"),
            action=action - self._first_action if self._first_action else action,
            reward=self._numbers("reward", _field(transition, "reward"), lead),
            next_obs=self.observation(_field(transition, "next_obs"), lead, "next_obs"),
            terminated=arrays.read("terminated", _field(transition, "terminated"), (), flag, lead),
            truncated=arrays.read("truncated", _field(transition, "truncated"), (), flag, lead),
            cost=None if cost is None else self._numbers("cost", cost, lead),
        )

    def _numbers(self, name: str, value: Any, lead: int | None) -> np.ndarray:
        return arrays.read(name, value, (), self._float, lead)


def _field(transition: Any, name: str) -> Any:
    if isinstance(transition, Transition):
        return getattr(transition, name)
    if not isinstance(transition, Mapping):
        takes = f"an adeu.Transition or a mapping with {', '.join(Transition._fields)}"
        raise TypeError(f"a transition takes {takes}, got {type(transition).__name__}")
    if name not in transition and name != "cost":
        raise ValueError(f"a transition takes {', '.join(Transition._fields)}; {name!r} is missing")
    return transition.get(name)
