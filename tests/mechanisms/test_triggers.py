"""Triggers equal the plain ones in `tests.switching` given the same random numbers, and keep their rate."""

import functools
import re
from typing import ClassVar

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, GymLoop, JaxLoop, VectorLoop
from adeu.agents.jax_trace import trace_episode
from adeu.envs import JaxCartPole
from tests import switching

STEPS, EPISODE, ACTIONS, SIZE = 3000, 30, 3, 2
RECIPES = adeu.recipes
EXPLORERS = {
    "chance": RECIPES.blind_chance(0.05, duration=4),
    "chance-random": RECIPES.blind_chance(0.05, duration=4, random=True, start="explore"),
    "chance-episodes": RECIPES.blind_chance(0.3, duration=2, per="episode"),
    "chance-episodes-random": RECIPES.blind_chance(0.3, duration=2, random=True, per="episode", start="explore"),
    "every": RECIPES.blind_every(70, duration=10),
    "every-episodes": RECIPES.blind_every(3, per="episode"),
    "promise": RECIPES.value_promise(0.05, k=3, gamma=0.9, duration=3),
    "promise-random": RECIPES.value_promise(0.05, k=7, gamma=0.9, duration=5, random=True, start="explore"),
    "td": adeu.Explorer(
        adeu.Triggered(adeu.Homeostasis(adeu.ValuePromise(3, 0.9, "td"), 0.05)), adeu.Identity(), adeu.Bernoulli()
    ),
    "vdsc": RECIPES.vdsc(0.1, k=3, gamma=0.9, counts=adeu.HashCounts(bits=4), duration=3),
}


def world():
    """Return the inputs of each step: Q-values of two critics, rewards, observations."""
    random = np.random.default_rng(0)
    drawn = [random.normal(size=shape) for shape in ((STEPS, 2, ACTIONS), STEPS, (STEPS, SIZE))]
    return [x.astype(np.float32) for x in drawn]


@functools.partial(jax.jit, static_argnames="explorer")
def behave(explorer, state, keys, q, rewards, obs):
    """Return the actions, whether they explore, and f(s)."""

    def step(before, given):
        (state, carry), (number, key, q, reward, obs) = before, given
        begins = number % EPISODE == 0
        carry = jax.tree.map(
            lambda new, old: jnp.where(begins & (number > 0), new, old), explorer.begin(key, carry), carry
        )
        paid = jnp.where(begins, 0.0, reward)
        made, carry = explorer.act(key, state, carry, obs, q.mean(axis=0), q_values=q, reward=paid)
        transition = adeu.Transition(obs, made.action, 0.0, obs, False, False)
        return (explorer.observe(state, transition), carry), (made.action, made.explored, made.uncertainty)

    start = state, explorer.begin(keys[0])
    return jax.lax.scan(step, start, (jnp.arange(STEPS), keys, q, rewards, obs))[1]


@functools.partial(jax.jit, static_argnames="f")
def draws(f, keys):
    """Return the draws of `Triggered` and `Bernoulli` for each key: the coin, the length of the period, the action,
    and the length at the start of an episode.
    """

    def length(key):
        return jax.random.geometric(key, 1 / f.duration) if f.random else jnp.asarray(f.duration)

    def one(key):
        key_f, key_D = jax.random.split(key)
        _, key_coin, key_length = jax.random.split(key_f, 3)
        action = jax.random.categorical(jax.random.split(key_D)[1], jnp.zeros(ACTIONS))
        begun = length(jax.random.split(jax.random.split(key)[0])[1])
        return jax.random.uniform(key_coin), length(key_length), action, begun

    return jax.vmap(one)(keys)


