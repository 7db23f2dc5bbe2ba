"""The table of agents to test. It must contain every exported agent."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import jax
import numpy as np

import adeu
from adeu.agents import Agent, Dqn, Sac, Td3
from adeu.agents.compiling import AgentSteps, VectorSteps, compile_agent, compile_vector, own
from adeu.agents.reading import Reader
from adeu.agents.replay_numpy import NumpyReplay, RowLayout
from adeu.envs import JaxCartPole, JaxDeepSea, Sea
from tests.agents.pendulum import Pendulum

ENVS = 2


class World(NamedTuple):
    """The same environment for every loop."""

    make: Callable[[], Any]
    in_jax: Any

    def vector(self, envs: int = ENVS) -> Any:
        return gymnasium.vector.SyncVectorEnv([self.make] * envs)


SEA = World(functools.partial(gymnasium.make, "adeu/DeepSea-v0", size=3), JaxDeepSea(Sea(size=3)))
POLE = World(functools.partial(gymnasium.make, "CartPole-v1", max_episode_steps=9), JaxCartPole(limit=9))
PENDULUM = World(functools.partial(gymnasium.make, "Pendulum-v1", max_episode_steps=9), Pendulum(limit=9))

SIZES = {"hidden": (4,), "batch": 4, "capacity": 32}
RND = adeu.Rnd(hidden=(4,))


def choosing(f: adeu.Mechanism, D: adeu.Distribution | None = None, **fields: Any) -> Dqn:
    explorer = adeu.Explorer(f, adeu.Saturating(0.5), D or adeu.Bernoulli())
    return Dqn(explorer, target_every=2, **SIZES, **fields)


def moving(f: adeu.Mechanism, D: adeu.Distribution | None = None, **fields: Any) -> Td3:
    explorer = adeu.Explorer(f, adeu.Saturating(0.5), D or adeu.Gaussian())
    return Td3(explorer, **SIZES, **{"policy_delay": 1} | fields)


def entropic(f: adeu.Mechanism, D: adeu.Distribution | None = None, **fields: Any) -> Sac:
    return Sac(adeu.Explorer(f, adeu.Saturating(0.5), D or adeu.Gaussian()), **SIZES, **fields)


class Case(NamedTuple):
    agent: Agent[Any, Any, Any, Any]
    world: World

    @property
    def bound(self) -> Agent[Any, Any, Any, Any]:
        env = self.world.make()
        return self.agent.bind(env.observation_space, env.action_space)

    def updates(self, learned: Any) -> int:
        """Return the number of minibatches the agent has learned from."""
        adam = learned.optimizer.dense if isinstance(self.agent, Dqn) else learned.critics_adam
        return int(adam.updates)


CASES = {
    "dqn-sampled": Case(
        choosing(adeu.EnsembleStd(), ensemble=2, center="sampled", mask_probability=0.5, prior=1.0), POLE
    ),
    "dqn-ucb": Case(
        choosing(adeu.Constant(0.5), adeu.Options(2.0, carried=True), ensemble=2, center="ucb", ucb=1.0), POLE
    ),
    "dqn-heads": Case(choosing(RND, ensemble=2, heads=True, center="sampled", double=True), POLE),
    "dqn-rows": Case(choosing(adeu.Counts(), update_every=2), SEA),
    "td3-policy": Case(moving(adeu.Rollouts(adeu.TdError(), 0.3, 0.2), policy_delay=2), PENDULUM),
    "td3-ucb": Case(moving(adeu.EnsembleStd(), center="ucb", critics=3, candidates=2), PENDULUM),
    "td3-noisy": Case(moving(adeu.Constant(0.0), center="noisy"), PENDULUM),
    "td3-bonus": Case(moving(adeu.Constant(0.1), bonus=RND), PENDULUM),
    "td3-gated": Case(moving(adeu.Constant(0.5), gated=True), PENDULUM),
    "td3-weighted": Case(moving(RND, weighted=True), PENDULUM),
    "td3-colored": Case(moving(adeu.Constant(0.5), adeu.Colored(1.0)), PENDULUM),
    "td3-options": Case(moving(adeu.Constant(0.5), adeu.Options(2.0, carried=True)), PENDULUM),
    "sac-ou": Case(entropic(adeu.Constant(0.5), adeu.OrnsteinUhlenbeck(0.15)), PENDULUM),
    "sac-mean": Case(entropic(adeu.EnsembleStd(), center="mean"), PENDULUM),
    "sac-sample": Case(entropic(adeu.TdError(), center="sample", temperature=0.2, update_every=2), PENDULUM),
}


@dataclasses.dataclass(frozen=True)
class Life:
    """An agent after some steps and updates, with the compiled functions that the loops use."""

    agent: Agent[Any, Any, Any, Any]
    run: AgentSteps[Any, Any, Any]
    together: VectorSteps[Any, Any]
    reader: Reader
    key: Any
    start: Any
    learned: Any
    carry: Any
    carries: Any
    transitions: list[adeu.Transition]
    batches: Any


@functools.cache
def live(name: str) -> Life:
    case = CASES[name]
    agent, env = case.bound, case.world.make()
    run, together, reader = compile_agent(agent), compile_vector(agent, ENVS), Reader(*spaces_of(env))
    key = jax.random.key_data(jax.random.key(3))
    transitions = play(env, reader)
    batches = drawn(agent, transitions)
    start = run.init(key, reader.zeros())
    carry, carries = run.begin(key, np.int32(0), None), together.begin(key, np.int32(0), None, np.ones(ENVS, bool))
    learned = run.absorb(key, start, transitions[0], np.int32(0))
    learned = run.sync(run.learn(key, own(learned), *batches, np.int32(5)))
    return Life(agent, run, together, reader, key, start, learned, carry, carries, transitions, batches)


def spaces_of(env: Any) -> tuple[Any, Any]:
    return env.observation_space, env.action_space


def play(env: Any, reader: Reader, steps: int = 8) -> list[adeu.Transition]:
    """Return transitions of random steps, as a loop passes them to an agent."""
    env.action_space.seed(0)
    obs, found = reader.obs(env.reset(seed=0)[0]), []
    for _ in range(steps):
        action = env.action_space.sample()
        returned, reward, terminated, truncated, _ = env.step(action)
        next_obs = reader.obs(returned)
        ends = np.bool_(terminated), np.bool_(truncated)
        found.append(adeu.Transition(obs, reader.taken(action), reader.number("reward", reward), next_obs, *ends))
        obs = reader.obs(env.reset(seed=0)[0]) if terminated or truncated else next_obs
    return found


def decision_of(transition: adeu.Transition) -> adeu.Decision:
    return adeu.Decision(transition.action, np.bool_(True), np.float32(0.4), np.float32(0.3), np.bool_(True))


def drawn(agent: Agent[Any, Any, Any, Any], transitions: list[adeu.Transition]) -> Any:
    """Return minibatches of rows, as a replay returns them for the compiled `learn`."""
    rng, replay = np.random.default_rng(0), NumpyReplay(len(transitions), RowLayout.of(agent))
    for each in transitions:
        coins = rng.random(agent.coins) if agent.coins else None
        row, _ = agent.row(coins, each, decision_of(each))
        replay.add(row, bool(each.terminated or each.truncated))
    shape = agent.cadence.updates, agent.batch
    return replay.read(rng.integers(len(replay), size=shape[0] * shape[1]), shape)
