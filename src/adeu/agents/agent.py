"""The interface of agents.

An `Agent` is an immutable value, like a part: a frozen dataclass whose fields are hyper-parameters and an `Explorer`.
Its methods are pure functions. Its state is kept outside, in three kinds of values:

- *learned*: networks, optimisers, targets, the explorer's state. `absorb`, `learn` and `sync` return a new one.
- *acting*: the subset of *learned* that decisions use.
- *carry*: the state of one environment's current episode. `begin` creates it, `decide` returns a new one.

A loop owns the environment, the replay, the warm-up, the evaluation and the random keys:

    learned, carry = agent.init(key, obs), agent.begin(key)
    each step:
        decision, carry = agent.decide(key, agent.acting(learned), carry, obs, step, early)
        the environment steps
        row, enters = agent.row(coins, transition, decision); if it enters, the replay stores the row
        learned = agent.absorb(key, learned, transition, step)
        every `update_every` steps after the warm-up: learned = agent.learn(key, learned, batches, step)
        every `target_every` steps after the warm-up: learned = agent.sync(learned)
        if the episode ended: carry = agent.begin(key, carry)

`jax_loop` compiles this with an environment in JAX, `gym_loop` and `vector_loop` run it in Gymnasium environments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from adeu.agents.spaces import Spaces
from adeu.core import check
from adeu.core.contract import Array, Decision, Key, Part, Transition
from adeu.core.explorer import Explorer
from adeu.core.value import check_value

Learned = TypeVar("Learned", bound=tuple[Any, ...])
Acting = TypeVar("Acting", bound=tuple[Any, ...])
Row = TypeVar("Row", bound=tuple[Any, ...])
"""NamedTuples that each agent defines; a row has fields `obs` and `next_obs`."""
Coins = Array | NDArray[np.float64] | None
AgentCarry = TypeVar("AgentCarry", bound=tuple[Any, ...])
Hook = Literal["act", "observe", "update"]
HOOKS: tuple[Hook, ...] = get_args(Hook)


class Cadence(NamedTuple):
    """The schedule of updates, in environment steps after the warm-up."""

    update_every: int
    """Steps per call of `learn`."""
    updates: int
    """Minibatches per call of `learn`."""
    target_every: int
    """Steps per call of `sync`, a multiple of `update_every`; 0 disables `sync`."""


@dataclasses.dataclass(frozen=True)
class Agent(Part, Generic[Learned, Acting, Row, AgentCarry]):
    """The interface that every loop uses.

    Args:
        explorer: f, g and D.
        capacity: the maximum number of rows in the replay.
        batch: the number of rows in a minibatch.
    """

    explorer: Explorer
    capacity: int = 100_000
    batch: int = 32
    spaces: Spaces | None = dataclasses.field(default=None, init=False, repr=False)
    """Set by `bind`."""

    offers: ClassVar[Mapping[Hook, frozenset[str]]] = {}
    """The names of the inputs that the agent passes to its explorer in `act`, `observe` and `update`."""

    def __post_init__(self) -> None:
        check.instance(self, "explorer", Explorer)
        check.whole(self, "batch")
        check.whole(self, "capacity", at_least=self.batch)

    @property
    def cadence(self) -> Cadence:
        raise NotImplementedError

    @property
    def coins(self) -> int:
        """The number of uniform draws from [0, 1) passed to `row`; if 0, `row` gets None."""
        return 0

    @property
    def sized(self) -> Spaces:
        """The spaces the agent is bound to; raises a `ValueError` if it is not bound."""
        if self.spaces is None:
            raise ValueError(f"{type(self).__name__} is not bound yet: call bind(observation_space, action_space)")
        return self.spaces

    def bind(self, observation_space: object, action_space: object) -> Self:
        """Returns the agent bound to these spaces, along with its parts; rejects spaces that do not fit."""
        spaces = self.read_spaces(observation_space, action_space)
        bound = super().bind(observation_space, action_space)
        object.__setattr__(bound, "spaces", spaces)
        check_value(bound)
        return bound

    def read_spaces(self, observation_space: object, action_space: object) -> Spaces:
        """Returns the `Spaces` that `bind` stores; rejects spaces that the agent does not support."""
        raise NotImplementedError

    def init(self, key: Key, obs: Array) -> Learned:
        """Returns the initial learned state."""
        raise NotImplementedError

    def begin(self, key: Key, carry: AgentCarry | None = None) -> AgentCarry:
        """Returns the carry for a new episode; `carry` is the last one of the previous episode, or None."""
        raise NotImplementedError

    def acting(self, learned: Learned) -> Acting:
        """Returns the subset of `learned` that decisions use."""
        raise NotImplementedError

    def decide(
        self, key: Key, acting: Acting, carry: AgentCarry, obs: Array, step: Array, early: Array, **given: Any
    ) -> tuple[Decision, AgentCarry]:
        """Returns a decision, with an action in the environment's range, and the new carry.

        Args:
            key: the random key of this decision.
            acting: the result of `acting`.
            carry: the carry of the environment.
            obs: the observation.
            step: the number of environment steps so far.
            early: whether this step is part of the warm-up.
            given: additional inputs for the explorer.
        """
        raise NotImplementedError

    def exploit(self, key: Key, acting: Acting, carry: AgentCarry, obs: Array, step: Array, **given: Any) -> Array:
        """Returns the greedy action, in the environment's range."""
        raise NotImplementedError

    def row(self, coins: Coins, transition: Transition, decision: Decision) -> tuple[Row, Array | bool]:
        """Returns the row to store in the replay, and whether to store it.

        Implementations use operators only, so that they work with numpy and JAX arrays.
        """
        raise NotImplementedError

    def seen(self, batch: Row) -> Transition:
        """Returns a minibatch as transitions for f, with actions in the environment's range.

        The default copies the fields of the same names. Implementations use operators only, like `row`.
        """
        fields: dict[str, Any] = {name: getattr(batch, name) for name in Transition._fields[:5]}
        return Transition(**fields, truncated=fields["terminated"] != fields["terminated"])

    def absorb(self, key: Key, learned: Learned, transition: Transition, step: Array) -> Learned:
        """Learns from a new transition; called once per transition."""
        raise NotImplementedError

    def learn(self, key: Key, learned: Learned, batches: Row, step: Array) -> Learned:
        """Learns from `updates` minibatches, stacked along a leading axis."""
        raise NotImplementedError

    def sync(self, learned: Learned) -> Learned:
        """Copies networks into target networks, for agents with hard target updates."""
        return learned

    def figures(self, learned: Learned) -> dict[str, Array]:
        """Returns numbers to log; the default returns those of f, whose state is in `learned.explorer`."""
        state = getattr(learned, "explorer", None)
        return {} if state is None else self.explorer.f.figures(state.f)


