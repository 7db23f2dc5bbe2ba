"""D: samples the action around the policy; the spread says how far from it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Carry, Distribution, Key, State


@dataclasses.dataclass(frozen=True)
class Gaussian(Distribution):
    """Normal noise around the mean action, clipped to the range; for Box spaces.

        a = clip(pi(s) + std * (high - low)/2 * N(0, I), low, high),  std = spread or sqrt(spread)

    An `action_mask` frees the dimensions where it is True; the others stay at the mean. Every decision with a
    spread above 0 counts as explored.

    Args:
        low: the smallest action, a number or one per dimension; None: the space's.
        high: the largest.
        moment: whether the spread is a standard deviation ("std") or a variance ("variance").

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Gaussian(low=-2.0, high=2.0)
        >>> action, explored, carry = D.sample(jax.random.key(0), (), (), jax.numpy.array([0.5]), spread=0.0)
        >>> float(action[0]), bool(explored)
        (0.5, False)

    Reference: Fujimoto et al., "Addressing Function Approximation Error in Actor-Critic Methods", 2018.
    Paper: Eq. 1, section 3 (D for continuous actions).
    """

    low: Any = None
    high: Any = None
    moment: str = "std"

    def __post_init__(self) -> None:
        check.one_of(self, "moment", ("std", "variance"))
        if (self.low is None) != (self.high is None):
            check.refuse(self, "the range (low, high)", "both or neither", (self.low, self.high))
        if self.low is not None:
            check.frozen(self, "low")
            check.frozen(self, "high")
            low, high = np.asarray(self.low, np.float32), np.asarray(self.high, np.float32)
            alike = () in (low.shape, high.shape) or low.shape == high.shape
            with np.errstate(over="ignore"):
                fits = alike and np.isfinite(high - low).all() and bool(np.all(low < high))
            if not fits:
                check.refuse(self, "the range (low, high)", "finite numbers with low < high", (self.low, self.high))

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Box

        if not isinstance(action_space, Box):
            check.refuse(
                self, "action space", "a Box (Categorical, Bernoulli and Options take Discrete)", action_space
            )
        if action_space.dtype.kind != "f":
            check.refuse(self, "action space", "a Box of real numbers", action_space)
        low, high = action_space.low, action_space.high
        if self.low is None:
            with np.errstate(over="ignore"):
                bounded = np.isfinite(np.float32(high - low)).all()
            if not bounded:
                check.refuse(
                    self, "action space", "a bounded Box, or a range: Gaussian(low=..., high=...)", action_space
                )
            return dataclasses.replace(self, low=low, high=high)
        own_low, own_high = np.asarray(self.low, low.dtype), np.asarray(self.high, high.dtype)
        if {own_low.shape, own_high.shape} - {(), low.shape} or np.any(own_low < low) or np.any(own_high > high):
            check.refuse(
                self,
                "the range (low, high)",
                f"a range inside the action space {action_space}",
                (self.low, self.high),
            )
        return self

    def sample(
        self,
        key: Key,
        state: State,
        carry: Carry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        if self.low is None:
            raise ValueError("Gaussian: no range yet; give low and high, or bind it to a Box (Behavior does)")
        low, high, center = (jnp.asarray(value, float) for value in (self.low, self.high, center))
        std = spread if self.moment == "std" else jnp.sqrt(spread)
        noise = std * (high - low) / 2 * jax.random.normal(key, center.shape)
        if action_mask is not None:
            noise = jnp.where(action_mask, noise, 0.0)
        return jnp.clip(center + noise, low, high), jnp.asarray(spread) > 0, carry

    def deviation(self, action: Array, center: Array) -> Array:
        low, high, center = (jnp.asarray(value, float) for value in (self.low, self.high, center))
        return jnp.mean(jnp.abs(action - jnp.clip(center, low, high)) / ((high - low) / 2))


class _Discrete(Distribution):
    """What the distributions over n actions share."""

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Discrete

        if not isinstance(action_space, Discrete):
            check.refuse(self, "action space", "a Discrete (Gaussian takes a Box)", action_space)
        return self

    def impose(
        self, state: State, active: Array, action: Array, center: Array, action_mask: Array | None
    ) -> tuple[Array, Array | None]:
        allowed = True if action_mask is None else action_mask
        return center, jnp.where(active, jnp.arange(jnp.shape(center)[0]) == action, allowed)

    def _preferences(self, center: Array, action_mask: Array | None) -> Array:
        center = jnp.asarray(center, float)
        if center.ndim != 1:
            check.refuse(self, "center", "one preference per action, a vector", f"shape {center.shape}")
        return center if action_mask is None else jnp.where(action_mask, center, -jnp.inf)


def _best(preferences: Array) -> Array:
    return preferences == jnp.max(preferences)


def _choose(key: Key, weights: Array) -> Array:
    """An index with a probability proportional to its weight."""
    return jax.random.categorical(key, jnp.log(weights)).astype(jnp.int32)


def _difference(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded a - b, and what rounding took away (Knuth)."""
    rounded = a - b
    b_seen = a - rounded
    return rounded, (a - (rounded + b_seen)) - (b - b_seen)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded a * b, and what rounding took away (Dekker)."""

    def halves(x: Array) -> tuple[Array, Array]:
        scaled = 4097.0 * x
        high = scaled - (scaled - x)
        return high, x - high

    rounded, (a_high, a_low), (b_high, b_low) = a * b, halves(a), halves(b)
    return rounded, ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low


@dataclasses.dataclass(frozen=True)
class Categorical(_Discrete):
    """Boltzmann exploration whose preferences are trusted as far as the agent is sure; for Discrete spaces.

        p(a) = softmax(trust * q(s, a) / temperature),  trust = 1 - spread

    A spread of 1 is exactly uniform. A spread of 0 is the plain softmax, which is as good as greedy only where
    preferences differ by much more than the temperature: with Q-values between 0 and 1, take 0.01 rather than 1.
    Explored: the action is not among the best.

    Args:
        temperature: of the softmax where the agent is sure, in units of the preferences.

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Categorical()
        >>> [round(float(p), 4) for p in D.probabilities(jax.numpy.array([1.0, 0.0]), spread=0.0)]
        [0.7311, 0.2689]
        >>> [float(p) for p in D.probabilities(jax.numpy.array([1.0, 0.0]), spread=1.0)]
        [0.5, 0.5]

    Paper: the appendix's grid example, Eq. "motivation_example_adeu".
    """

    temperature: float = 1.0

    def __post_init__(self) -> None:
        check.number(self, "temperature", at_least=1e-30)

    def probabilities(self, center: Array, spread: Array, action_mask: Array | None = None) -> Array:
        center = jnp.asarray(center, float)
        preferences = self._preferences(center, action_mask)
        trust = (1.0 - jnp.clip(spread, 0.0, 1.0)) / self.temperature
        advantage, lost = _difference(center, jnp.max(preferences))
        # A float32 logit of 20 is known to 1e-6 only; with what rounding took away, p(a) is.
        logit, also_lost = _product(trust, jnp.maximum(advantage, float(np.finfo(center.dtype).min)))
        correction = jnp.nan_to_num(trust * lost + also_lost, nan=0.0, posinf=0.0, neginf=0.0)
        weights = jnp.where(jnp.isneginf(preferences), 0.0, jnp.exp(logit) * (1.0 + correction))
        return weights / jnp.sum(weights)

    def sample(
        self,
        key: Key,
        state: State,
        carry: Carry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        action = _choose(key, self.probabilities(center, spread, action_mask))
        explored = ~_best(self._preferences(center, action_mask))[action]
        return action, explored, carry

    def exploit(self, key: Key, state: State, center: Array, action_mask: Array | None = None, **given: Any) -> Array:
        return _choose(key, _best(self._preferences(center, action_mask)))


@dataclasses.dataclass(frozen=True)
class Bernoulli(_Discrete):
    """A coin between any action and the best one: epsilon-greedy with epsilon = spread; for Discrete spaces.

        a = a uniform action with probability spread, else argmax_a q(s, a), ties broken at random

    Explored: the coin.

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Bernoulli()
        >>> action, explored, carry = D.sample(jax.random.key(0), (), (), jax.numpy.array([0.0, 1.0]), spread=0.0)
        >>> int(action), bool(explored)
        (1, False)

    Paper: Table 2, the instance of Tokic's adaptive epsilon.
    """

    def sample(
        self,
        key: Key,
        state: State,
        carry: Carry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, Carry]:
        key_coin, key_action = jax.random.split(key)
        preferences = self._preferences(center, action_mask)
        explored = jax.random.bernoulli(key_coin, jnp.clip(spread, 0.0, 1.0))
        anything = preferences > -jnp.inf
        return _choose(key_action, jnp.where(explored, anything, _best(preferences))), explored, carry


class OptionsCarry(NamedTuple):
    option: Array
    steps_left: Array


@dataclasses.dataclass(frozen=True)
class Options(_Discrete):
    """With probability `spread` begins an option: actions repeated for a heavy-tailed time; for Discrete spaces.

        n ~ zeta(mu), at most 10,000:  P(n) = n^-mu / zeta(mu)

    An option is one action, or a sequence of them, played n times over; then the policy decides again. An option
    that comes to an action the mask forbids ends there. Explored: an option decides the action. Actions count from
    0, wherever the space starts.

    Args:
        mu: the tail's exponent, > 1; the smaller, the longer.
        carried: whether an option outlives its episode.
        options: sequences of actions to choose from; None: each single action.
        weights: how often each of `options` is begun, in proportion; None: equally often.

    Examples:
        >>> import adeu, jax
        >>> D = adeu.Options(mu=2.0, options=[[1, 0]])
        >>> carry, actions = D.begin(jax.random.key(0)), []
        >>> for key in jax.random.split(jax.random.key(1), 4):
        ...     action, explored, carry = D.sample(key, (), carry, jax.numpy.array([9.0, 0.0]), spread=1.0)
        ...     actions.append(int(action))
        >>> actions
        [1, 0, 1, 0]

    Reference: Dabney et al., "Temporally-Extended epsilon-Greedy Exploration", 2021.
    Paper: Table 2 and the appendix's "Recreating ez-greedy". The n of Algorithm 1's f(s, n), the steps left of an
    option, is part of this D's carry, and f is `Constant(epsilon)`.
    """

    mu: float = 2.0
    carried: bool = False
    options: Any = None
    weights: Any = None

    longest = 10_000

    def __post_init__(self) -> None:
        check.number(self, "mu", above=1)
        check.instance(self, "carried", bool)
        for argument in ("options", "weights"):
            check.frozen(self, argument)
        if self.options is not None:
            options = self.options
            if not options or not all(isinstance(o, tuple) and o and all(_is_action(a) for a in o) for o in options):
                check.refuse(self, "options", "sequences of actions, such as [[0, 0], [1]]", options)
        if self.weights is not None:
            count = "as many" if self.options is None else len(self.options)
            weights = np.asarray(self.weights, float)
            fits = weights.ndim == 1 and (self.options is None or len(weights) == len(self.options))
            if not (fits and np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
                check.refuse(self, "weights", f"{count} numbers >= 0, not all 0", self.weights)

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        bound = super().bind(observation_space, action_space)
        if self.options is not None and max(map(max, self.options)) >= action_space.n:
            check.refuse(self, "options", f"actions below {action_space.n} in {action_space}", self.options)
        if self.options is None and self.weights is not None and len(self.weights) != action_space.n:
            check.refuse(self, "weights", f"{action_space.n} numbers in {action_space}", self.weights)
        return bound

    def begin(self, key: Key, carry: OptionsCarry | None = None) -> OptionsCarry:
        if self.carried and carry is not None:
            return carry
        return OptionsCarry(jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32))

    def sample(
        self,
        key: Key,
        state: State,
        carry: OptionsCarry,
        center: Array,
        spread: Array,
        action_mask: Array | None = None,
        **given: Any,
    ) -> tuple[Array, Array, OptionsCarry]:
        key_coin, key_option, key_length, key_policy = jax.random.split(key, 4)
        preferences = self._preferences(center, action_mask)
        allowed = preferences > -jnp.inf
        table, lengths, weights = self._table(preferences.shape[0])

        weights = jnp.where(allowed[table[:, 0]], weights, 0.0)
        coin = jax.random.bernoulli(key_coin, jnp.clip(spread, 0.0, 1.0))
        begins = (carry.steps_left == 0) & coin & jnp.any(weights > 0)
        option = jnp.where(begins, _choose(key_option, weights), carry.option)
        steps_left = jnp.where(begins, self._draw(key_length) * lengths[option], carry.steps_left)

        # Counting down from a multiple of the length, -steps_left is the place in the sequence.
        action = table[option, -steps_left % lengths[option]]
        explored = (steps_left > 0) & allowed[action]
        action = jnp.where(explored, action, _choose(key_policy, _best(preferences)))
        return action, explored, OptionsCarry(option, jnp.where(explored, steps_left - 1, 0))

    def _table(self, num_actions: int) -> tuple[Array, Array, Array]:
        options = self.options or tuple((action,) for action in range(num_actions))
        lengths = [len(option) for option in options]
        table = [option + (0,) * (max(lengths) - len(option)) for option in options]
        weights = self.weights or (1.0,) * len(options)
        return jnp.array(table, jnp.int32), jnp.array(lengths, jnp.int32), jnp.array(weights, float)

    def _draw(self, key: Key) -> Array:
        """How often an option is played: n ~ zeta(mu)."""
        survival = jnp.asarray(zeta_survival(self.mu, self.longest))
        above = 1.0 - jax.random.uniform(key)  # in (0, 1]: nothing is rarer than its probability
        return 1 + jnp.searchsorted(-survival, -above, side="left").astype(jnp.int32)


def _is_action(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


@functools.lru_cache(maxsize=32)
def zeta_survival(mu: float, longest: int) -> np.ndarray:
    """P(n > k) for k = 1 .. longest - 1; the rest of the tail falls on `longest`."""
    from scipy.special import zeta

    return np.asarray(zeta(mu, np.arange(2, longest + 1)) / zeta(mu))
