"""f_safety, the expected cost of a state, for safe exploration."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp

from adeu.core import check, networks
from adeu.core.contract import Array, Carry, Hook, Key, LearningPart, Mechanism, State, Transition
from adeu.core.explorer import Explorer
from adeu.mechanisms import table


class CostState(NamedTuple):
    layers: networks.Layers
    optimizer: networks.Adam[networks.Layers]


@dataclasses.dataclass(frozen=True)
class ExpectedCost(Mechanism):
    """The expected cost of the worst action in s, learned from the `cost` of transitions.

        f_safety(s) = max_a E[cost(s, a)]

    With `num_states` it is a table over (s, a), learned in `observe`. Otherwise it is a small network over the
    observation, learned in `update`, with one output per discrete action. For continuous actions there is a single
    output, the expected cost of the agent's action in s. Use `adeu.from_function(cost)` for a known cost function.

    Args:
        num_states: the number of states. By default `Behavior` takes it from a Discrete space, and uses a network for
            other spaces.
        num_actions: the number of actions, 1 for a Box. By default `Behavior` takes it from the space.
        step_size: the step size of the table, in (0, 1].
        hidden: the sizes of the network's hidden layers.
        learning_rate: the learning rate of the network.

    Examples:
        >>> import adeu, jax
        >>> f = adeu.ExpectedCost(num_states=2, num_actions=2)
        >>> step = adeu.Transition(obs=0, action=1, reward=0, next_obs=1, terminated=False, truncated=False, cost=10)
        >>> state = f.observe(f.init(jax.random.key(0), 0), step)
        >>> [float(f.measure(jax.random.key(1), state, (), obs)[0]) for obs in (0, 1)]
        [10.0, 0.0]

    Reference: Altman, "Constrained Markov Decision Processes", 1999.
    Paper: section 2.3, f_safety of Eq. 5 and Eq. 6.
    """

    num_states: int | None = None
    num_actions: int | None = None
    step_size: float = 1.0
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        for argument in ("num_states", "num_actions"):
            if getattr(self, argument) is not None:
                check.whole(self, argument)
        check.number(self, "step_size", above=0, at_most=1)
        networks.check_sizes(self, "hidden", at_least=0)
        check.number(self, "learning_rate", above=0)

    @property
    def learns_from(self) -> frozenset[str]:
        return frozenset({"update"} if self.num_states is None else {"observe"})

    def needs(self, hook: Hook) -> frozenset[str]:
        return super().needs(hook) | ({"cost"} if hook in self.learns_from else set())

    def bind(self, observation_space: Any, action_space: Any) -> Self:
        actions = int(getattr(action_space, "n", 1))
        if self.num_actions not in (None, actions):
            check.refuse(self, "num_actions", f"the action space's {actions}", self.num_actions)
        return dataclasses.replace(self, num_states=table.num_states(self, observation_space), num_actions=actions)

    def init(self, key: Key, obs: Any) -> State:
        if self.num_actions is None:
            raise ValueError("ExpectedCost: num_actions is not set; give it, or bind to a space, as Behavior does")
        if self.num_states is not None:
            table.check_state(self, obs)
            return jnp.zeros((self.num_states, self.num_actions))
        networks.check_vector(self, obs)
        layers = networks.init_layers(key, (jnp.shape(obs)[0], *self.hidden, self.num_actions))
        return CostState(layers, networks.adam_init(layers))

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        costs = _predict(state.layers, obs) if self.num_states is None else table.row(state, obs)
        return jnp.max(costs), carry

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        if self.num_states is None:
            return state
        where = (table.place(state, transition.obs), self._column(transition.action))
        return state.at[where].add(self.step_size * (self._cost(transition) - state[where]))

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        if self.num_states is not None:
            return state
        cost, columns = self._cost(batch), jax.vmap(self._column)(batch.action)

        def loss(layers: networks.Layers) -> Array:
            predicted = jax.vmap(_predict, in_axes=(None, 0))(layers, batch.obs)
            return jnp.mean((predicted[jnp.arange(len(cost)), columns] - cost) ** 2)

        return CostState(*networks.descend(loss, state.layers, state.optimizer, self.learning_rate))

    def _column(self, action: Array) -> Array | int:
        return action if self.num_actions != 1 else 0

    def _cost(self, transition: Transition) -> Array:
        if transition.cost is None:
            raise TypeError("ExpectedCost: the transition has no cost; give Transition(cost=...) or info['cost']")
        return jnp.asarray(transition.cost, float)


def check_no_costs(owner: Any, argument: str, part: LearningPart | Explorer) -> None:
    """Reject a part that learns costs from batches if the owner's replay buffer does not store costs."""
    if "cost" in part.needs("update"):
        takes = "an f that learns no costs from batches: the replay does not store costs (a table learns from steps)"
        check.refuse(owner, argument, takes, part)


def _predict(layers: networks.Layers, obs: Array) -> Array:
    return jax.nn.softplus(networks.apply(layers, jnp.asarray(obs, float)))
