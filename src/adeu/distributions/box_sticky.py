"""D: random actions in a Box, each repeated for a geometric time."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key, State
from adeu.distributions.box_noise import _BoxRange


class BoxStickyCarry(NamedTuple):
    action: Array
    explored: Array


@dataclasses.dataclass(frozen=True)
class BoxSticky(_BoxRange):
    """`Sticky` in a Box: with probability `spread` takes a uniform action and repeats it for a geometric time.

        a = the last explored action with probability 1 - 1/mean, else a ~ U(low, high)

    A step that follows the policy or a new episode ends the repetition. Only dimensions in which `action_mask` is
    True explore. `explored` is True for random actions.

    Args:
        mean: the mean number of steps for which an action is repeated, >= 1.
        low: the smallest action, a number or one per dimension. By default `bind` takes the range from the space.
        high: the largest action.

    Examples:
        >>> import adeu, gymnasium
        >>> pendulum = gymnasium.make("Pendulum-v1")
        >>> adeu.Sticky(mean=5.0).bind(pendulum.observation_space, pendulum.action_space)
        BoxSticky(mean=5.0, low=(-2.0,), high=(2.0,))

    Reference: Ecoffet et al., "First return, then explore", 2021.
    """

    mean: float = 20.0
    low: Any = None
    high: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check.number(self, "mean", at_least=1)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        return super().bind(observation_space, action_space)._in_each_dimension(action_space)

    def begin(self, key: Key, carry: BoxStickyCarry | None = None) -> BoxStickyCarry:
        self._require_range()
        return BoxStickyCarry(jnp.zeros(self._shape), jnp.zeros((), bool))

    def sample(
        self,
        key: Key,
        state: State,
        carry: BoxStickyCarry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, BoxStickyCarry]:
        self._require_range()
        self._check_shape(jnp.shape(center))
        key_coin, key_repeat, key_action = jax.random.split(key, 3)
        low, high, center = (jnp.asarray(value, float) for value in (self.low, self.high, center))
        explored = jax.random.bernoulli(key_coin, jnp.clip(spread, 0.0, 1.0))
        repeats = carry.explored & jax.random.bernoulli(key_repeat, 1 - 1 / self.mean)
        drawn = jax.random.uniform(key_action, self._shape, minval=low, maxval=high)
        held = jnp.where(repeats, carry.action, drawn)
        free = explored if action_mask is None else explored & action_mask
        return jnp.where(free, held, jnp.clip(center, low, high)), explored, BoxStickyCarry(held, explored)
