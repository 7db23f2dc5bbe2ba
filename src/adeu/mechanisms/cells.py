"""Uncertainty over the cells of a grid."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from adeu.core import check, networks
from adeu.core.contract import Array, Key, Mechanism, State
from adeu.mechanisms.grouped import _Grouped

MOST = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Cells(_Grouped):
    """Measures f, of a state number, on the cells of a regular grid over vectors.

        f_cells(s) = f(c(s)),   c(s) = sum_i k_i * bins_1 ... bins_(i-1),
        k_i = floor(bins_i * (s_i - low_i) / (high_i - low_i)), within 0 and bins_i - 1

    Vectors outside the grid belong to the nearest cell at its border. There are bins_1 * ... * bins_n cells, so use
    it for observations of few dimensions, and `HashCounts` for more.

    Args:
        f: the uncertainty of a state number. It observes the numbers of cells.
        bins: the number of cells along each dimension, or one number for all.
        low: the lower end of the grid, a number or one per dimension. By default `bind` takes it from the space.
        high: the upper end.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Cells(adeu.Counts(4, beta=1.0), bins=2, low=-1.0, high=1.0)
        >>> left, right = jax.numpy.array([-0.5, 0.5]), jax.numpy.array([0.5, 0.5])
        >>> state = f.init(jax.random.key(0), left)
        >>> for _ in range(3):
        ...     state = f.observe(state, adeu.Transition(left, 0, 0.0, right, False, False))
        >>> [float(f.measure(jax.random.key(0), state, ((),), obs)[0]) for obs in (left, left / 2, right)]
        [0.5, 0.5, 1.0]

    Reference: the cells of Ecoffet et al., "First return, then explore", 2021.
    """

    f: Mechanism
    bins: Any
    low: Any = None
    high: Any = None

    def __post_init__(self) -> None:
        check.instance(self, "f", Mechanism)
        check.limits(self)
        check.frozen(self, "bins")
        each = self.bins if isinstance(self.bins, tuple) else (self.bins,)
        if not (each and all(type(number) is int and number >= 1 for number in each) and math.prod(each) <= MOST):
            takes = f"a whole number >= 1, or one per dimension, of at most {MOST} cells"
            check.refuse(self, "bins", takes, self.bins)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Discrete

        shapes = {"bins": np.shape(self.bins), "low": np.shape(self.low), "high": np.shape(self.high)}
        if observation_space is None:
            shape = max(shapes.values(), key=len)
            if not shape or self.low is None:
                takes = "numbers, one per dimension, where an encoder returns the observation"
                check.refuse(self, "the range (low, high)", takes, (self.low, self.high))
        else:
            shape = tuple(getattr(observation_space, "shape", None) or ())
            if len(shape) != 1 or not hasattr(observation_space, "high"):
                check.refuse(self, "observation space", "a Box of one dimension", observation_space)
        low, high = (self.low, self.high) if self.low is not None else (observation_space.low, observation_space.high)
        with np.errstate(over="ignore"):
            bounded = np.isfinite(np.float32(np.subtract(high, low))).all()
        if not bounded:
            takes = "a bounded Box, or a range: Cells(..., low=..., high=...)"
            check.refuse(self, "observation space", takes, observation_space)
        for name, own in shapes.items():
            if own not in ((), shape):
                check.refuse(self, name, f"a number, or {shape[0]} of them", getattr(self, name))
        low, high, bins = (np.broadcast_to(value, shape).tolist() for value in (low, high, self.bins))
        bound = dataclasses.replace(self, low=low, high=high, bins=bins)
        return dataclasses.replace(bound, f=self.f.bind(Discrete(math.prod(bins)), action_space))

    def init(self, key: Key, obs: Any) -> State:
        if self.low is None:
            raise ValueError("Cells: low and high are not set; give them, or bind to a Box, as Behavior does")
        networks.check_vector(self, obs)
        return super().init(key, obs)

    def _group(self, obs: Any) -> Array:
        obs = jnp.asarray(obs, float)
        low, high, bins = (np.broadcast_to(value, obs.shape[-1:]) for value in (self.low, self.high, self.bins))
        place = jnp.floor((obs - low) / (high - low) * bins).astype(jnp.int32)
        strides = np.concatenate([[1], np.cumprod(bins[:-1])])
        return jnp.sum(jnp.clip(place, 0, bins - 1) * strides, axis=-1, dtype=jnp.int32)
