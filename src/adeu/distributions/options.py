"""D: actions repeated for a heavy-tailed number of steps."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Key, State
from adeu.distributions.box_options import BoxOptions
from adeu.distributions.discrete import _Discrete, best, choose
from adeu.distributions.zeta import LONGEST, draw_length


class OptionsCarry(NamedTuple):
    option: Array
    steps_left: Array


@dataclasses.dataclass(frozen=True)
class Options(_Discrete):
    """Begins an option with probability `spread`: actions repeated for a heavy-tailed number of steps.

        n ~ zeta(mu), at most 10,000:  P(n) = n^-mu / zeta(mu)

    An option is one action, or a sequence of actions, repeated n times; then the policy decides again. An option
    ends early at an action that the mask forbids. A decision counts as explored if it is part of an option. Actions
    are numbered from 0, even if the space starts elsewhere. For a Box, `bind` returns a `BoxOptions`: an offset held
    for n steps, times the spread.

    Args:
        mu: the exponent of the tail, > 1; smaller values give longer options.
        carried: whether an option carries over to the next episode.
        options: sequences of discrete actions to choose from. The default is each single action.
        weights: relative frequencies of the `options`, equal by default.

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

    longest = LONGEST

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

    def bind(self, observation_space: Any, action_space: Any) -> Any:
        from gymnasium.spaces import Box

        if isinstance(action_space, Box):
            return self._in_box().bind(observation_space, action_space)
        bound = super().bind(observation_space, action_space)
        if self.options is not None and max(map(max, self.options)) >= action_space.n:
            check.refuse(self, "options", f"actions below {action_space.n} in {action_space}", self.options)
        if self.options is None and self.weights is not None and len(self.weights) != action_space.n:
            check.refuse(self, "weights", f"{action_space.n} numbers in {action_space}", self.weights)
        return bound

    def _in_box(self) -> BoxOptions:
        for argument in ("options", "weights"):
            if getattr(self, argument) is not None:
                check.refuse(self, argument, "None in a Box, where an option is an offset", getattr(self, argument))
        return BoxOptions(self.mu, self.carried)

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
        option = jnp.where(begins, choose(key_option, weights), carry.option)
        steps_left = jnp.where(begins, draw_length(key_length, self.mu) * lengths[option], carry.steps_left)

        # Counting down from a multiple of the length, -steps_left is the index into the sequence.
        action = table[option, -steps_left % lengths[option]]
        explored = (steps_left > 0) & allowed[action]
        action = jnp.where(explored, action, choose(key_policy, best(preferences)))
        return action, explored, OptionsCarry(option, jnp.where(explored, steps_left - 1, 0))

    def _table(self, num_actions: int) -> tuple[Array, Array, Array]:
        options = self.options or tuple((action,) for action in range(num_actions))
        lengths = [len(option) for option in options]
        table = [option + (0,) * (max(lengths) - len(option)) for option in options]
        weights = self.weights or (1.0,) * len(options)
        return jnp.array(table, jnp.int32), jnp.array(lengths, jnp.int32), jnp.array(weights, float)


def _is_action(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
