"""The warm-up is counted the same way in every loop."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Agent, GymLoop, JaxLoop, VectorLoop
from adeu.agents.agent import Cadence
from adeu.agents.spaces import discrete_spaces
from tests.agents.table import SEA


class Counts(NamedTuple):
    """Counts of the calls to an agent."""

    updates: Any
    first: Any
    """The step of the first update."""
    syncs: Any


class CountingRow(NamedTuple):
    obs: Any
    next_obs: Any


@dataclasses.dataclass(frozen=True)
class Counting(Agent):
    """Count updates, and in the carry the warm-up's decisions; no row enters the replay after the warm-up."""

    batch: int = 1
    update_every: int = 2
    target_every: int = 4

    @property
    def cadence(self):
        return Cadence(self.update_every, 1, self.target_every)

    def read_spaces(self, observation_space, action_space):
        return discrete_spaces(self, observation_space, action_space)

    def init(self, key, obs):
        return Counts(*jnp.zeros((3,), jnp.int32))

    def begin(self, key, carry=None):
        return jnp.zeros((), jnp.int32) if carry is None else carry

    def acting(self, learned):
        return (learned.updates,)

    def decide(self, key, acting, carry, obs, step, early, **given):
        no, zero = jnp.zeros((), bool), jnp.zeros(())
        return adeu.Decision(jnp.zeros((), jnp.int32), no, zero, zero, no), carry + early

    def exploit(self, key, acting, carry, obs, step, **given):
        return jnp.zeros((), jnp.int32)

    def row(self, coins, transition, decision):
        return CountingRow(transition.obs, transition.next_obs), decision.spread > 0

    def absorb(self, key, learned, transition, step):
        return learned

    def learn(self, key, learned, batches, step):
        first = jnp.where(learned.updates == 0, step, learned.first)
        return learned._replace(updates=learned.updates + 1, first=first)

    def sync(self, learned):
        return learned._replace(syncs=learned.syncs + 1)


AGENT = Counting(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli()))


def in_gym(steps, **lengths):
    loop = GymLoop(AGENT, SEA.make(), SEA.make(), steps, seed=0, **lengths)
    while loop.step < steps:
        loop.advance()
    return loop._player._learned, loop._player._carry, len(loop._player._replay)


def in_a_vector(steps, **lengths):
    loop = VectorLoop(AGENT, SEA.vector(1), SEA.make(), steps, **lengths)
    loop.run()
    return loop._learned, loop._carry[0], len(loop._replays[0])


def in_jax(steps, **lengths):
    loop = JaxLoop(AGENT, SEA.in_jax, **lengths)
    state = loop.init(0)
    while state.step < steps:
        state, _ = loop.advance(state)
    return state.learned, state.carry, state.replay.added


@pytest.mark.parametrize("warmup", [0, 8])
def test_the_first_update_is_at_the_same_step_in_every_loop(warmup):
    lengths = {"steps": 16, "warmup": warmup, "evaluate_every": 16, "evaluate_episodes": 1}
    for train in (in_gym, in_a_vector, in_jax):
        learned, early, stored = jax.device_get(train(**lengths))
        assert learned == Counts(updates=(16 - warmup) // 2, first=warmup + 2, syncs=(16 - warmup) // 4)
        assert early == warmup
        assert stored == np.maximum(warmup, 1)  # an empty replay accepts any row


def test_a_compiled_warmup_may_end_between_evaluations():
    learned, early, stored = in_jax(steps=16, warmup=12, evaluate_every=8, evaluate_episodes=1)
    assert jax.device_get(learned) == Counts(updates=2, first=14, syncs=1)
    assert (early, stored) == (12, 12)
