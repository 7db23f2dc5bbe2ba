"""Runs an agent in one environment: holds its learned state, carry, replay and random streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

import jax
import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import PAID, Acting, Agent, AgentCarry, AnyAgent, Learned, Row, needs_reward
from adeu.agents.compiling import AgentSteps, compile_agent, own
from adeu.agents.hosting import Hosting
from adeu.agents.reading import Reader
from adeu.agents.replay_numpy import NumpyReplay, RowLayout
from adeu.behavior.storage import arrays_of, tree_of
from adeu.core.contract import Decision, Transition

Arrays = dict[str, NDArray[np.generic]]
SAMPLE, COINS = 0, 1
"""The streams of the replay's random numbers."""
REPLAY = "replay/"
EPISODES = 2**30
"""More episodes than any run has."""


class Player(Generic[Learned, Acting, Row, AgentCarry]):
    """Holds the state of an agent. Random numbers derive from the seed and the step, so no generator state is saved.

    Args:
        agent: bound to the environment's spaces.
        reader: a `Reader` for these spaces.
        seed: the seed of all random numbers.
        warmup: steps before the first update.
        overlap: whether decisions may use the networks before the latest update while it is computed.
        stream: 0 or 1, selects the random numbers drawn at the start of episodes.
    """

    def __init__(
        self,
        agent: Agent[Learned, Acting, Row, AgentCarry],
        reader: Reader,
        seed: int,
        warmup: int,
        overlap: bool = False,
        stream: int = 0,
    ) -> None:
        self.agent, self._reader, self._seed, self._warmup, self._overlap = agent, reader, seed, warmup, overlap
        self._run: AgentSteps[Learned, Acting, AgentCarry] = compile_agent(agent)
        self._key = jax.random.key_data(jax.random.key(seed))
        self._absorbs = "observe" in agent.explorer.learns_from
        self._obs = reader.zeros()
        self._paid = {PAID: np.float32(0.0)} if needs_reward(agent) else {}
        self._learned: Learned = own(self._run.init(self._key, self._obs))
        self._first = stream * EPISODES
        self._carry: AgentCarry = self._run.begin(self._key, np.int32(self._first), None)
        self._previous_acting: Acting | None = None
        self._episode = 0
        self._replay = NumpyReplay(agent.capacity, RowLayout.of(agent), reader.dtype)
        self._hosting = Hosting(agent, reader)

    def begin(self, obs: NDArray[Any]) -> None:
        """Begins an episode."""
        if self._episode:
            self._carry = self._run.begin(self._key, np.int32(self._first + self._episode), self._carry)
        self._episode += 1
        self._obs = obs
        self._set_reward(0.0)
        self._previous_acting = None

    def act(self, step: int, given: Mapping[str, Any]) -> Decision:
        """Returns a decision as numpy arrays; the action is not yet converted by `Reader.action`."""
        acting = self._previous_acting or self.agent.acting(self._learned)
        early = np.bool_(step < self._warmup)
        given = {**given, **self._paid, **self._hosting.compute(self._obs)}
        decision, self._carry = self._run.decide(
            self._key, acting, self._carry, self._obs, np.int32(step), early, given
        )
        numpy = Decision(*map(np.asarray, decision))  # device_get would take longer than the decision
        check_converged(self.agent, f"at step {step + 1} the action", numpy.action)
        return numpy

    def observe(self, transition: Transition, decision: Decision, step: int) -> None:
        """Stores the transition, and learns if an update is due; `step` counts this step."""
        agent, (update_every, _, target_every) = self.agent, self.agent.cadence
        coins = draws(self._seed, step, COINS).random(agent.coins) if agent.coins else None
        row, enters = agent.row(coins, transition, decision)
        if enters or step <= self._warmup or not len(self._replay):  # an empty replay accepts any row
            self._replay.add(row, bool(transition.terminated or transition.truncated))
        trained = step - self._warmup
        if target_every and trained > 0 and (trained - 1) % target_every == 0:
            # Targets must not share buffers with the networks, because the next update donates those.
            self._learned = own(self._run.sync(self._learned))
        if self._absorbs:
            self._learned = self._run.absorb(self._key, self._learned, transition, np.int32(step - 1))
        self._obs = transition.next_obs
        self._set_reward(transition.reward)
        if trained > 0 and trained % update_every == 0:
            self._learn(step)

    def exploit(self, obs: NDArray[Any], given: Mapping[str, Any]) -> NDArray[Any]:
        """Returns the greedy action, without changing any state."""
        acting, given = self.agent.acting(self._learned), {**given, **self._paid, **self._hosting.nothing}
        action = np.asarray(self._run.exploit(self._key, acting, self._carry, obs, given))
        check_converged(self.agent, "the greedy action", action)
        return action

    def arrays(self) -> Arrays:
        """Returns the state between two episodes."""
        check_learned(self.agent, self._learned)
        replay = {REPLAY + name: value for name, value in self._replay.arrays().items()}
        learned = arrays_of((self._learned, self._carry)) | self._hosting.arrays()
        return learned | replay | {"begun": np.array(self._episode)}

    def restore(self, arrays: Arrays) -> None:
        """Restores a state returned by `arrays`."""
        leaves = {name: array for name, array in arrays.items() if name.startswith("leaf_")}
        self._learned, self._carry = own(tree_of(leaves, (self._learned, self._carry)))
        self._replay.restore({n.removeprefix(REPLAY): a for n, a in arrays.items() if n.startswith(REPLAY)})
        self._episode = int(arrays["begun"])
        self._hosting.restore(arrays)

    def figures(self) -> dict[str, float]:
        """Returns the agent's numbers to log."""
        return {name: float(value) for name, value in self.agent.figures(self._learned).items()}

    def check_converged(self) -> None:
        """Raises a `ValueError` if a network is not finite."""
        check_learned(self.agent, self._learned)

    def _set_reward(self, reward: Any) -> None:
        self._paid = dict.fromkeys(self._paid, np.float32(reward))

    def _learn(self, step: int) -> None:
        updates, batch = self.agent.cadence.updates, self.agent.batch
        places = draws(self._seed, step, SAMPLE).integers(len(self._replay), size=updates * batch)
        rows, next_obs = self._replay.read(places, (updates, batch))
        if self._overlap:
            self._previous_acting = self._run.copy(self.agent.acting(self._learned))
        self._learned = self._run.learn(self._key, self._learned, rows, next_obs, np.int32(step))
        if self._hosting.learners:
            self._hosting.learn(self._replay.layout.unpack(rows, next_obs))


def draws(seed: int, step: int, stream: int) -> np.random.Generator:
    """Returns the replay's random generator for a step."""
    return np.random.Generator(np.random.Philox(counter=stream << 128, key=seed + (step << 64)))


def check_converged(agent: AnyAgent, what: str, value: NDArray[Any]) -> None:
    if not np.isfinite(value).all():
        raise ValueError(f"{type(agent).__name__}: training diverged: {what} is {value}")


def check_learned(agent: AnyAgent, learned: object) -> None:
    for leaf in jax.tree.leaves(learned):
        if not np.isfinite(leaf).all():
            raise ValueError(f"{type(agent).__name__}: training diverged: its networks are not finite")
