"""The interface of an environment: its spaces, and how its data are read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import numpy as np

from adeu.behavior import arrays, autoreset
from adeu.behavior.arrays import Observation
from adeu.core import check
from adeu.core.contract import RESERVED, Transition

if TYPE_CHECKING:
    from gymnasium.spaces import Discrete, Space


class Interface:
    """Reads the data of an environment, or of a vector of them, into arrays with a leading axis.

    Discrete states and actions are numbered from 0 internally, from the space's `start` outside.

    Args:
        env: an object with `observation_space` and `action_space`; a vector also has `num_envs`.
        encoder: see `Behavior`.
    """

    def __init__(self, env: object, encoder: Callable[[Any], Any] | None) -> None:
        from gymnasium.spaces import Discrete

        for attribute in ("observation_space", "action_space"):
            if not hasattr(env, attribute):
                check.refuse("Behavior", "env", f"an environment with an {attribute}", env)
        states, actions = _space(env, "observation_space"), _space(env, "action_space")
        self.observation_space, self.action_space = states, actions
        count: object = getattr(env, "num_envs", 1)
        self.num_envs = check.as_whole("Behavior", "env.num_envs", count)
        self.lead = self.num_envs if hasattr(env, "num_envs") else None
        self._autoreset = autoreset.mode_of(env)
        self.resets_next_step = self._autoreset.name == "NEXT_STEP"

        self._states = states if isinstance(states, Discrete) else None
        self._actions = actions if isinstance(actions, Discrete) else None
        self._first_state = int(states.start) if isinstance(states, Discrete) else 0
        self._first_action = int(actions.start) if isinstance(actions, Discrete) else 0
        self._num_actions = int(actions.n) if isinstance(actions, Discrete) else None
        self._action_shape = actions.shape or ()
        self._action_dtype = arrays.compute_dtype(actions.dtype or float)
        self._center_shape = self._action_shape if self._num_actions is None else (self._num_actions,)
        self._float = arrays.compute_dtype(float)

        self._encoder = encoder
        self._raw = arrays.zeros(states, self.num_envs)
        self.example: Observation = self._raw
        if encoder is not None:
            encoded = arrays.to_numpy(encoder(self._raw))
            self.example = encoded.astype(arrays.compute_dtype(encoded.dtype))
            self.encode(self._raw, self.num_envs)
        sizes = [np.size(leaf) for leaf in jax.tree.leaves(self.example)]
        if not all(sizes) or not sizes:
            what = "observation space" if encoder is None else "encoder's output"
            check.refuse("Behavior", what, "at least one number in each of its parts", states)
        if self._num_actions is None and not all(self._action_shape):
            check.refuse("Behavior", "env", "an action space with at least one number", actions)

    def require_actions(self) -> None:
        """Reject an action space that a D cannot sample from."""
        from gymnasium.spaces import Box, Discrete

        if not isinstance(self.action_space, Box | Discrete):
            check.refuse("Behavior", "env", "an action space that is Box or Discrete", self.action_space)

    def nothing(self, cost: bool) -> Transition:
        """Return a batch of transitions, all zeros, with the shapes that `transition` returns."""
        number, flag = np.zeros(self.num_envs, self._float), np.zeros(self.num_envs, bool)
        action = np.zeros((self.num_envs, *self._action_shape), self._action_dtype)
        return Transition(self._raw, action, number, self._raw, flag, flag, number if cost else None)

    def observation(self, obs: object, lead: int | None, name: str = "observation") -> Observation:
        """Return checked observations, before encoding."""
        raw = arrays.read_tree(name, obs, self._raw, lead)
        if self._states is not None and isinstance(raw, np.ndarray):
            _check_members(name, raw, self._states)
        return raw

    def encode(self, raw: Observation, lead: int) -> Observation:
        """Encode checked observations for the parts."""
        if self._encoder is None:
            return raw - self._first_state if self._first_state and isinstance(raw, np.ndarray) else raw
        return arrays.read_tree("the encoder's output", self._encoder(raw), self.example, lead)

    def center(self, center: object) -> np.ndarray:
        name = "center" if self._num_actions is None else "center (one preference per action)"
        return arrays.read(name, center, self._center_shape, self._float, self.lead)

    def action_mask(self, mask: object) -> np.ndarray:
        allowed = arrays.read("action_mask", mask, self._center_shape, np.dtype(bool), self.lead)
        if not allowed.reshape(self.num_envs, -1).any(axis=1).all():
            what = "allowed action" if self._num_actions is not None else "dimension that may explore"
            raise ValueError(f"action_mask takes at least one {what} per environment, got {mask}")
        return allowed

    def given(self, given: Mapping[str, object], lead: int | None, asked: frozenset[str]) -> dict[str, np.ndarray]:
        """Return the agent's further inputs that a part uses, checked, with a leading axis of environments."""
        if not given:
            return {}
        for name in given.keys() & set(RESERVED):
            raise ValueError(f"{name} is reserved: it is one of {', '.join(RESERVED)}")
        offered = {name: arrays.to_numpy(value).copy() for name, value in given.items() if name in asked}
        for name, value in offered.items():
            if value.dtype.kind not in "biuf":
                raise ValueError(f"{name} takes numbers, got {value.dtype}")
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
        """Reject Q-values for the other kind of action space; f could not detect them."""
        actions = () if self._num_actions is None else (self._num_actions,)
        if not shape or shape[1:] != actions:
            takes = "(critics,)" if self._num_actions is None else f"(critics, {self._num_actions})"
            raise ValueError(f"q_values takes shape {takes} per environment in {self.action_space}, got {shape}")

    def transition(self, transition: object, info: Mapping[str, Any] | None) -> Transition:
        """Return the checked transition of a step; `info` adds a cost and the final observation of an episode."""
        step, info = self._read(transition, self.lead), {} if info is None else info
        if not isinstance(info, Mapping):
            raise TypeError(f"info takes the environment's mapping, got {type(info).__name__}")
        if step.cost is None:
            step = step._replace(cost=self._cost(info))
        ended: np.ndarray = step.terminated | step.truncated
        last = autoreset.last_observations(self._autoreset, step.next_obs, ended, info, self._final)
        return step._replace(next_obs=last)

    def _final(self, obs: object) -> Observation:
        """Return the checked final observation of one environment."""
        final: Observation = jax.tree.map(lambda leaf: leaf[0], self.observation(obs, None, "info['final_obs']"))
        return final

    def _cost(self, info: Mapping[str, Any]) -> np.ndarray | None:
        """Return the cost in `info`, or in `final_info` for an environment that was reset within the step."""
        cost = self._numbers("info['cost']", info["cost"], self.lead) if "cost" in info else None
        if "cost" not in info.get("final_info", ()):
            return cost
        final = self._numbers("info['final_info']['cost']", info["final_info"]["cost"], self.lead)
        return np.where(info["_final_info"], final, 0.0 if cost is None else cost).astype(self._float)

    def batch(self, batch: object) -> Transition:
        """Return a checked batch, from stacked transitions or from a list."""
        if isinstance(batch, list) and batch:
            batch = self._stack(batch)
        size = arrays.to_numpy(_field(batch, "reward")).shape[:1]
        if size in ((), (0,)):
            raise ValueError("batch takes at least one transition, along a leading axis; its reward has none")
        return self._read(batch, size[0])

    def _stack(self, batch: list[Any]) -> dict[str, Any]:
        rows = [{name: _field(item, name) for name in Transition._fields} for item in batch]
        try:
            stacked: dict[str, Any] = jax.tree.map(
                lambda *leaves: np.stack([arrays.to_numpy(leaf) for leaf in leaves]), *rows
            )
            if all(leaf.dtype.kind != "O" for leaf in jax.tree.leaves(stacked)):
                return stacked
        except (ValueError, TypeError):
            pass  # an error of numpy or JAX: read row by row to find the invalid one
        for index, row in enumerate(rows):
            try:
                self._read(row, None)
            except ValueError as error:
                raise ValueError(f"batch[{index}]: {error}") from None
        raise ValueError("batch takes transitions of the same kind: all with a cost, or none")

    def encode_transition(self, transition: Transition) -> Transition:
        """Encode a checked transition for the parts."""
        lead, first = len(transition.reward), self._first_action
        obs = self.encode(transition.obs, lead)
        same = transition.next_obs is transition.obs
        return transition._replace(
            obs=obs,
            action=transition.action - first if first else transition.action,
            next_obs=obs if same else self.encode(transition.next_obs, lead),
        )

    def action(self, action: np.ndarray) -> np.ndarray:
        """Convert the finite actions of a decision to the type and numbering of the environment."""
        if action.shape != (self.num_envs, *self._action_shape):
            shape = action.shape[1:]
            raise ValueError(f"D must return an action of shape {self._action_shape}, it returned shape {shape}")
        if self._num_actions is not None and not -1 < action.min() <= action.max() < self._num_actions:
            self.reject_action(action)
        return arrays.to_space(self.action_space, action)

    def reject_action(self, action: np.ndarray) -> NoReturn:
        raise ValueError(f"D must return actions of {self.action_space}, it returned {action.tolist()}")

    def _read(self, transition: object, lead: int | None) -> Transition:
        flag = np.dtype(bool)
        cost = _field(transition, "cost")
        action = arrays.read("action", _field(transition, "action"), self._action_shape, self._action_dtype, lead)
        if self._actions is not None:
            _check_members("action", action, self._actions)
        return Transition(
            obs=self.observation(_field(transition, "obs"), lead, "obs"),
            action=action,
            reward=self._numbers("reward", _field(transition, "reward"), lead),
            next_obs=self.observation(_field(transition, "next_obs"), lead, "next_obs"),
            terminated=arrays.read("terminated", _field(transition, "terminated"), (), flag, lead),
            truncated=arrays.read("truncated", _field(transition, "truncated"), (), flag, lead),
            cost=None if cost is None else self._numbers("cost", cost, lead),
        )

    def _numbers(self, name: str, value: object, lead: int | None) -> np.ndarray:
        return arrays.read(name, value, (), self._float, lead)


def _check_members(name: str, values: np.ndarray, space: Discrete) -> None:
    if values.min() < space.start or values.max() >= space.start + space.n:
        raise ValueError(f"{name} takes members of {space}, got {values.tolist()}")


def _space(env: object, name: str) -> Space[Any]:
    """Return the space of a single environment, even if `env` is a vector."""
    space: Space[Any] = getattr(env, f"single_{name}", getattr(env, name))
    return space


def _field(transition: object, name: str) -> object:
    if isinstance(transition, Transition):
        return getattr(transition, name)
    if not isinstance(transition, Mapping):
        takes = f"an adeu.Transition or a mapping with {', '.join(Transition._fields)}"
        raise TypeError(f"a transition takes {takes}, got {type(transition).__name__}")
    if name not in transition and name != "cost":
        raise ValueError(f"a transition takes {', '.join(Transition._fields)}; {name!r} is missing")
    return transition.get(name)