def plain(name, state, keys):
    """Return the actions, and whether they explore, of the plain triggers."""
    f, (q, rewards, obs) = EXPLORERS[name].f, world()
    coins, lengths, uniform, begun = (np.asarray(x).tolist() for x in draws(f, keys))
    modes, method, count, rows = switching.Modes(f.per, f.start), name.partition("-")[0], 0, []
    promise = switching.Promise(7 if name == "promise-random" else 3, 0.9, "td" if method == "td" else "promise")
    rate, second = switching.Rate(0.05), switching.Rate(0.05)
    counts = switching.SimHash(np.asarray(state.f[0][1][0].projection)) if method == "vdsc" else None
    for t in range(STEPS):
        first, values = t % EPISODE == 0, q[t].astype(float).mean(axis=0)
        if first:
            modes.begin(begun[t])
            promise.begin()
        if method == "chance":
            chance = f.trigger.c
        elif method == "every":
            count += f.per == "step" or first
            chance = float(count % f.trigger.n == 0)
        else:
            chance = rate.chance(promise.signal(values.max(), 0.0 if first else float(rewards[t])))
        if counts is not None:
            chance += second.chance(counts.signal(obs[t]))
        explores = modes.explores(coins[t], chance, lengths[t])
        rows.append((uniform[t] if explores else int(values.argmax()), explores))
    return np.array(rows).T


@pytest.mark.parametrize("name", EXPLORERS)
def test_triggers_equal_the_plain_ones(name):
    explorer, keys = EXPLORERS[name], jax.random.split(jax.random.key(3), STEPS)
    state = explorer.init(jax.random.key(1), np.zeros(SIZE, np.float32))
    action, explored, uncertainty = map(np.asarray, behave(explorer, state, keys, *world()))
    theirs = plain(name, state, keys)
    assert (explored == theirs[1]).all()
    assert (action == theirs[0]).all()
    assert (uncertainty == explored).all()  # f is 0 or c
    assert 0.02 * STEPS < explored.sum() < 0.7 * STEPS


def test_homeostasis_keeps_the_rate_over_six_orders_of_magnitude():
    """Count the steps of 20,000 with a coin below the chance, at 7 scales of four signals, one of them falling."""
    steps, rate = 20_000, 0.05
    random = np.random.default_rng(1)
    signals = np.stack(
        [
            random.uniform(size=steps),
            np.abs(random.normal(size=steps)),
            random.uniform(size=steps) < 0.3,
            random.uniform(size=steps) / np.arange(1, steps + 1) ** 0.5,
        ]
    )
    scales = 10.0 ** np.arange(-3, 4)
    f = adeu.Homeostasis(adeu.from_function(lambda obs: obs), rate)

    @jax.jit
    @jax.vmap
    def chances(signal):
        def step(carry, x):
            chance, carry = f.measure(jax.random.key(0), ((),), carry, x)
            return carry, chance

        return jax.lax.scan(step, f.begin(jax.random.key(0)), signal)[1]

    scaled = (scales[:, None, None] * signals).astype(np.float32).reshape(-1, steps)
    found = np.asarray(chances(scaled)).reshape(len(scales), len(signals), steps)
    switched = random.uniform(size=found.shape) < found
    np.testing.assert_allclose(switched.mean(axis=2), rate, rtol=0.2)
    np.testing.assert_allclose(found, np.broadcast_to(found[3], found.shape), rtol=2e-2)
    # The chance is high where the signal is.
    assert (found[:, 1, np.argsort(signals[1])[-2000:]].mean(axis=1) > 3 * rate).all()


def test_an_outlier_does_not_end_exploration():
    """The exponential of a thousand standard deviations overflows."""
    f = adeu.Homeostasis(adeu.from_function(lambda obs: obs), 1e-4)
    carry = f.begin(jax.random.key(0))._replace(tau=1e6, mean=1.0, variance=1e-6)
    first, carry = f.measure(jax.random.key(0), ((),), carry, jnp.array(1e3))
    then, _ = f.measure(jax.random.key(0), ((),), carry, jnp.array(1.0))
    assert first == 1.0
    assert np.isfinite(then)


def test_hash_counts_group_vectors_by_their_side_of_planes():
    f = adeu.HashCounts(bits=12, beta=0.5)
    here, there = jnp.array([1.0, 0.2]), jnp.array([-1.0, 0.3])
    state = f.init(jax.random.key(0), here)
    for _ in range(3):
        state = f.observe(state, adeu.Transition(here, 0, 0.0, there, False, False))
    measured = [float(f.measure(jax.random.key(0), state, (), obs)[0]) for obs in (here, 3 * here, there)]
    assert measured == pytest.approx([1.0, 1.0, 2.0])


