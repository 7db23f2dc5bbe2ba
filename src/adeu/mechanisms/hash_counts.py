"""Uncertainty from visit counts of hashed vectors."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check, networks
from adeu.core.contract import Array, Carry, Key, Mechanism, State, Transition


class HashCountsState(NamedTuple):
    projection: Array
    """A, of shape (bits, size of an observation)."""
    visits: Array
    """The counts, of shape (2^bits,)."""


@dataclasses.dataclass(frozen=True)
class HashCounts(Mechanism):
    """Visit counts of vectors: vectors on the same side of all random planes count as one state (SimHash).

        f(s) = 1 / (beta * sqrt(n(code))),   code = sign(A s)

    The entries of A are drawn once, from a normal distribution. The planes contain the origin, so observations should
    vary around it. n includes the current visit.

    Args:
        bits: the number of planes, at most 24; more planes distinguish more states.
        beta: how fast visits reduce the uncertainty, > 0.

    Examples:
        >>> import adeu, jax
        >>> f, obs = adeu.HashCounts(bits=4, beta=1.0), jax.numpy.array([1.0, -2.0])
        >>> state = f.init(jax.random.key(0), obs)
        >>> transition = adeu.Transition(obs, action=0, reward=0.0, next_obs=obs, terminated=False, truncated=False)
        >>> state = f.observe(f.observe(f.observe(state, transition), transition), transition)
        >>> [float(f.measure(jax.random.key(1), state, (), vector)[0]) for vector in (obs, 2 * obs, -obs)]
        [0.5, 0.5, 1.0]

    Reference: Tang et al., "#Exploration: A Study of Count-Based Exploration", 2017.
    """

    bits: int = 16
    beta: float = 1.0

    def __post_init__(self) -> None:
        check.whole(self, "bits", at_most=24)
        check.number(self, "beta", above=0)

    def init(self, key: Key, obs: Any) -> HashCountsState:
        networks.check_vector(self, obs)
        projection = jax.random.normal(key, (self.bits, jnp.shape(obs)[0]))
        return HashCountsState(projection, jnp.zeros(2**self.bits, jnp.int32))

    def measure(self, key: Key, state: HashCountsState, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        return 1.0 / (self.beta * jnp.sqrt(state.visits[self._code(state, obs)] + 1.0)), carry

    def observe(self, state: HashCountsState, transition: Transition, **given: Any) -> State:
        return state._replace(visits=state.visits.at[self._code(state, transition.obs)].add(1))

    def _code(self, state: HashCountsState, obs: Any) -> Array:
        above = state.projection @ obs > 0
        return jnp.sum(above * 2 ** jnp.arange(self.bits, dtype=jnp.int32))
