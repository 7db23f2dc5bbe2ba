"""Uncertainty from random network distillation."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check, networks
from adeu.core.contract import Array, Carry, Key, Mechanism, Transition


class Moments(NamedTuple):
    """Running mean and variance of the observations learned from."""

    size: Array
    mean: Array
    variance: Array

    def include(self, batch: Array) -> Moments:
        share = batch.shape[0] / (self.size + batch.shape[0])
        shift = jnp.mean(batch, axis=0) - self.mean
        variance = (1 - share) * self.variance + share * jnp.var(batch, axis=0) + share * (1 - share) * shift**2
        return Moments(self.size + batch.shape[0], self.mean + share * shift, variance)

    def standardise(self, obs: Array) -> Array:
        variance = jnp.where(self.size > 0, self.variance, 1.0)
        scaled = (obs - self.mean) / jnp.sqrt(variance + 1e-8)
        return jnp.clip(scaled, -5.0, 5.0)


class RndState(NamedTuple):
    target: networks.Layers
    predictor: networks.Layers
    optimizer: networks.Adam[networks.Layers]
    moments: Moments
    scale: Array


@dataclasses.dataclass(frozen=True)
class Rnd(Mechanism):
    """Novelty: how badly a trained network predicts a random one in s.

        f(s) = || U * predictor(s) - U * target(s) ||_2^2

    Observations are standardised by statistics that only `update` changes. With the default U the sigmoid of
    `Sigmoid` stays at its top until the squared error falls below about 1e-4; `Behavior` warns where it stays
    there, and `Calibrated` or a smaller U moves it.

    Args:
        scale: U.
        hidden: the sizes of both networks' hidden layers.
        features: the size of their outputs.
        learning_rate: of the predictor's Adam.
        adapt: the share by which an update moves U: down where a batch's mean f is above 4, up where it is below
            1/4, so that g neither saturates nor dies out. 0 keeps U.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Rnd(scale=1.0)
        >>> state = f.init(jax.random.key(0), jax.numpy.zeros(3))
        >>> uncertainty, carry = f.measure(jax.random.key(1), state, (), jax.numpy.ones(3))
        >>> bool(uncertainty > 0)
        True

    Reference: Burda et al., "Exploration by Random Network Distillation", 2019.
    Paper: Eq. 3 and the appendix's "Implementation details on RND's networks", with U = 187.5.
    """

    scale: float = 187.5
    hidden: tuple[int, ...] = (64, 64)
    features: int = 32
    learning_rate: float = 1e-4
    adapt: float = 0.0

    def __post_init__(self) -> None:
        check.number(self, "scale", above=0)
        networks.check_sizes(self, "hidden", at_least=0)
        check.whole(self, "features")
        check.number(self, "learning_rate", above=0)
        check.number(self, "adapt", at_least=0, at_most=0.5)

    def init(self, key: Key, obs: Any) -> RndState:
        networks.check_vector(self, obs)
        key_target, key_predictor = jax.random.split(key)
        size = jnp.shape(obs)[0]
        sizes = (size, *self.hidden, self.features)
        predictor = networks.init_layers(key_predictor, sizes)
        moments = Moments(jnp.zeros(()), jnp.zeros(size), jnp.zeros(size))
        optimizer = networks.adam_init(predictor)
        return RndState(
            networks.init_layers(key_target, sizes), predictor, optimizer, moments, jnp.asarray(self.scale, float)
        )

    def measure(self, key: Key, state: RndState, carry: Carry, obs: Array, **given: Any) -> tuple[Array, Carry]:
        return state.scale**2 * _error(state.predictor, state, obs), carry

    def update(self, state: RndState, batch: Transition, **given: Any) -> RndState:
        obs = jnp.asarray(batch.obs, float)
        state = state._replace(moments=state.moments.include(obs))

        def loss(predictor: networks.Layers) -> Array:
            return jnp.mean(jax.vmap(_error, in_axes=(None, None, 0))(predictor, state, obs))

        if self.adapt:
            uncertainty = state.scale**2 * loss(state.predictor)
            step = jnp.where(uncertainty > 4.0, 1 - self.adapt, jnp.where(uncertainty < 0.25, 1 + self.adapt, 1.0))
            state = state._replace(scale=state.scale * step)
        predictor, optimizer = networks.descend(loss, state.predictor, state.optimizer, self.learning_rate)
        return state._replace(predictor=predictor, optimizer=optimizer)


def _error(predictor: networks.Layers, state: RndState, obs: Array) -> Array:
    x = state.moments.standardise(obs)
    return jnp.sum((networks.apply(predictor, x) - networks.apply(state.target, x)) ** 2)
