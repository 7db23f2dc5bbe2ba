"""D: offsets in a Box, held for a heavy-tailed number of steps."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key
from adeu.distributions.memory_noise import _MemoryNoise
from adeu.distributions.zeta import draw_length


class BoxOptionsCarry(NamedTuple):
    offset: Array
    steps_left: Array


@dataclasses.dataclass(frozen=True)
class BoxOptions(_MemoryNoise):
    """An offset from the policy's action, held for a heavy-tailed number of steps: `Options` for Box spaces.

        a = clip(pi(s) + std * (high - low)/2 * x, low, high),  x ~ U(-sqrt 3, sqrt 3) for n ~ zeta(mu) steps

    x has unit variance in each dimension; all dimensions change at the same time. n is at most 10,000. The start of
    an episode, a spread of 0, guards, masks and `explored` are as for `Colored`.

    Args:
        mu: the exponent of the tail, > 1; smaller values give longer options.
        carried: whether an offset carries over to the next episode.
        low: the smallest action, a number or one per dimension. The default is that of the space.
        high: the largest action, likewise.
        moment: whether the spread is a standard deviation ("std") or a variance ("variance").

    Examples:
        >>> import adeu, gymnasium
        >>> pendulum = gymnasium.make("Pendulum-v1")
        >>> adeu.Options(mu=1.5).bind(pendulum.observation_space, pendulum.action_space)
        BoxOptions(mu=1.5, carried=False, low=(-2.0,), high=(2.0,), moment='std')

    Reference: Dabney et al., "Temporally-Extended epsilon-Greedy Exploration", 2021, for discrete actions.
    """

    mu: float = 2.0
    carried: bool = False
    low: Any = None
    high: Any = None
    moment: Literal["std", "variance"] = "std"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.number(self, "mu", above=1)

    def _start(self, key: Key, shape: tuple[int, ...]) -> BoxOptionsCarry:
        return BoxOptionsCarry(jnp.zeros(shape), jnp.zeros((), jnp.int32))

    def _advance(self, key: Key, carry: BoxOptionsCarry) -> tuple[Array, BoxOptionsCarry]:
        key_offset, key_length = jax.random.split(key)
        begins = carry.steps_left == 0
        largest = math.sqrt(3)
        drawn = jax.random.uniform(key_offset, carry.offset.shape, minval=-largest, maxval=largest)
        offset = jnp.where(begins, drawn, carry.offset)
        steps_left = jnp.where(begins, draw_length(key_length, self.mu), carry.steps_left)
        return offset, BoxOptionsCarry(offset, steps_left - 1)
