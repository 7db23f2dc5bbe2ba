"""Functions and parts with an import path, like those of a user."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import adeu


def first_entry(obs):
    return jnp.abs(obs[0])


def host_norm(obs):
    return np.linalg.norm(obs, axis=1)


@dataclasses.dataclass(frozen=True)
class Distance(adeu.Mechanism):
    """A minimal f of a user."""

    scale: float = 1.0

    def measure(self, key, state, carry, obs, **given):
        return self.scale * jnp.sum(jnp.abs(obs)), carry


@dataclasses.dataclass(frozen=True)
class Rarest(adeu.Distribution):
    """A user's D that learns: it explores with the action taken least so far, a few times per episode."""

    times: int = 3
    num_actions: int = 0

    def bind(self, observation_space, action_space):
        return dataclasses.replace(self, num_actions=int(action_space.n))

    def init(self, key, obs):
        return jax.random.uniform(key, (self.num_actions,))  # to break ties

    def begin(self, key, carry=None):
        return jnp.zeros((), jnp.int32)

    def sample(self, key, state, carry, center, spread, action_mask=None, **given):
        allowed = True if action_mask is None else action_mask
        explored = jax.random.bernoulli(key, spread) & (carry < self.times)
        rarest = jnp.argmin(jnp.where(allowed, state, jnp.inf))
        best = jnp.argmax(jnp.where(allowed, center, -jnp.inf))
        return jnp.where(explored, rarest, best), explored, carry + explored

    def impose(self, state, active, action, center, action_mask):
        return jnp.where(active, jnp.arange(self.num_actions) == action, center), action_mask

    def observe(self, state, transition, **given):
        return state.at[transition.action].add(1.0)


@dataclasses.dataclass(frozen=True)
class Mentor(adeu.Guard):
    """A user's guard that learns: where f is high, it takes the action with the highest reward, a few times."""

    threshold: float = 0.4
    times: int = 2
    num_actions: int = 0

    def bind(self, observation_space, action_space):
        return dataclasses.replace(self, num_actions=int(action_space.n))

    def init(self, key, obs):
        return jax.random.uniform(key, (self.num_actions,))

    def begin(self, key, carry=None):
        return jnp.zeros((), jnp.int32)

    def __call__(self, state, carry, obs, uncertainty, **given):
        active = (uncertainty > self.threshold) & (carry < self.times)
        return active, jnp.argmax(state), carry + active

    def update(self, state, batch, **given):
        return state.at[batch.action].add(batch.reward)


class Hosted:
    """A user's object with host functions and a state."""

    def __init__(self):
        self.batches = 0

    def compute(self, obs):
        return np.linalg.norm(obs, axis=1)

    def learn(self, batch):
        self.batches += 1

    def state(self):
        return {"batches": self.batches}

    def set_state(self, state):
        self.batches = state["batches"]


_HOSTED = Hosted()
LAMBDA = adeu.from_function(lambda obs: jnp.linalg.norm(obs))
HOSTED = adeu.from_host(_HOSTED.compute, _HOSTED.learn, state=_HOSTED.state, set_state=_HOSTED.set_state)
NESTED = adeu.Rollouts(adeu.Sum((LAMBDA, adeu.from_function(first_entry))), rho=0.1, c=0.5)
FAR = Distance(scale=10.0)
