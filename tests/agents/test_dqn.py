"""The DQN family: its update computed by hand, learning, and bad settings."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Discrete

import adeu
from adeu.agents import Dqn, train
from adeu.agents.dqn import DqnRow
from adeu.core import networks
from adeu.envs import JaxCartPole, JaxDeepSea, Sea

GREEDY = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
EZ = adeu.Explorer(adeu.Constant(1 / 11), adeu.Identity(), adeu.Options(2.0, carried=True))
SMALL = Dqn(GREEDY, hidden=(8, 8), capacity=200, batch=8, target_every=10)


def bound(**fields):
    """Return the agent over 12 states, and its initial learned state."""
    dqn = dataclasses.replace(SMALL, **fields).bind(Discrete(12), Discrete(2))
    return dqn, jax.jit(dqn.init)(jax.random.key(0), jnp.zeros((), jnp.int32))


def rows_of(rng, mask, size=8, states=12):
    """Return one minibatch, with a leading axis of 1."""
    state, after = rng.integers(states, size=(2, size)).astype(np.int32)
    action, ends = rng.integers(2, size=size).astype(np.int32), rng.random(size) < 0.3
    rows = DqnRow(state, action, rng.normal(size=size).astype(np.float32), after, ends, mask)
    return DqnRow(*(np.asarray(value)[None] for value in rows))


def forward(nets, k, obs):
    """Compute network k for one discrete observation by hand."""
    x = np.asarray(nets.first)[k, obs] + np.asarray(nets.rest[0][1])[k]
    for weight, bias in nets.rest[1:]:
        x = np.maximum(x, 0) @ np.asarray(weight)[k] + np.asarray(bias)[k]
    return x


@pytest.mark.parametrize(
    ("double", "prior", "loss"), [pytest.param(False, 0.0, "mse", marks=pytest.mark.slow), (True, 2.0, "huber")]
)
def test_an_update_descends_the_loss_of_the_paper(double, prior, loss):
    dqn, learned = bound(double=double, prior=prior, loss=loss, ensemble=3)
    rng = np.random.default_rng(0)
    target = networks.init_q(jax.random.key(5), networks.QShape(3, 12, True, (8, 8), 2))
    learned = learned._replace(target=target)
    batches = rows_of(rng, rng.random((8, 3)) < 0.5)
    batch = DqnRow(*(value[0] for value in batches))

    def value(nets, k, obs):
        fixed = 0.0 if learned.prior is None else prior * forward(learned.prior, k, obs)
        return forward(nets, k, obs) + fixed

    def by_hand(first, rest):
        total = 0.0
        nets = networks.QNetworks(first, rest)
        for k in range(3):
            for i in range(8):
                there = value(target, k, int(batch.next_obs[i]))
                chosen = value(learned.networks, k, int(batch.next_obs[i])) if double else there
                y = batch.reward[i] + (0.0 if batch.terminated[i] else 0.99 * there[np.argmax(chosen)])
                x = nets.first[k, batch.obs[i]] + nets.rest[0][1][k]
                for weight, bias in nets.rest[1:]:
                    x = jnp.maximum(x, 0) @ weight[k] + bias[k]
                fixed = 0.0 if learned.prior is None else prior * forward(learned.prior, k, int(batch.obs[i]))
                error = y - (x + fixed)[batch.action[i]]
                each = 0.5 * error**2
                if loss == "huber":
                    each = jnp.where(abs(error) <= 1, each, abs(error) - 0.5)
                total = total + each * batch.mask[i, k] / 8
        return total

    gradient = jax.jit(jax.grad(by_hand, argnums=(0, 1)))(*learned.networks)
    after = jax.jit(dqn.learn)(jax.random.key(3), learned, batches, 0)
    # Adam's first step is nearly the sign of the gradient, so compare the moments.
    assert np.asarray(after.optimizer.rows.mean) == pytest.approx(np.asarray(0.1 * gradient[0]), abs=1e-6)
    expected = jax.tree.leaves(jax.tree.map(lambda g: 0.1 * g, gradient[1]))
    for ours, theirs in zip(jax.tree.leaves(after.optimizer.dense.first), expected, strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-6)
    assert (after.target.first == target.first).all()


def test_heads_share_the_trunk():
    """The gradient of the trunk is the sum over the heads; the heads do not affect each other."""
    dqn, learned = bound(ensemble=3, heads=True, prior=1.0)
    moved, learn = {}, jax.jit(dqn.learn)
    for name, mask in {"all": [1, 1, 1], "first": [1, 0, 0], "others": [0, 1, 1]}.items():
        batches = rows_of(np.random.default_rng(0), np.tile(np.array(mask, bool), (200, 1)), 200)
        moved[name] = learn(jax.random.key(3), learned, batches, 0).optimizer
    gradient = {name: (state.rows.mean, state.dense.first) for name, state in moved.items()}
    for whole, *parts in zip(*(jax.tree.leaves(gradient[name]) for name in ("all", "first", "others")), strict=True):
        assert np.asarray(whole) == pytest.approx(np.asarray(sum(parts)), abs=1e-7)
    last = gradient["first"][1][-1][0]
    assert (last[0] != 0).any()
    assert (last[1:] == 0).all()


def test_from_zero_values_stay_zero_until_a_reward():
    dqn, learned = bound(from_zero=True)
    learn, values = jax.jit(dqn.learn), jax.jit(networks.q_values)

    def after(reward):
        batches = rows_of(np.random.default_rng(0), np.ones((8, 1), bool))
        batches = batches._replace(reward=np.full((1, 8), reward, np.float32))
        return values(learn(jax.random.key(1), learned, batches, 1).networks, jnp.arange(12))

    assert (values(learned.networks, jnp.arange(12)) == 0).all()
    assert (after(0.0) == 0).all()
    assert (after(1.0) != 0).any()


def test_sync_copies_all_rows_to_the_target_with_their_pending_updates():
    dqn, learned = bound(learning_rate=0.1)
    learn = jax.jit(dqn.learn)
    for seed in range(3):
        batches = rows_of(np.random.default_rng(seed), np.ones((8, 1), bool))
        learned = learn(jax.random.key(1), learned, batches, seed)
    synced = jax.jit(dqn.sync)(learned)
    everywhere = jnp.arange(12)
    read = jax.jit(jax.vmap(lambda obs: dqn._q(dqn.acting(learned), obs[None])[:, 0], out_axes=1))(everywhere)
    copied = jax.jit(networks.q_values)(synced.target, everywhere)
    assert np.asarray(copied) == pytest.approx(np.asarray(read), abs=1e-5)
    assert np.abs(np.asarray(jax.jit(networks.q_values)(learned.target, everywhere) - copied)).max() > 0.1


def test_preferences_of_an_ensemble():
    q = jnp.array([[1.0, 0.0], [3.0, 4.0]])
    assert dataclasses.replace(SMALL, ensemble=2).preferences(q, 0).tolist() == [2.0, 2.0]
    assert dataclasses.replace(SMALL, ensemble=2, center="sampled").preferences(q, 1).tolist() == [3.0, 4.0]
    assert dataclasses.replace(SMALL, ensemble=2, center="ucb", ucb=0.5).preferences(q, 0).tolist() == [2.5, 3.0]


def test_each_network_learns_from_a_random_share_of_transitions():
    dqn = dataclasses.replace(SMALL, ensemble=3, mask_probability=0.5)
    step = adeu.Transition(0, 1, 0.5, 1, True, False)
    row, enters = dqn.row(np.array([0.2, 0.5, 0.49]), step, None)
    assert row == (0, 1, 0.5, 1, True, row.mask)
    assert row.mask.tolist() == [True, False, True]
    assert enters is True
    assert (dqn.coins, SMALL.coins) == (3, 0)
    assert SMALL.row(None, step, None)[0].mask.tolist() == [True]


@pytest.mark.slow
def test_ez_adeu_finds_the_treasure():
    pieces = train(Dqn(EZ), JaxDeepSea(Sea(size=10)), steps=8000, seeds=[0, 1, 2], evaluate_every=1000)
    assert (pieces.evaluation[-1] > 0.9).sum() >= 2
    assert (pieces.best.max(axis=0) > 0.9).all()
    assert pieces.explored.mean() > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("f", [adeu.Constant(0.05), adeu.Rnd(scale=10.0)], ids=["constant", "rnd"])
def test_it_learns_to_balance_a_pole(f):
    explorer = adeu.Explorer(
        f, adeu.Saturating(0.1) if isinstance(f, adeu.Rnd) else adeu.Identity(), adeu.Bernoulli()
    )
    dqn = Dqn(explorer, hidden=(64, 64), batch=64, capacity=20_000, target_every=200, double=True)
    loop = {"warmup": 600, "evaluate_every": 2000, "evaluate_episodes": 5}
    untrained = train(dataclasses.replace(dqn, learning_rate=1e-12), JaxCartPole(), steps=2000, seeds=[0], **loop)
    pieces = train(dqn, JaxCartPole(), steps=6000, seeds=[0], **loop)
    assert pieces.evaluation.max() > max(100, 2 * untrained.evaluation.max())


BAD = [
    ({"batch": 300}, "Dqn: capacity takes a whole number >= 300, got 200"),
    ({"gamma": 1.5}, "Dqn: gamma takes a finite number >= 0 and <= 1, got 1.5"),
    ({"target_every": 15, "update_every": 4}, "Dqn: target_every takes a multiple of update_every=4, got 15"),
    ({"loss": "l1"}, "Dqn: loss takes 'huber' or 'mse', got 'l1'"),
    ({"center": "max"}, "Dqn: center takes 'mean' or 'sampled' or 'ucb', got 'max'"),
    ({"hidden": ()}, "Dqn: hidden takes the sizes of the hidden layers, such as (64, 64), got ()"),
    ({"ensemble": 0}, "Dqn: ensemble takes a whole number >= 1, got 0"),
    ({"mask_probability": 0.0}, "Dqn: mask_probability takes a finite number > 0 and <= 1, got 0.0"),
    ({"rows": 0.0}, "Dqn: rows takes a finite number > 0, got 0.0"),
    ({"adam": "sparse"}, "Dqn: adam takes 'rows' or 'dense', got 'sparse'"),
    ({"heads": 3}, "Dqn: heads takes a bool, got 3"),
    ({"explorer": None}, "Dqn: explorer takes an Explorer, got None"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_settings_are_rejected(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        dataclasses.replace(SMALL, **changed)


@pytest.mark.parametrize("D", [adeu.Bernoulli(), adeu.Options(2.0)])
def test_a_probability_above_one_is_rejected(D):
    explorer = adeu.Explorer(adeu.Constant(1.5), adeu.Identity(), D)
    message = "Constant: c takes a number <= 1, because it is the probability to explore, got 1.5"
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SMALL, explorer=explorer)
    with pytest.raises(ValueError, match=message):
        adeu.tabular.TableDqn(explorer)
