"""Uncertainty from random network distillation."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check, networks
from adeu.core.contract import Array, Carry, Key, Mechanism, Transition

START = 3.0
"""The initial f if U is fitted to the data; `Sigmoid` and `Saturating` map it to 0.95 of their c."""
FIRST = 32
"""The number of initial updates over which U is fitted."""
LOW, HIGH = 0.25, 4.0
"""The range of f in which a sigmoid distinguishes states."""
LARGEST = 1e15
"""Observations are clipped to this magnitude, so that sums of squares fit in float32."""


class Moments(NamedTuple):
    """Running mean and variance of the observations in all batches."""

    size: Array
    mean: Array
    variance: Array

    def include(self, batch: Array) -> Moments:
        batch = jnp.clip(batch, -LARGEST, LARGEST)
        share = batch.shape[0] / (self.size + batch.shape[0])
        shift = jnp.mean(batch, axis=0) - self.mean
        variance = (1 - share) * self.variance + share * jnp.var(batch, axis=0) + share * (1 - share) * shift**2
        return Moments(self.size + batch.shape[0], self.mean + share * shift, variance)

    def standardise(self, obs: Array) -> Array:
        # The added terms exceed rounding errors in the variance of a constant, and hardly change other variances.
        variance = self.variance + (1e-7 * self.mean) ** 2 + 1e-30
        scaled = (jnp.clip(obs, -LARGEST, LARGEST) - self.mean) / jnp.sqrt(variance)
        return jnp.clip(scaled, -5.0, 5.0)


class RndState(NamedTuple):
    target: networks.Layers
    predictor: networks.Layers
    optimizer: networks.Adam[networks.Layers]
    moments: Moments
    scale: Array
    """U."""
    armed: Array
    """Whether the median f of a batch has ever been between LOW and HIGH; tuning starts only then."""
    tuned_at: Array
    """The step (or the update, if no step is given) at which U was first tuned; -1 before that."""


@dataclasses.dataclass(frozen=True)
class Rnd(Mechanism):
    """Novelty: the error in s of a network that is trained to predict a random network.

        f(s) = || U * predictor(s) - U * target(s) ||_2          U fitted
        f(s) = || U * predictor(s) - U * target(s) ||_2^2        U given

    `Rnd()` fits U to the first batches. f is 3 before the first update, and about 3 in the states of these batches;
    `Sigmoid` and `Saturating` map 3 to 0.95 of their c. Over thousands of updates f decreases in states that are
    visited again, and is higher in new ones. `Rnd.paper()` uses the paper's fixed U.

    Observations are standardised by running statistics, which only `update` changes.

    Args:
        scale: U. By default it is fitted to the data.
        hidden: the sizes of the hidden layers of both networks.
        features: the output size of both networks.
        learning_rate: the learning rate of the predictor.
        tune: the relative change of a given U per update: U decreases if a batch's median f is above 4, and increases
            if it is below 1/4. Tuning starts once the median has been between these limits. With 0, U is constant.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.Rnd()
        >>> state = f.init(jax.random.key(0), jax.numpy.zeros(3))
        >>> uncertainty, carry = f.measure(jax.random.key(1), state, (), jax.numpy.ones(3))
        >>> float(uncertainty)
        3.0

    Reference: Burda et al., "Exploration by Random Network Distillation", 2019.
    Paper: Eq. 3; U in the appendix's "Implementation details on RND's networks".
    """

    scale: float | None = None
    hidden: tuple[int, ...] = (64,)
    features: int = 32
    learning_rate: float = 3e-5
    tune: float = 0.0

    def __post_init__(self) -> None:
        if self.scale is not None:
            check.number(self, "scale", above=0)
        networks.check_sizes(self, "hidden", at_least=0)
        check.whole(self, "features")
        check.number(self, "learning_rate", above=0)
        check.number(self, "tune", at_least=0, at_most=0.5)
        if self.tune and self.scale is None:
            check.refuse(self, "tune", "0 if scale is None, because U is then fitted to the data", self.tune)

    @classmethod
    def paper(cls) -> Rnd:
        """Return the paper's version: one output, U = 187.5, and the tuning of U described in a footnote.

        The paper does not specify the layers, the learning rate, `tune` and the standardisation of
        observations.

        Examples:
            >>> import adeu
            >>> adeu.Rnd.paper()
            Rnd(scale=187.5, hidden=(64, 64), features=1, learning_rate=0.0001, tune=0.01)
        """
        return cls(scale=187.5, hidden=(64, 64), features=1, learning_rate=1e-4, tune=0.01)

    def init(self, key: Key, obs: Any) -> RndState:
        networks.check_vector(self, obs)
        key_target, key_predictor = jax.random.split(key)
        size = jnp.shape(obs)[0]
        sizes = (size, *self.hidden, self.features)
        predictor = networks.init_layers(key_predictor, sizes)
        return RndState(
            target=networks.init_layers(key_target, sizes),
            predictor=predictor,
            optimizer=networks.adam_init(predictor),
            moments=Moments(jnp.zeros(()), jnp.zeros(size), jnp.ones(size)),
            scale=jnp.asarray(START if self.scale is None else self.scale, float),
            armed=jnp.zeros((), bool),
            tuned_at=jnp.full((), -1, jnp.int32),
        )

    def measure(self, key: Key, state: RndState, carry: Carry, obs: Array, **given: Any) -> tuple[Array, Carry]:
        error = _error(state.predictor, state, obs)
        if self.scale is not None:
            return state.scale**2 * error, carry
        return jnp.where(state.optimizer.updates > 0, state.scale * jnp.sqrt(error), START), carry

    def update(self, state: RndState, batch: Transition, **given: Any) -> RndState:
        obs = jnp.asarray(batch.obs, float)
        state = state._replace(moments=state.moments.include(obs))

        def loss(predictor: networks.Layers) -> tuple[Array, Array]:
            errors = _error(predictor, state, obs)
            return jnp.mean(errors), errors

        gradient, errors = jax.grad(loss, has_aux=True)(state.predictor)
        if self.scale is None:
            state = _fit(state, jnp.mean(errors))
        if self.tune:
            state = self._tune(state, errors, given.get("step", state.optimizer.updates))
        predictor, optimizer = networks.adam_step(state.predictor, gradient, state.optimizer, self.learning_rate)
        return state._replace(predictor=predictor, optimizer=optimizer)

    def figures(self, state: RndState) -> dict[str, Array]:
        return {"scale": state.scale, "tuned_at": state.tuned_at} if self.tune else {}

    def _tune(self, state: RndState, errors: Array, step: Array) -> RndState:
        median = state.scale**2 * jnp.median(errors)
        low, high = median < LOW, median > HIGH
        armed = state.armed | ~(low | high)
        factor = jnp.where(high, 1 - self.tune, jnp.where(low, 1 + self.tune, 1.0))
        first = armed & (low | high) & (state.tuned_at < 0)
        return state._replace(
            scale=jnp.where(armed, state.scale * factor, state.scale),
            armed=armed,
            tuned_at=jnp.where(first, jnp.asarray(step, jnp.int32), state.tuned_at),
        )


def _fit(state: RndState, error: Array) -> RndState:
    """Set U so that f has a mean square of START^2 over the first batches."""
    number = state.optimizer.updates
    mean = (START / state.scale) ** 2
    mean = mean + (error - mean) / (number + 1)
    return state._replace(scale=jnp.where(number < FIRST, START / jnp.sqrt(mean), state.scale))


def _error(predictor: networks.Layers, state: RndState, obs: Array) -> Array:
    """Return the squared error in one state, or in each state of a batch."""
    x = state.moments.standardise(obs)
    return jnp.sum((networks.apply(predictor, x) - networks.apply(state.target, x)) ** 2, axis=-1)
