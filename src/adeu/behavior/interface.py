"""What an environment looks like from outside: its spaces, and how its numbers are read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import jax
import numpy as np

from adeu.behavior import arrays, autoreset
from adeu.core import check
from adeu.core.contract import RESERVED, Transition


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
        self._autoreset = autoreset.mode_of(env)
        self.resets_next_step = self._autoreset.name == "NEXT_STEP"

        states, actions = self.observation_space, self.action_space
        self._states = states if isinstance(states, Discrete) else None
        self._first_state = int(states.start) if isinstance(states, Discrete) else 0
        self._first_action = int(actions.start) if isinstance(actions, Discrete) else 0
        self._num_actions = int(actions.n) if isinstance(actions, Discrete) else None
        self._action_shape = actions.shape or ()
        self._action_dtype = arrays.compute_dtype(actions.dtype)
        self._center_shape = self._action_shape if self._num_actions is None else (self._num_actions,)
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
        if self._states is not None:
            _check_members(name, raw, self._states)
        return raw

    def encode(self, raw: Any, lead: int) -> Any:
        """What the mechanisms see of checked observations."""
        if self._encoder is None:
            return raw - self._first_state if self._first_state else raw
        return arrays.read_tree("the encoder's output", self._encoder(raw), self.example, lead)

    def center(self, center: Any) -> np.ndarray:
        name = "center" if self._num_actions is None else "center (one preference per action)"
        return arrays.read(name, center, self._center_shape, self._float, self.lead)

    def action_mask(self, mask: Any) -> np.ndarray:
        allowed = arrays.read("action_mask", mask, self._center_shape, np.dtype(bool), self.lead)
        if self._num_actions is not None and not allowed.any(axis=1).all():
            raise ValueError(f"action_mask takes at least one allowed action per environment, got {mask}")
        return allowed

    def given(self, given: dict[str, Any], lead: int | None) -> dict[str, np.ndarray]:
        """What an agent offers besides: any arrays, as long as each environment has its own."""
        offered = {name: arrays.to_numpy(value).copy() for name, value in given.items()}
        for name, value in offered.items():
            if name in RESERVED:
                raise ValueError(f"{name} takes no value from outside: it is one of {', '.join(RESERVED)}")
            if value.dtype.kind == "f":
                arrays.check_finite(name, value)
            if lead is not None and value.shape[:1] != (lead,):
                raise ValueError(f"{name} takes a leading axis of {lead}, got shape {value.shape}")
        if lead is None:
            offered = {name: value[None] for name, value in offered.items()}
        if "q_values" in offered:
            self._check_q_values(offered["q_values"].shape[1:])
        return offered

    def _check_q_values(self, shape: tuple[int, ...]) -> None:
        """Refuses Q-values for the other kind of action space, which f could not tell apart."""
        actions = () if self._num_actions is None else (self._num_actions,)
        if not shape or shape[1:] != actions:
            takes = "(critics,)" if self._num_actions is None else f"(critics, {self._num_actions})"
            raise ValueError(f"q_values takes shape {takes} per environment in {self.action_space}, got {shape}")

    def transition(self, transition: Any, info: Mapping[str, Any] | None) -> Transition:
        """A step's transition; `info` adds what only it knows: a cost, and where an episode really ended."""
        step, info = self._read(transition, self.lead), {} if info is None else info
        if not isinstance(info, Mapping):
            raise TypeError(f"info takes the environment's mapping, got {type(info).__name__}")
        if step.cost is None:
            step = step._replace(cost=self._cost(info))
        ended = step.terminated | step.truncated
        last = autoreset.last_observations(self._autoreset, step.next_obs, ended, info, self._final)
        return step._replace(next_obs=last)

    def _final(self, obs: Any) -> Any:
        """The last observation of one environment, checked."""
        return jax.tree.map(lambda leaf: leaf[0], self.observation(obs, None, "info['final_obs']"))

    def _cost(self, info: Mapping[str, Any]) -> np.ndarray | None:
        """The cost in `info`; of an environment that reset itself within the step, the cost in `final_info`."""
        cost = self._numbers("info['cost']", info["cost"], self.lead) if "cost" in info else None
        if "cost" not in info.get("final_info", ()):
            return cost
        final = self._numbers("info['final_info']['cost']", info["final_info"]["cost"], self.lead)
        return np.where(info["_final_info"], final, 0.0 if cost is None else cost).astype(self._float)

    def batch(self, batch: Any) -> Transition:
        """Transitions along a leading axis, or a list of them."""
        if isinstance(batch, list) and batch:
            rows = [{name: _field(item, name) for name in Transition._fields} for item in batch]
            batch = jax.tree.map(lambda *leaves: np.stack([arrays.to_numpy(leaf) for leaf in leaves]), *rows)
        size = arrays.to_numpy(_field(batch, "reward")).shape[:1]
        if size in ((), (0,)):
            raise ValueError("batch takes transitions along a leading axis, at least one; its reward has none")
        return self._read(batch, size[0])

    def encode_transition(self, transition: Transition) -> Transition:
        """What the mechanisms see of a checked transition."""
        lead, first = len(transition.reward), self._first_action
        return transition._replace(
            obs=self.encode(transition.obs, lead),
            action=transition.action - first if first else transition.action,
            next_obs=self.encode(transition.next_obs, lead),
        )

    def action(self, action: np.ndarray) -> Any:
        """A decision's actions, finite numbers, in the environment's own type and numbering."""
        if action.shape != (self.num_envs, *self._action_shape):
            shape = action.shape[1:]
            raise ValueError(f"D must return an action of shape {self._action_shape}, it returned shape {shape}")
        if self._num_actions is not None and not -1 < action.min() <= action.max() < self._num_actions:
            self.reject_action(action)
        return arrays.to_space(self.action_space, action)

    def reject_action(self, action: np.ndarray) -> NoReturn:
        raise ValueError(f"D must return actions of {self.action_space}, it returned {action.tolist()}")

    def _read(self, transition: Any, lead: int | None) -> Transition:
        flag = np.dtype(bool)
        cost = _field(transition, "cost")
        action = arrays.read("action", _field(transition, "action"), self._action_shape, self._action_dtype, lead)
        if self._num_actions is not None:
            _check_members("action", action, self.action_space)
        return Transition(
            obs=self.observation(_field(transition, "obs"), lead, "obs"),
            action=action,
            reward=self._numbers("reward", _field(transition, "reward"), lead),
            next_obs=self.observation(_field(transition, "next_obs"), lead, "next_obs"),
            terminated=arrays.read("terminated", _field(transition, "terminated"), (), flag, lead),
            truncated=arrays.read("truncated", _field(transition, "truncated"), (), flag, lead),
            cost=None if cost is None else self._numbers("cost", cost, lead),
        )

    def _numbers(self, name: str, value: Any, lead: int | None) -> np.ndarray:
        return arrays.read(name, value, (), self._float, lead)


def _check_members(name: str, values: np.ndarray, space: Any) -> None:
    if values.min() < space.start or values.max() >= space.start + space.n:
        raise ValueError(f"{name} takes members of {space}, got {values.tolist()}")


def _field(transition: Any, name: str) -> Any:
    if isinstance(transition, Transition):
        return getattr(transition, name)
    if not isinstance(transition, Mapping):
        takes = f"an adeu.Transition or a mapping with {', '.join(Transition._fields)}"
        raise TypeError(f"a transition takes {takes}, got {type(transition).__name__}")
    if name not in transition and name != "cost":
        raise ValueError(f"a transition takes {', '.join(Transition._fields)}; {name!r} is missing")
    return transition.get(name)
