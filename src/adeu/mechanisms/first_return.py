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
    """0 while the agent returns to a cell of the archive, 1 after it arrived, until the episode ends.

        goal ~ 1/sqrt(visits + 1) over the cells of the archive, drawn in an episode's first step
        f(s) = 0 before the goal is reached, else 1

    The archive stores each reached cell with a sequence of actions that leads there from the start: the one with the
    highest return, and among equal ones the shortest. The guard `Returning` takes these actions; use it with this f.
    It learns from the ordered transitions of a single environment. Every episode should start in the same state: if
    starts differ, replayed actions may end in a cell near the goal, and f becomes 1 there.

    Args:
        num_states: the number of cells. By default `Behavior` takes it from the space. `HyperStates` groups states
            into cells, `Cells` does so for vectors.
        longest: the largest number of actions stored for a cell; cells further away are not added to the archive.
        by: how it returns: "replay" repeats the stored actions, for deterministic environments, and arrives after
            the last one; "agent" follows the preferences of the agent, and arrives in the goal's cell.
        action_shape: the shape of actions in a Box, set by `bind`; None for Discrete actions.

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
    action_shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.num_states is not None:
            check.whole(self, "num_states")
        check.whole(self, "longest")
        check.one_of(self, "by", ("replay", "agent"))
        check.frozen(self, "action_shape")
        shape = self.action_shape
        if shape is not None and not (isinstance(shape, tuple) and all(type(size) is int for size in shape)):
            check.refuse(self, "action_shape", "whole numbers, or None", shape)

    @property
    def one_environment(self) -> bool:
        return True

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        from gymnasium.spaces import Box

        states = table.num_states(self, observation_space)
        if states is None:
            takes = "a Discrete space (for a Box, use Cells(FirstReturn(), bins); else num_states and an encoder)"
            check.refuse(self, "observation space", takes, observation_space)
        boxed = isinstance(action_space, Box)
        if not boxed and not hasattr(action_space, "n"):
            check.refuse(self, "action space", "a Discrete space or a Box", action_space)
        shape = action_space.shape if boxed else None
        if self.action_shape not in (None, shape):
            check.refuse(self, "action_shape", f"the action space's {shape}", self.action_shape)
        return dataclasses.replace(self, num_states=states, action_shape=shape)

    def init(self, key: Key, obs: Any) -> FirstReturnState:
        if self.num_states is None:
            raise ValueError(
                "FirstReturn: num_states is not set; give it, or bind to a Discrete space, as Behavior does"
            )
        table.check_state(self, obs)
        cells, none = self.num_states, jnp.zeros((), jnp.int32)
        return FirstReturnState(
            visits=jnp.zeros(cells, jnp.int32),
            length=jnp.full(cells, -1, jnp.int32),
            score=jnp.zeros(cells),
            actions=self._no_actions(cells, self.longest),
            taken=self._no_actions(self.longest),
            steps=none,
            earned=jnp.zeros(()),
        )

    def begin(self, key: Key, carry: FirstReturnCarry | None = None) -> FirstReturnCarry:
        no, none = jnp.zeros((), bool), jnp.zeros((), jnp.int32)
        return FirstReturnCarry(jax.random.uniform(key), no, none, none, none, no, self._no_actions())

    def _no_actions(self, *lead: int) -> Array:
        shape = self.action_shape
        return jnp.zeros(lead, jnp.int32) if shape is None else jnp.zeros((*lead, *shape))

    def asked(self, carry: FirstReturnCarry) -> Array:
        return jnp.ones((), bool)

    def ask(self, carry: FirstReturnCarry) -> FirstReturnCarry:
        return carry

    def measure(
        self, key: Key, state: FirstReturnState, carry: FirstReturnCarry, obs: Any, **given: Any
    ) -> tuple[Array, FirstReturnCarry]:
        goal = jax.lax.cond(carry.begun, lambda: carry.goal, lambda: self._choose(state, carry.coin, obs))
        length = jnp.where(carry.begun, carry.length, jnp.maximum(state.length[goal], 0))
        there = carry.step >= length if self.by == "replay" else obs == goal
        arrived = carry.arrived | there
        step = jnp.minimum(carry.step, self.longest - 1)
        # Read it in a branch: otherwise XLA copies the whole archive in each step.
        action = jax.lax.cond(arrived, lambda: carry.action, lambda: state.actions[goal, step])
        carry = FirstReturnCarry(
            carry.coin, jnp.ones_like(carry.begun), goal, length, carry.step + 1, arrived, action
        )
        return jnp.asarray(arrived, float), carry

    def _choose(self, state: FirstReturnState, coin: Array, obs: Any) -> Array:
        """Return the goal: a cell of the archive, or the current cell if the archive is empty."""
        weights = jnp.where(state.length >= 0, 1 / jnp.sqrt(state.visits + 1.0), 0.0)
        below = jnp.cumsum(weights) / jnp.maximum(weights.sum(), 1e-30)
        return jnp.where(weights.any(), jnp.argmax(below > coin), obs).astype(jnp.int32)

    def observe(self, state: FirstReturnState, transition: Transition, **given: Any) -> FirstReturnState:
        here, there = (table.place(state.visits, obs) for obs in (transition.obs, transition.next_obs))
        taken = state.taken.at[state.steps].set(transition.action)  # JAX ignores an index that is out of range
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