class Paid(adeu.Mechanism):
    """Measure f(s) = |R| of the previous step."""

    def measure(self, key, state, carry, obs, *, reward, **given):
        return jnp.abs(reward), carry


PAID = adeu.Explorer(Paid(), adeu.Identity(), adeu.Bernoulli())
DQN = Dqn(PAID, hidden=(4,), batch=4, capacity=300, update_every=50, target_every=50)


def cart_pole():
    return gymnasium.make("CartPole-v1")


class TestPreviousReward:
    """The reward is 1 in CartPole, and 0 in the first step of an episode."""

    def test_in_one_environment(self):
        loop = GymLoop(DQN, cart_pole(), cart_pole(), 200, 0, warmup=150, evaluate_every=200, recorded=True)
        firsts = []
        while loop.step < 200:
            firsts.append(loop.step)
            loop.advance()
        assert (np.flatnonzero(loop.spreads == 0) == firsts).all()
        assert set(loop.spreads) == {0.0, 1.0}

    @pytest.mark.parametrize(
        "mode", [gymnasium.vector.AutoresetMode.NEXT_STEP, gymnasium.vector.AutoresetMode.SAME_STEP]
    )
    def test_in_a_vector(self, mode):
        envs = gymnasium.vector.SyncVectorEnv([cart_pole] * 2, autoreset_mode=mode)
        loop = VectorLoop(DQN, envs, cart_pole(), 300, warmup=300, evaluate_every=300)
        rows = loop.run()
        begun = 2 + loop.episode - np.count_nonzero(loop._resetting) - np.count_nonzero(loop._begun)
        assert rows[-1]["spread"] == pytest.approx(1 - begun / loop.step)

    def test_compiled_with_the_environment(self):
        loop = JaxLoop(DQN, JaxCartPole(), warmup=200, evaluate_every=200)
        state, piece = loop.advance(loop.init(0))
        spreads = np.asarray(piece.spreads)
        assert spreads[0] == 0
        assert (spreads == 0).sum() in (piece.episodes, piece.episodes + 1)
        assert set(spreads) == {0.0, 1.0}
        assert state.reward is not None
        traced = trace_episode(loop, state)["spread"]
        assert traced.tolist() == [0.0] + [1.0] * (len(traced) - 1)
        plain = JaxLoop(Dqn(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())), JaxCartPole())
        assert jax.eval_shape(plain.init, 0).reward is None

    def test_in_a_behavior_that_is_saved(self, tmp_path):
        behavior, other = (adeu.Behavior(PAID, gymnasium.make_vec("CartPole-v1", 2)) for _ in range(2))
        obs, centers = np.zeros((2, 4)), np.zeros((2, 2))
        assert behavior.needs("act") == set()
        assert behavior.act(obs, centers).spread.tolist() == [0, 0]
        no = np.zeros(2, bool)
        behavior.observe(adeu.Transition(obs, np.zeros(2, int), np.array([0.25, 0.5]), obs, no, no))
        behavior.save(tmp_path / "file")
        other.load(tmp_path / "file")
        for each in (behavior, other):
            assert each.act(obs, centers).spread.tolist() == [0.25, 0.5]
        behavior.observe(
            adeu.Transition(obs, np.zeros(2, int), np.array([0.25, 0.5]), obs, np.array([True, False]), no)
        )
        assert behavior.act(obs, centers).spread.tolist() == [0, 0.5]


class Plain(Dqn):
    """An agent that gives no values to its explorer."""

    offers: ClassVar = {"act": frozenset(), "observe": frozenset(), "update": frozenset()}


def test_a_trigger_that_needs_more_is_rejected_and_other_agents_are_suggested():
    takes = (
        "Plain: explorer takes parts that need no q_values in act(): the agent does not provide it (agents that do: "
    )
    with pytest.raises(ValueError, match=re.escape(takes + "Dqn, Sac, Td3), got Explorer")):
        GymLoop(Plain(EXPLORERS["promise"]), cart_pole(), cart_pole(), 1_000, 0)
    with pytest.raises(TypeError, match="q_values"):
        adeu.Behavior(EXPLORERS["promise"], cart_pole()).act(np.zeros(4), center=[0.0, 1.0])
