"""A bandit that chooses a number for each episode, by the returns of earlier episodes."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Carry, Key, Mechanism, State, Transition


class ReturnBanditState(NamedTuple):
    pulls: Array
    total: Array
    low: Array
    high: Array
    arm: Array
    earned: Array


@dataclasses.dataclass(frozen=True)
class ReturnBandit(Mechanism):
    """Chooses one of several numbers for each episode, by a bandit over the episodes' returns (discounted UCB).

        arm = argmax_k  mean_k + width * (high - low) * sqrt(log(n) / n_k),  n = sum_k n_k
        n_k = sum_e decay^(age of e) [arm_e = k],  mean_k = sum_e decay^(age of e) [arm_e = k] return_e / n_k

    high and low are the extreme returns so far. Each arm is first tried once, in order. As the `rho` of `Rollouts`,
    it chooses the share of rollout episodes; as an f, it chooses a constant uncertainty for each episode. Several
    environments share one bandit. The return of an arm is then the sum of the rewards of all environments until an
    episode ends in one of them, which equals a return only on average.

    Args:
        arms: the numbers to choose from, >= 0.
        decay: the decay of an episode's weight per later episode, in (0, 1]; below 1 for an agent that is learning.
        width: the width of the confidence bound, >= 0.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.ReturnBandit(arms=(0.0, 0.5))
        >>> state, end = f.init(jax.random.key(0), 0), adeu.Transition(0, 0, 1.0, 0, True, False)
        >>> float(f.measure(jax.random.key(0), f.observe(state, end), (), obs=0)[0])
        0.5

    Reference: Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", 2011.
    Paper: "optimizing the rollout procedure", among its future work.
    """

    arms: tuple[float, ...] = (0.0, 0.1, 0.3)
    decay: float = 0.99
    width: float = 1.0

    def __post_init__(self) -> None:
        check.frozen(self, "arms")
        if not isinstance(self.arms, tuple) or not self.arms:
            check.refuse(self, "arms", "one or more numbers >= 0", self.arms)
        arms = tuple(check.as_number(self, "arms", arm, at_least=0) for arm in self.arms)
        object.__setattr__(self, "arms", arms)
        check.number(self, "decay", above=0, at_most=1)
        check.number(self, "width", at_least=0)

    def init(self, key: Key, obs: Any) -> ReturnBanditState:
        nothing = jnp.zeros(len(self.arms))
        far = jnp.asarray(jnp.inf, float)
        return ReturnBanditState(nothing, nothing, far, -far, jnp.zeros((), int), jnp.zeros(()))

    def measure(
        self, key: Key, state: ReturnBanditState, carry: Carry, obs: Any, **given: Any
    ) -> tuple[Array, Carry]:
        return jnp.asarray(self.arms, float)[state.arm], carry

    def observe(self, state: ReturnBanditState, transition: Transition, **given: Any) -> ReturnBanditState:
        earned = state.earned + transition.reward
        pulled = jnp.arange(len(self.arms)) == state.arm
        pulls, total = self.decay * state.pulls + pulled, self.decay * state.total + pulled * earned
        low, high = jnp.minimum(state.low, earned), jnp.maximum(state.high, earned)
        tried, count = pulls > 0, jnp.where(pulls > 0, pulls, 1.0)
        doubt = jnp.sqrt(jnp.log(jnp.maximum(pulls.sum(), 1.0)) / count)
        score = jnp.where(tried, total / count + self.width * (high - low) * doubt, jnp.inf)
        settled = ReturnBanditState(pulls, total, low, high, jnp.argmax(score), jnp.zeros_like(earned))
        ended = jnp.logical_or(transition.terminated, transition.truncated)
        pending = state._replace(earned=earned)
        return ReturnBanditState(*(jnp.where(ended, new, old) for new, old in zip(settled, pending, strict=True)))

    def figures(self, state: State) -> dict[str, Array]:
        return {"arm": jnp.asarray(self.arms, float)[state.arm]}
