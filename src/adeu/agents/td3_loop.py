"""TD3 for a compiled loop: the rules of `td3`, with the replay beside what is learned."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.agents import actor_critic as nets
from adeu.agents import dqn
from adeu.agents import replay as ring
from adeu.agents.loop import select
from adeu.agents.td3 import Acting, Learner, Rules, Td3
from adeu.core.contract import Array, Carry, Decision, Key, Transition


class Learning(NamedTuple):
    learner: Learner
    replay: ring.Replay


class Actor(NamedTuple):
    """What belongs to the environment."""

    obs: Array
    carry: Carry
    total: Array
    """The reward of the episode so far."""


@functools.lru_cache(maxsize=64)
def scan_rules(td3: Td3, rule: Rules) -> dqn.Rules:
    explorer = td3.explorer

    def acting(learning: Learning) -> Acting:
        return Acting(learning.learner.actor, learning.learner.critics, learning.learner.f)

    def init(key: Key, key_begin: Key, obs: Array) -> tuple[Learning, Actor]:
        learner = rule.init(key, obs)
        no, zero = jnp.zeros((), bool), jnp.zeros(())
        action = jnp.zeros_like(nets.mean_of(learner.actor)[-1][1])
        replay = ring.create(td3.capacity, Transition(obs, action, zero, obs, no, no), 0)
        return Learning(learner, replay), Actor(obs, explorer.begin(key_begin), zero)

    def decide(key: Key, learning: Learning, actor: Actor, step: Array) -> tuple[Decision, Actor]:
        decision, carry = rule.decide(key, acting(learning), actor.carry, actor.obs, step, {})
        return decision, actor._replace(carry=carry)

    def absorb(
        keys: Any, learning: Learning, actor: Actor, transition: Transition, first_obs: Array, step: Array
    ) -> tuple[Learning, Actor]:
        """Takes in a step; where it ended the episode, the next one begins at `first_obs`."""
        _, key_error, key_begin = keys
        scaled = transition._replace(action=rule.scaled(transition.action))
        td_error = rule.td_error(key_error, learning.learner, scaled)  # compiled away where no f asks for it
        f = explorer.observe(learning.learner.f, transition, step=step, td_error=td_error)
        replay = ring.add(learning.replay, scaled._replace(cost=None), jnp.zeros(0, bool))
        begun = Actor(first_obs, explorer.begin(key_begin, actor.carry), jnp.zeros(()))
        gone_on = actor._replace(obs=transition.next_obs, total=actor.total + transition.reward)
        ended = transition.terminated | transition.truncated
        return Learning(learning.learner._replace(f=f), replay), select(ended, begun, gone_on)

    def learn(key: Key, learning: Learning, step: Array) -> Learning:
        key_sample, key_update = jax.random.split(key)
        drawn, _ = ring.sample(learning.replay, key_sample, td3.policy_delay * td3.batch)
        batches = jax.tree.map(lambda value: value.reshape(td3.policy_delay, td3.batch, *value.shape[1:]), drawn)
        return learning._replace(learner=rule.update(key_update, learning.learner, batches, step))

    def exploit(key: Key, learning: Learning, carry: Carry, obs: Array, step: Array) -> Array:
        return rule.exploit(key, acting(learning), carry, obs, step, {})

    def unchanged(learning: Any) -> Any:
        """The targets follow by themselves."""
        return learning

    return dqn.Rules(init, decide, absorb, learn, unchanged, exploit, None, None, None)
