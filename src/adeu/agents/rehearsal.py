"""Checks an agent against an environment's spaces, without compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents.agent import PAID, AnyAgent, Opaque, OpaqueAgent, check_needs, needs_reward
from adeu.agents.hosting import agent_hosts
from adeu.agents.reading import Reader
from adeu.agents.replay_numpy import RowLayout
from adeu.core.contract import Key, Transition

if TYPE_CHECKING:
    from gymnasium import Space


def rehearse(agent: AnyAgent, observation_space: Space[Any], action_space: Space[Any]) -> None:
    """Binds the agent and traces a decision and an update; raises an error if the agent or explorer does not fit."""
    bound: OpaqueAgent = agent.bind(observation_space, action_space)
    reader = Reader(observation_space, action_space)
    outside = {host.name: jnp.zeros(()) for host in agent_hosts(bound)}
    check_needs(bound, frozenset(outside))
    outside |= {PAID: jnp.zeros(())} if needs_reward(bound) else {}
    obs, layout = reader.zeros(), RowLayout.of(bound)

    def step(key: Key) -> Opaque:
        learned, carry, no = bound.init(key, jnp.asarray(obs)), bound.begin(key), jnp.zeros((), bool)
        acting, seen = bound.acting(learned), jnp.asarray(obs)
        decision, _ = bound.decide(key, acting, carry, seen, jnp.zeros((), int), no, **outside)
        transition = Transition(obs, decision.action, jnp.zeros(()), obs, no, no)
        learned = bound.absorb(key, learned, transition, jnp.zeros((), int))
        shape = bound.cadence.updates, bound.batch
        rows, next_obs = jnp.zeros((*shape, layout.width)), jnp.zeros((*shape, max(np.size(obs), 1)))
        return bound.learn(key, learned, layout.unpack(rows, next_obs), jnp.zeros((), int))

    jax.eval_shape(step, jax.random.key(0))
