"""Guards: mentors that override the explorer in some states."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, Self

import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Carry, Guard, Hook, State
from adeu.mechanisms.first_return import FirstReturnCarry


@dataclasses.dataclass(frozen=True)
class KnownUnsafe(Guard):
    """A mentor for discrete states that must not be explored, with the action to take in each.

        a = actions[i]  where s = states[i]

    States and actions are numbered from 0, even if their spaces start elsewhere.

    Args:
        states: the indices of the states, without duplicates.
        actions: the action for each state: an integer, or a vector if actions are continuous.

    Examples:
        >>> import adeu
        >>> mentor = adeu.KnownUnsafe(states=[7, 3], actions=[0, 2])
        >>> active, action, carry = mentor((), (), obs=3, uncertainty=0.0)
        >>> bool(active), int(action)
        (True, 2)

    Reference: Thomas et al., "Safe Reinforcement Learning by Imagining the Near Future", 2021.
    Paper: section 2.3, the mentor's states and policy.
    """

    states: tuple[int, ...]
    actions: tuple[Any, ...]

    def __post_init__(self) -> None:
        for argument in ("states", "actions"):
            check.frozen(self, argument)
        states, actions = self.states, self.actions
        numbered = isinstance(states, tuple) and all(isinstance(s, int) and s >= 0 for s in states)
        if not (numbered and states and len(set(states)) == len(states)):
            check.refuse(self, "states", "distinct whole numbers >= 0, at least one", states)
        if not isinstance(actions, tuple) or len(actions) != len(states):
            check.refuse(self, "actions", f"one action for each of the {len(states)} states", actions)
        order = sorted(range(len(states)), key=states.__getitem__)
        object.__setattr__(self, "states", tuple(states[i] for i in order))
        object.__setattr__(self, "actions", tuple(actions[i] for i in order))

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        if observation_space is not None:
            num_states = getattr(observation_space, "n", None)
            if num_states is None:
                check.refuse(self, "observation space", "a Discrete (write a Guard for others)", observation_space)
            if self.states[-1] >= num_states:
                check.refuse(self, "states", f"states below {num_states}", self.states[-1])
        number = getattr(action_space, "n", None)
        for action in self.actions:
            if number is None:
                fits = action_space.contains(np.asarray(action, action_space.dtype))
            else:
                fits = isinstance(action, int) and 0 <= action < number
            if not fits:
                check.refuse(self, "actions", f"actions of {action_space}", action)
        return self

    def __call__(
        self, state: State, carry: Carry, obs: Any, uncertainty: Array, **given: Any
    ) -> tuple[Array, Array, Carry]:
        states = jnp.array(self.states)
        place = jnp.minimum(jnp.searchsorted(states, obs), len(self.states) - 1)
        return states[place] == obs, jnp.array(self.actions)[place], carry


@dataclasses.dataclass(frozen=True)
class Returning(Guard):
    """Returns to the goal that `FirstReturn` chose. Not active after arrival or in evaluation.

        a = the next of the goal's actions, or argmax_a goal_preferences[goal, a]; in a Box, goal_preferences[goal]

    Args:
        by: the same as `by` of `FirstReturn`. With "agent", the agent passes `goal_preferences` of shape (cells,
            actions), its preferences in s for reaching each cell; in a Box, one action per cell.

    Examples:
        >>> import adeu, jax
        >>> explorer = adeu.recipes.go_explore(num_states=3)
        >>> explorer.guard
        Returning(by='replay')

    Reference: Ecoffet et al., "First return, then explore", 2021.
    Paper: Table 2.
    """

    by: Literal["replay", "agent"] = "replay"

    def __post_init__(self) -> None:
        check.one_of(self, "by", ("replay", "agent"))

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Box

        if not isinstance(action_space, Box) and not hasattr(action_space, "n"):
            check.refuse(self, "action space", "a Discrete space or a Box", action_space)
        return self

    def needs(self, hook: Hook) -> frozenset[str]:
        return super().needs(hook) | ({"goal_preferences"} if (self.by, hook) == ("agent", "__call__") else set())

    def __call__(
        self,
        state: State,
        carry: Carry,
        obs: Any,
        uncertainty: Array,
        *,
        f_carry: Any = None,
        goal_preferences: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        if f_carry is None:
            return jnp.zeros((), bool), jnp.zeros((), jnp.int32), carry
        f = _find(f_carry)
        if f is None:
            raise TypeError("Returning: f must be FirstReturn, or a mechanism that contains it")
        if self.by == "replay":
            return ~f.arrived, f.action, carry
        if goal_preferences is None:
            raise TypeError("Returning: by='agent' takes goal_preferences of shape (cells, actions) from the agent")
        preferred = goal_preferences[f.goal]
        boxed = jnp.issubdtype(f.action.dtype, jnp.floating)
        return ~f.arrived, preferred if boxed else jnp.argmax(preferred), carry


def _find(carry: Any) -> FirstReturnCarry | None:
    """Return the carry of `FirstReturn` from that of a mechanism that contains it."""
    if isinstance(carry, FirstReturnCarry):
        return carry
    found = (_find(each) for each in carry) if isinstance(carry, tuple) else ()
    return next((each for each in found if each is not None), None)