AnyAgent = Agent[Any, Any, Any, Any]
Opaque = tuple[object, ...]
"""The type of agent state that a loop passes between methods without reading it."""
OpaqueAgent = Agent[Opaque, Opaque, Opaque, Opaque]
PAID = "reward"
"""The name of the previous step's reward, 0 in an episode's first step; loops pass it to explorers that need it."""


def check_needs(agent: AnyAgent, also: frozenset[str] = frozenset()) -> None:
    """Rejects an explorer that needs inputs which neither the agent nor its loop (`also`) provides."""
    for hook in HOOKS:
        offered = agent.offers.get(hook, frozenset())
        missing = agent.explorer.needs(hook) - offered - also - ({PAID} if hook == "act" else set())
        if missing:
            takes = f"parts that need no {', '.join(sorted(missing))} in {hook}(): the agent does not provide it"
            check.refuse(agent, "explorer", f"{takes} ({providers(hook, missing)})", agent.explorer)


def needs_reward(agent: AnyAgent) -> bool:
    """Returns whether decisions need the reward of the previous step."""
    return PAID in agent.explorer.needs("act")


def providers(hook: Hook, names: frozenset[str]) -> str:
    """Returns which of adeu's agents provide all of these names, as a phrase for an error message.

    Examples:
        >>> from adeu.agents.agent import providers
        >>> providers("update", frozenset({"td_error"}))
        'agents that do: Dqn, Sac, Td3'
    """
    from adeu import agents

    public = {name: getattr(agents, name) for name in dir(agents)}
    kinds = {name: kind for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, Agent)}
    found = sorted(name for name, kind in kinds.items() if names <= kind.offers.get(hook, frozenset()))
    none = f"none of adeu's; Behavior.{hook} takes it from your loop"
    return f"agents that do: {', '.join(found) or none}"
