"""The contract of an agent: like a part, it is a value.

An `Agent` is a frozen dataclass. Its fields are its hyper-parameters and its `Explorer`, its methods are pure
functions, and what it learns is kept outside it, in values of three kinds:

- *learned*: networks, optimisers, targets, the explorer's state. `absorb`, `learn` and `sync` return a new one.
- *acting*: the part of *learned* that a decision reads.
- *carry*: belongs to one environment. `begin` starts an episode's, `decide` returns a new one.

A loop owns the environment, the replay, the warm-up, the evaluation and the random keys:

    learned, carry = agent.init(key, obs), agent.begin(key)
    each step:
        decision, carry = agent.decide(key, agent.acting(learned), carry, obs, step, early)
        the environment steps
        row, enters = agent.row(coins, transition, decision); if it enters, the replay stores the row
        learned = agent.absorb(key, learned, transition, step)
        every `update_every` steps after the warm-up: learned = agent.learn(key, learned, batches, step)
        every `target_every` steps after the warm-up: learned = agent.sync(learned)
        where the episode ended: carry = agent.begin(key, carry)

`jax_loop` compiles this with an environment in JAX, `gym_loop` and `vector_loop` run it in Gymnasium environments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

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


class Cadence(NamedTuple):
    """When an agent learns, in environment steps after the warm-up."""

    update_every: int
    """Steps per call of `learn`."""
    updates: int
    """Minibatches in one call of it."""
    target_every: int
    """Steps per call of `sync`, a multiple of `update_every`; 0: it is not called."""


@dataclasses.dataclass(frozen=True)
class Agent(Part, Generic[Learned, Acting, Row, AgentCarry]):
    """The interface that every loop uses.

    Args:
        explorer: f, g and D.
        capacity: how many rows the replay holds.
        batch: how many rows a minibatch has.
    """

    explorer: Explorer
    capacity: int = 100_000
    batch: int = 32
    spaces: Spaces | None = dataclasses.field(default=None, init=False, repr=False)
    """Filled in by `bind`."""

    offers: ClassVar[Mapping[Hook, frozenset[str]]] = {}
    """What the agent gives its explorer in `act`, `observe` and `update`."""

    def __post_init__(self) -> None:
        check.instance(self, "explorer", Explorer)
        check.whole(self, "batch")
        check.whole(self, "capacity", at_least=self.batch)

    @property
    def cadence(self) -> Cadence:
        raise NotImplementedError

    @property
    def coins(self) -> int:
        """How many uniform draws from [0, 1) `row` takes; with 0, it gets None."""
        return 0

    @property
    def sized(self) -> Spaces:
        """The spaces it is bound to."""
        if self.spaces is None:
            raise ValueError(f"{type(self).__name__} is not bound yet: call bind(observation_space, action_space)")
        return self.spaces

    def bind(self, observation_space: object, action_space: object) -> Self:
        """The agent for these spaces, its parts bound too. Rejects what does not fit, before compiling."""
        spaces = self.read_spaces(observation_space, action_space)
        bound = super().bind(observation_space, action_space)
        object.__setattr__(bound, "spaces", spaces)
        check_value(bound)
        return bound

    def read_spaces(self, observation_space: object, action_space: object) -> Spaces:
        """What `bind` keeps of the spaces; rejects spaces that the agent does not take."""
        raise NotImplementedError

    def init(self, key: Key, obs: Array) -> Learned:
        """What is learned, before any experience."""
        raise NotImplementedError

    def begin(self, key: Key, carry: AgentCarry | None = None) -> AgentCarry:
        """The carry an episode starts with; `carry` is what the last one left, None before the first."""
        raise NotImplementedError

    def acting(self, learned: Learned) -> Acting:
        """What a decision reads."""
        raise NotImplementedError

    def decide(
        self, key: Key, acting: Acting, carry: AgentCarry, obs: Array, step: Array, early: Array, **given: Any
    ) -> tuple[Decision, AgentCarry]:
        """Decides on an action, as the environment takes it.

        Args:
            key: of this decision.
            acting: what `acting` returned.
            carry: the environment's.
            obs: the observation.
            step: environment steps so far.
            early: whether the step belongs to the warm-up.
            given: passed on to the explorer.
        """
        raise NotImplementedError

    def exploit(self, key: Key, acting: Acting, carry: AgentCarry, obs: Array, step: Array, **given: Any) -> Array:
        """The greedy action, as the environment takes it."""
        raise NotImplementedError

    def row(self, coins: Coins, transition: Transition, decision: Decision) -> tuple[Row, Array | bool]:
        """What the replay stores of a step, and whether it does; uses operators only, to work in numpy and JAX."""
        raise NotImplementedError

    def seen(self, batch: Row) -> Transition:
        """A minibatch as f sees it, with actions in the environment's range; with operators alone, as `row`.

        Left alone, the fields of that name.
        """
        fields: dict[str, Any] = {name: getattr(batch, name) for name in Transition._fields[:5]}
        return Transition(**fields, truncated=fields["terminated"] != fields["terminated"])

    def absorb(self, key: Key, learned: Learned, transition: Transition, step: Array) -> Learned:
        """Learns from a new transition; called once for each."""
        raise NotImplementedError

    def learn(self, key: Key, learned: Learned, batches: Row, step: Array) -> Learned:
        """Learns from `updates` minibatches, stacked along a leading axis."""
        raise NotImplementedError

    def sync(self, learned: Learned) -> Learned:
        """Copies networks into target networks, for agents with hard target updates."""
        return learned

    def figures(self, learned: Learned) -> dict[str, Array]:
        """Numbers to log; by default those of f, whose state is in `learned.explorer`."""
        state = getattr(learned, "explorer", None)
        return {} if state is None else self.explorer.f.figures(state.f)


AnyAgent = Agent[Any, Any, Any, Any]
Opaque = tuple[object, ...]
"""What a loop passes from one method of its agent to another."""
OpaqueAgent = Agent[Opaque, Opaque, Opaque, Opaque]
PAID = "reward"
"""What every loop gives an explorer that needs it: the reward of the step before, 0 in an episode's first."""


def check_needs(agent: AnyAgent, also: frozenset[str] = frozenset()) -> None:
    """Rejects an explorer that needs names which neither the agent nor its loop (`also`) gives."""
    for hook, offered in agent.offers.items():
        missing = agent.explorer.needs(hook) - offered - also - ({PAID} if hook == "act" else set())
        if missing:
            names = ", ".join(sorted(missing))
            others = ", ".join(_giving(hook, missing)) or "none of adeu's"
            takes = f"parts that need no {names} in {hook}(): the agent does not give it (agents that do: {others})"
            check.refuse(agent, "explorer", takes, agent.explorer)


def needs_reward(agent: AnyAgent) -> bool:
    """Whether a decision takes the reward of the step before."""
    return PAID in agent.explorer.needs("act")


def _giving(hook: Hook, names: frozenset[str]) -> list[str]:
    """The agents that give all of the names."""
    from adeu import agents

    public = {name: getattr(agents, name) for name in dir(agents)}
    kinds = {name: kind for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, Agent)}
    return sorted(name for name, kind in kinds.items() if names <= kind.offers.get(hook, frozenset()))
