"""The update of SAC equals Stable-Baselines3's: equal weights, batch and noise give equal parameters."""

import contextlib

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import stable_baselines3
import torch

import adeu
from adeu.agents import Sac
from adeu.agents.sac import SacRow
from adeu.core import networks as nets
from tests.agents.sb3_parity import BATCH, as_torch, batches, critics_of, linear_layers

EXPLORER = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())


def sb3_agent(hidden, temperature, dtype):
    torch.set_num_threads(1)
    model = stable_baselines3.SAC(
        "MlpPolicy",
        gymnasium.make("Pendulum-v1"),
        ent_coef=temperature,
        learning_rate=3e-4,
        policy_kwargs={"net_arch": list(hidden)},
        device="cpu",
        seed=3,
    )
    model.set_logger(stable_baselines3.common.logger.configure(format_strings=[]))
    model.policy.to(dtype)
    if temperature == "auto":  # it stays float32 by default
        model.log_ent_coef = model.log_ent_coef.detach().to(dtype).requires_grad_(True)
        model.ent_coef_optimizer = torch.optim.Adam([model.log_ent_coef], lr=3e-4)
    return model


def actor_of(actor):
    heads = linear_layers([actor.mu]) + linear_layers([actor.log_std])
    return (
        *linear_layers(actor.latent_pi),
        tuple(np.concatenate(each, axis=-1) for each in zip(*heads, strict=True)),
    )


def parameters_of(model):
    log_temperature = np.zeros(()) if model.log_ent_coef is None else model.log_ent_coef.detach().numpy()[0].copy()
    return actor_of(model.actor), critics_of(model.critic), critics_of(model.critic_target), log_temperature


@pytest.mark.parametrize(
    ("dtype", "updates", "hidden", "temperature", "tolerance"),
    [
        ("float32", 1, (64, 64), "auto", 1e-5),
        ("float64", 100, (48, 32), "auto", 1e-9),
        ("float64", 5, (8,), 0.2, 1e-9),
    ],
)
def test_updates_equal_those_of_stable_baselines3(dtype, updates, hidden, temperature, tolerance, monkeypatch):
    if dtype == "float64":  # the only place that casts to float32
        monkeypatch.setattr("stable_baselines3.common.policies.preprocess_obs", lambda obs, *_, **__: obs)
    model = sb3_agent(hidden, temperature, getattr(torch, dtype))
    data = batches(updates, dtype)
    before = parameters_of(model)
    torch.manual_seed(5)
    noise = [
        [torch.empty(BATCH, 1, dtype=getattr(torch, dtype)).normal_().numpy() for _ in range(2)] for _ in data.obs
    ]
    torch.manual_seed(5)
    stream = as_torch(data)
    model.replay_buffer.sample = lambda size, env: next(stream)
    model.train(updates, BATCH)

    with jax.enable_x64(True) if dtype == "float64" else contextlib.nullcontext():
        sac = Sac(EXPLORER, hidden=hidden, temperature=temperature)
        sac = sac.bind(model.observation_space, model.action_space)
        learned = jax.eval_shape(sac.init, jax.random.key(0), jnp.zeros(3))  # all its values come from SB3
        actor, critics, critics_target, log_temperature = jax.tree.map(jnp.asarray, before)
        learned = learned._replace(
            actor=actor,
            critics=critics,
            critics_target=critics_target,
            log_temperature=log_temperature,
            actor_adam=nets.adam_init(actor),
            critics_adam=nets.adam_init(critics),
            temperature_adam=nets.adam_init(log_temperature),
        )
        improve = jax.jit(sac.improve)
        for number in range(updates):
            batch = SacRow(*(jnp.asarray(value[number]) for value in data[:5]))
            learned = improve(learned, batch, jnp.asarray(np.stack(noise[number])), 0)
        ours = jax.device_get((learned.actor, learned.critics, learned.critics_target, learned.log_temperature))

    names = jax.tree.leaves(jax.tree.map(lambda _: True, ours))
    assert len(names) == len(jax.tree.leaves(before))
    for mine, theirs, start in zip(*map(jax.tree.leaves, (ours, parameters_of(model), before)), strict=True):
        assert np.abs(mine - theirs).max() < tolerance
        assert np.ndim(mine) == 0 or np.abs(mine - start).max() > 0
