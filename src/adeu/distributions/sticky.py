"""D: random actions, each repeated for a geometric time."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key, State
from adeu.distributions.box_sticky import BoxSticky
from adeu.distributions.discrete import _Discrete, best, choose


class StickyCarry(NamedTuple):
    action: Array
    explored: Array


@dataclasses.dataclass(frozen=True)
class Sticky(_Discrete):
    """Explores with probability `spread`: takes a uniform action and repeats it for a geometric time.

        a = the last explored action with probability 1 - 1/mean, else a uniform one

    A step that follows the policy, a new episode, or a mask that forbids the action ends the repetition.
    `explored` is True for random actions. In a Box, `bind` returns a `BoxSticky`.

    Args:
        mean: the mean number of steps for which an action is repeated, >= 1. With 1 it equals `Bernoulli`.

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Sticky(mean=1e6)
        >>> carry, actions = D.begin(jax.random.key(0)), set()
        >>> for key in jax.random.split(jax.random.key(1), 5):
        ...     action, explored, carry = D.sample(key, (), carry, jax.numpy.zeros(4), spread=1.0)
        ...     actions.add(int(action))
        >>> len(actions)
        1

    Reference: Ecoffet et al., "First return, then explore", 2021.
    Paper: Table 2, with `FirstReturn`.
    """

    mean: float = 20.0

    def __post_init__(self) -> None:
        check.number(self, "mean", at_least=1)

    def bind(self, observation_space: Any, action_space: Any) -> Any:
        from gymnasium.spaces import Box

        if isinstance(action_space, Box):
            return BoxSticky(self.mean).bind(observation_space, action_space)
        return super().bind(observation_space, action_space)

    def begin(self, key: Key, carry: StickyCarry | None = None) -> StickyCarry:
        return StickyCarry(jnp.zeros((), jnp.int32), jnp.zeros((), bool))

    def sample(
        self,
        key: Key,
        state: State,
        carry: StickyCarry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, StickyCarry]:
        key_coin, key_repeat, key_action = jax.random.split(key, 3)
        preferences = self._preferences(center, action_mask)
        allowed = preferences > -jnp.inf
        explored = jax.random.bernoulli(key_coin, jnp.clip(spread, 0.0, 1.0))
        repeats = carry.explored & jax.random.bernoulli(key_repeat, 1 - 1 / self.mean) & allowed[carry.action]
        drawn = choose(key_action, jnp.where(explored, allowed, best(preferences)))
        action = jnp.where(explored & repeats, carry.action, drawn)
        return action, explored, StickyCarry(action, explored)
