"""SAC: its two centers, its temperature, learning, and bad settings."""

import dataclasses
import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import GymLoop, Sac
from adeu.agents.sac import mean_action, sample

STILL = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Gaussian())
BOX = gymnasium.spaces.Box(-1.0, 1.0, (3,))
RANGE = gymnasium.spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 1.0], np.float32))
SMALL = Sac(STILL, hidden=(8,), batch=4, capacity=100)


def decisions(sac, count=400):
    bound = sac.bind(BOX, RANGE)
    obs, no = jnp.array([0.3, -0.2, 0.9]), jnp.zeros((), bool)
    learned, carry = bound.init(jax.random.key(0), obs), bound.begin(jax.random.key(1))

    def decide(key):
        return bound.decide(key, bound.acting(learned), carry, obs, jnp.zeros((), int), no)[0]

    return learned, obs, jax.jit(jax.vmap(decide))(jax.random.split(jax.random.key(2), count))


def test_with_the_mean_as_center_and_no_spread_the_action_is_the_mean():
    learned, obs, decision = decisions(SMALL)
    center = np.array([0.0, 0.5]) + np.array([2.0, 0.5]) * mean_action(learned.actor, obs)
    assert np.asarray(decision.action) == pytest.approx(np.tile(center, (400, 1)), abs=1e-6)
    assert not decision.explored.any()


def test_with_a_sample_as_center_noise_is_added_to_the_draw():
    """The sample is tanh of a normal draw; with a spread, D adds its noise."""
    learned, obs, decision = decisions(dataclasses.replace(SMALL, center="sample"))
    noise = np.random.default_rng(0).normal(size=(20_000, 2)).astype(np.float32)
    expected = np.asarray(jax.vmap(sample, (None, None, 0))(learned.actor, obs, noise)[0])
    scaled = (np.asarray(decision.action) - [0.0, 0.5]) / [2.0, 0.5]
    error = 4 * np.std(expected, axis=0) / 20  # 4 standard errors of a mean of 400
    assert (np.abs(scaled.mean(axis=0) - np.mean(expected, axis=0)) < error).all()
    assert scaled.std(axis=0) == pytest.approx(np.std(expected, axis=0), rel=0.2)
    assert decision.explored.all()
    noisy = dataclasses.replace(STILL, f=adeu.Constant(0.5))
    _, _, wider = decisions(dataclasses.replace(SMALL, center="sample", explorer=noisy))
    added = np.asarray(wider.action - decision.action)  # the same keys give the same draws
    assert np.abs(added).mean(axis=0) == pytest.approx([0.6, 0.15], rel=0.35)  # reduced by clipping


def test_the_density_integrates_to_one():
    """The integral of exp(log pi) over the actions is 1."""
    layers = ((jnp.zeros((1, 2)), jnp.array([0.3, -0.5])),)
    noise = jnp.linspace(-6, 6, 200_001)[:, None]
    action, log_prob = sample(layers, jnp.zeros((200_001, 1)), noise)
    density = np.exp(np.asarray(log_prob, np.float64))
    assert np.trapezoid(density, np.asarray(action[:, 0], np.float64)) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("target", "rises"), [(50.0, True), (-50.0, False)])
def test_the_temperature_moves_towards_the_target_entropy(target, rises):
    bound = dataclasses.replace(SMALL, target_entropy=target).bind(BOX, RANGE)
    learned = bound.init(jax.random.key(0), jnp.zeros(3))
    shapes = bound.row(None, adeu.Transition(*map(np.zeros, (3, 2, (), 3, (), ()))), None)[0]
    batches = type(shapes)(*(jnp.ones((1, 4, *np.shape(value))) for value in shapes))
    after = jax.jit(bound.learn)(jax.random.key(1), learned, batches, 0)
    assert (float(after.log_temperature) > 0) == rises
    fixed = dataclasses.replace(bound, temperature=0.2).bind(BOX, RANGE)
    assert float(jax.jit(fixed.learn)(jax.random.key(1), learned, batches, 0).log_temperature) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 105))
def test_it_learns_to_swing_a_pendulum_up(seed):
    """Reach a mean return of -200 over 20 greedy episodes within 10,000 steps."""
    sac = Sac(STILL, learning_rate=1e-3, center="sample")
    env, other = gymnasium.make("Pendulum-v1"), gymnasium.make("Pendulum-v1")
    loop = GymLoop(sac, env, other, 10_000, seed=seed, warmup=1_000, evaluate_every=1_000, evaluate_episodes=20)
    best = -np.inf
    while loop.step < loop.steps and best < -200:
        best = max([best, *(row["return"] for row in loop.advance()[0])])
    assert best >= -200


BAD = [
    ({"center": "mode"}, "Sac: center takes 'mean' or 'sample', got 'mode'"),
    ({"temperature": "fixed"}, "Sac: temperature takes 'auto', got 'fixed'"),
    ({"temperature": -1.0}, "Sac: temperature takes a finite number >= 0, got -1.0"),
    ({"critics": 1}, "Sac: critics takes a whole number >= 2, got 1"),
    ({"tau": 0.0}, "Sac: tau takes a finite number > 0 and <= 1, got 0.0"),
    ({"batch": 200}, "Sac: capacity takes a whole number >= 200, got 100"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_settings_are_rejected(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        dataclasses.replace(SMALL, **changed)


def test_bad_spaces_are_rejected():
    with pytest.raises(ValueError, match="Sac: action space takes a Box of one dimension, not empty, got Discrete"):
        SMALL.bind(BOX, gymnasium.spaces.Discrete(2))
