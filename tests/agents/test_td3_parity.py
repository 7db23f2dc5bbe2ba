"""The update of TD3 equals Stable-Baselines3's: equal weights, batch and noise give equal parameters."""

import contextlib

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.type_aliases import ReplayBufferSamples

import adeu
from adeu.agents import Td3
from adeu.agents.td3 import Td3Row
from adeu.core import networks as nets

BATCH = 256


def sb3_agent(delay, hidden, dtype):
    torch.set_num_threads(1)  # for networks this small, two threads are slower
    env = gymnasium.make("Pendulum-v1")
    policy = {"net_arch": list(hidden)}
    model = stable_baselines3.TD3(
        "MlpPolicy", env, policy_delay=delay, learning_rate=3e-4, policy_kwargs=policy, device="cpu", seed=3
    )
    model.set_logger(stable_baselines3.common.logger.configure(format_strings=[]))
    model.policy.to(dtype)
    return model


def linear_layers(network):
    """Return transposed copies: torch changes the weights in place."""
    layers = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    return [tuple(value.detach().numpy().T.copy() for value in (layer.weight, layer.bias)) for layer in layers]


def actor_of(actor):
    return tuple(linear_layers(actor.mu))


def critics_of(critic):
    stacked = []
    for number, both in enumerate(zip(*map(linear_layers, critic.q_networks), strict=True)):
        weights, biases = zip(*both, strict=True)
        stacked.append((np.stack(weights, axis=1 if number == 0 else 0), np.stack(biases)))
    return tuple(stacked)


def parameters_of(model):
    actors = actor_of(model.actor), actor_of(model.actor_target)
    return (actors[0], critics_of(model.critic), actors[1], critics_of(model.critic_target))


def batches(number, dtype):
    rng = np.random.default_rng(0)
    shape = number, BATCH
    return Td3Row(
        rng.normal(size=(*shape, 3)).astype(dtype),
        rng.uniform(-1, 1, size=(*shape, 1)).astype(dtype),
        rng.normal(size=shape).astype(dtype),
        rng.normal(size=(*shape, 3)).astype(dtype),
        rng.random(shape) < 0.2,
    )


def as_torch(data):
    for obs, action, reward, next_obs, terminated in zip(*data, strict=True):
        column = (torch.from_numpy(value)[:, None] for value in (terminated.astype(reward.dtype), reward))
        yield ReplayBufferSamples(*map(torch.from_numpy, (obs, action, next_obs)), *column)


@pytest.mark.parametrize(
    ("dtype", "updates", "delay", "hidden", "tolerance"),
    [("float32", 1, 1, (256, 256), 1e-5), ("float64", 100, 2, (48, 32), 1e-9)],
)
def test_updates_equal_those_of_stable_baselines3(dtype, updates, delay, hidden, tolerance, monkeypatch):
    if dtype == "float64":  # the only place that casts to float32
        monkeypatch.setattr("stable_baselines3.common.policies.preprocess_obs", lambda obs, *_, **__: obs)
    model = sb3_agent(delay, hidden, getattr(torch, dtype))
    data = batches(updates, dtype)
    before = parameters_of(model)
    torch.manual_seed(5)
    draw = torch.empty(BATCH, 1, dtype=getattr(torch, dtype))
    noise = np.stack([draw.normal_(0, model.target_policy_noise).numpy().copy() for _ in range(updates)])
    torch.manual_seed(5)
    stream = as_torch(data)
    model.replay_buffer.sample = lambda size, env: next(stream)
    model.train(updates, BATCH)

    with jax.enable_x64(True) if dtype == "float64" else contextlib.nullcontext():
        explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        td3 = Td3(explorer, hidden=hidden, policy_delay=delay).bind(model.observation_space, model.action_space)
        learned = jax.eval_shape(td3.init, jax.random.key(0), jnp.zeros(3))  # all its values come from SB3
        actor, critics, actor_target, critics_target = jax.tree.map(jnp.asarray, before)
        learned = learned._replace(
            actor=actor,
            critics=critics,
            actor_target=actor_target,
            critics_target=critics_target,
            actor_adam=nets.adam_init(actor),
            critics_adam=nets.adam_init(critics),
        )
        improve = jax.jit(td3.improve)
        for first in range(0, updates, delay):
            part = jax.tree.map(lambda value, first=first: jnp.asarray(value[first : first + delay]), data)
            given = jnp.asarray(noise[first : first + delay] / td3.policy_noise)
            learned = improve(jax.random.key(1), learned, part, given, 0)
        ours = jax.device_get((learned.actor, learned.critics, learned.actor_target, learned.critics_target))

    for mine, theirs, start in zip(*map(jax.tree.leaves, (ours, parameters_of(model), before)), strict=True):
        assert mine.dtype == theirs.dtype == dtype
        assert np.abs(mine - theirs).max() < tolerance
        assert np.abs(mine - start).max() > 0
