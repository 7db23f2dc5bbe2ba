"""DQN gives f the change of the Q-values by its update."""

import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, GymLoop, Td3
from adeu.agents.dqn import DqnRow

ROWS = 6


def test_value_change_is_q_new_minus_q_old():
    f = adeu.TdError(sigma=1e-3, rate=1.0, signal="value_change")
    explorer = adeu.Explorer(f, adeu.Identity(), adeu.Bernoulli())
    env = gymnasium.make("CartPole-v1")
    agent = Dqn(explorer, hidden=(8,), ensemble=2, prior=0.5).bind(env.observation_space, env.action_space)
    random = np.random.default_rng(0)
    obs, next_obs = random.normal(size=(2, 1, ROWS, 4)).astype(np.float32)
    action, flags = np.arange(ROWS)[None] % 2, np.zeros((1, ROWS), bool)
    batch = DqnRow(obs, action, np.ones((1, ROWS), np.float32), next_obs, flags, np.ones((1, ROWS, 2), bool))

    @jax.jit
    def learn(key):
        before = agent.init(key, jnp.zeros(4))
        after = agent.learn(key, before, batch, jnp.zeros((), int))
        values = [
            agent._q(agent.acting(learned), obs[0])[:, np.arange(ROWS), action[0]] for learned in (before, after)
        ]
        return after.explorer.f, values

    epsilon, (old, new) = learn(jax.random.key(0))
    change = np.abs((np.asarray(new) - np.asarray(old)).mean(axis=0)).mean()
    assert change > 1e-4
    assert epsilon == pytest.approx(np.tanh(change / 2e-3), rel=1e-3)


def test_agents_without_value_change_are_rejected_and_dqn_is_suggested():
    explorer = adeu.Explorer(adeu.TdError(signal="value_change"), adeu.Identity(), adeu.Gaussian())
    pendulum = gymnasium.make("Pendulum-v1")
    takes = "Td3: explorer takes parts that need no value_change in update(): the agent does not provide it"
    with pytest.raises(ValueError, match=re.escape(f"{takes} (agents that do: Dqn)")):
        GymLoop(Td3(explorer), pendulum, pendulum, 1_000, 0)
    states = adeu.Explorer(adeu.TdError(16, signal="value_change"), adeu.Identity(), adeu.Bernoulli())
    lake = gymnasium.make("FrozenLake-v1")
    with pytest.raises(ValueError, match=re.escape("no value_change in observe(): the agent does not provide it")):
        GymLoop(Dqn(states), lake, lake, 1_000, 0)
