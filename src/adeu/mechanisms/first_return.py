"""Return, then explore: an archive of cells and how to get to them."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple, Self

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key, Mechanism, Transition
from adeu.mechanisms import table


class FirstReturnState(NamedTuple):
    visits: Array
    length: Array
    score: Array
    actions: Array
    taken: Array
    steps: Array
    earned: Array


class FirstReturnCarry(NamedTuple):
    coin: Array
    begun: Array
    goal: Array
    length: Array
    step: Array
    arrived: Array
    action: Array


@dataclasses.dataclass(frozen=True)
class FirstReturn(Mechanism):
    """0 on the way back to a cell of the archive, 1 after arrival, until the episode ends.

        goal ~ 1/sqrt(visits + 1) over the cells of the archive, drawn in an episode's first step
        f(s) = 0 before the goal is reached, else 1

    The archive has every state that was reached, with the actions that led there from the start: those of the
    highest return, and of these the fewest. The guard `Returning` takes them, so f and guard go together. It learns
    from the transitions of one environment, in their order, which starts in one state; several would mix theirs.

    Args:
        num_states: how many cells there are, numbered from 0; None: what `Behavior` finds in the space. Groups of
            states become cells by `HyperStates`.
        longest: the most actions that are kept; cells further away do not enter the archive.
        by: how it returns: "replay" of the actions, where nothing is random, or the "agent", who then gives
            preferences for each goal. The goal is reached after as many steps, or in its cell.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.FirstReturn(num_states=3, longest=10)
        >>> state, carry = f.init(jax.random.key(0), 0), f.begin(jax.random.key(1))
        >>> float(f.measure(jax.random.key(2), state, carry, obs=0)[0])
        1.0

    Reference: Ecoffet et al., "First return, then explore", 2021.
    Paper: Table 2.
    """

    num_states: int | None = None
    longest: int = 1000
    by: Literal["replay", "agent"] = "replay"

    def __post_init__(self) -> None:
        if self.num_states is not None:
            check.whole(self, "num_states")
        check.whole(self, "longest")
        check.one_of(self, "by", ("replay", "agent"))

    @property
    def one_environment(self) -> bool:
        return True

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        states = table.num_states(self, observation_space)
        if states is None or not hasattr(action_space, "n"):
            takes = "Discrete (elsewhere give num_states and an encoder to a cell's number)"
            check.refuse(self, "spaces", takes, (observation_space, action_space))
        return dataclasses.replace(self, num_states=states)

    def init(self, key: Key, obs: Any) -> FirstReturnState:
        if self.num_states is None:
            raise ValueError(
                "FirstReturn: no num_states yet; give it, or bind it to a Discrete space (Behavior does)"
            )
        table.check_state(self, obs)
        cells, none = self.num_states, jnp.zeros((), jnp.int32)
        return FirstReturnState(
            visits=jnp.zeros(cells, jnp.int32),
            length=jnp.full(cells, -1, jnp.int32),
            score=jnp.zeros(cells),
            actions=jnp.zeros((cells, self.longest), jnp.int32),
            taken=jnp.zeros(self.longest, jnp.int32),
            steps=none,
            earned=jnp.zeros(()),
        )

    def begin(self, key: Key, carry: FirstReturnCarry | None = None) -> FirstReturnCarry:
        no, none = jnp.zeros((), bool), jnp.zeros((), jnp.int32)
        return FirstReturnCarry(jax.random.uniform(key), no, none, none, none, no, none)

    def asked(self, carry: FirstReturnCarry) -> Array:
        return jnp.ones((), bool)

    def ask(self, carry: FirstReturnCarry) -> FirstReturnCarry:
        return carry

    def measure(
        self, key: Key, state: FirstReturnState, carry: FirstReturnCarry, obs: Any, **given: Any
    ) -> tuple[Array, FirstReturnCarry]:
        goal = jnp.where(carry.begun, carry.goal, self._choose(state, carry.coin, obs))
        length = jnp.where(carry.begun, carry.length, jnp.maximum(state.length[goal], 0))
        there = carry.step >= length if self.by == "replay" else obs == goal
        arrived = carry.arrived | there
        action = state.actions[goal, jnp.minimum(carry.step, self.longest - 1)]
        carry = FirstReturnCarry(
            carry.coin, jnp.ones_like(carry.begun), goal, length, carry.step + 1, arrived, action
        )
        return jnp.asarray(arrived, float), carry

    def _choose(self, state: FirstReturnState, coin: Array, obs: Any) -> Array:
        """The goal; before anything is in the archive, the state itself."""
        weights = jnp.where(state.length >= 0, 1 / jnp.sqrt(state.visits + 1.0), 0.0)
        below = jnp.cumsum(weights) / jnp.maximum(weights.sum(), 1e-30)
        return jnp.where(weights.any(), jnp.argmax(below > coin), obs).astype(jnp.int32)

    def observe(self, state: FirstReturnState, transition: Transition, **given: Any) -> FirstReturnState:
        here, there = (table.place(state.visits, obs) for obs in (transition.obs, transition.next_obs))
        taken = state.taken.at[state.steps].set(transition.action)  # JAX drops what is beyond the longest
        steps, earned = state.steps + 1, state.earned + transition.reward
        length = state.length.at[here].set(jnp.where(state.steps == 0, 0, state.length[here]))

        old = length[there]
        better = (old < 0) | (earned > state.score[there]) | ((earned == state.score[there]) & (steps < old))
        better &= jnp.logical_not(transition.terminated) & (steps <= self.longest) & (old != 0)
        ended = jnp.logical_or(transition.terminated, transition.truncated)
        return FirstReturnState(
            visits=state.visits.at[here].add(1),
            length=length.at[there].set(jnp.where(better, steps, old)),
            score=state.score.at[there].set(jnp.where(better, earned, state.score[there])),
            actions=state.actions.at[there].set(jnp.where(better, taken, state.actions[there])),
            taken=taken,
            steps=jnp.where(ended, 0, steps),
            earned=jnp.where(ended, 0.0, earned),
        )
