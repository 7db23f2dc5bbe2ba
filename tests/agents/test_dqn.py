"""The DQN family: its update by hand, its loop against a loop in Python, what it learns, and what it refuses."""

import dataclasses
import io
import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import adeu
from adeu.agents import Dqn, compiled, networks, replay, train
from adeu.agents.dqn import rules
from adeu.core.contract import Transition
from adeu.envs import JaxDeepSea, Sea
from tests.agents.cart_pole import CartPole

GREEDY = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
EZ = adeu.Explorer(adeu.Constant(1 / 11), adeu.Identity(), adeu.Options(2.0, carried=True))
SMALL = Dqn(GREEDY, hidden=(8, 8), capacity=200, batch=8, target_every=10, evaluate_every=50)


def batch_of(rng, size=8, states=12):
    state, after = rng.integers(states, size=(2, size)).astype(np.int32)
    action, ends = rng.integers(2, size=size).astype(np.int32), rng.random(size) < 0.3
    return Transition(state, action, rng.normal(size=size).astype(np.float32), after, ends, np.zeros(size, bool))


def forward(nets, k, obs):
    """Network k on one whole number, by hand."""
    x = np.asarray(nets.first)[k, obs] + np.asarray(nets.rest[0][1])[k]
    for weight, bias in nets.rest[1:]:
        x = np.maximum(x, 0) @ np.asarray(weight)[k] + np.asarray(bias)[k]
    return x


@pytest.mark.parametrize(("double", "prior", "loss"), [(False, 0.0, "mse"), (True, 2.0, "huber")])
def test_an_update_descends_the_loss_that_is_written_on_paper(double, prior, loss):
    dqn = dataclasses.replace(SMALL, double=double, prior=prior, loss=loss, ensemble=3, batch=8, capacity=8)
    rule, rng = rules(dqn, 12, True, 2), np.random.default_rng(0)
    learner, _ = rule.init(jax.random.key(0), jnp.zeros((), jnp.int32))
    target = networks.init(jax.random.key(5), 3, 12, True, (8, 8), 2)
    data, mask = batch_of(rng), rng.random((8, 3)) < 0.5
    store = learner.replay._replace(data=jax.tree.map(jnp.asarray, data), mask=jnp.asarray(mask), added=jnp.array(8))
    learner = learner._replace(target=target, replay=store)
    batch, taken = jax.device_get(replay.sample(store, jax.random.key(3), 8))

    def value(nets, k, obs):
        fixed = 0.0 if learner.prior is None else prior * forward(learner.prior, k, obs)
        return forward(nets, k, obs) + fixed

    def by_hand(first, rest):
        total = 0.0
        nets = networks.Networks(first, rest)
        for k in range(3):
            for i in range(8):
                there = value(target, k, int(batch.next_obs[i]))
                chosen = value(learner.networks, k, int(batch.next_obs[i])) if double else there
                y = batch.reward[i] + (0.0 if batch.terminated[i] else 0.99 * there[np.argmax(chosen)])
                x = nets.first[k, batch.obs[i]] + nets.rest[0][1][k]
                for weight, bias in nets.rest[1:]:
                    x = jnp.maximum(x, 0) @ weight[k] + bias[k]
                fixed = 0.0 if learner.prior is None else prior * forward(learner.prior, k, int(batch.obs[i]))
                error = y - (x + fixed)[batch.action[i]]
                each = 0.5 * error**2
                if loss == "huber":
                    each = jnp.where(abs(error) <= 1, each, abs(error) - 0.5)
                total = total + each * taken[i, k] / 8
        return total

    gradient = jax.jit(jax.grad(by_hand, argnums=(0, 1)))(*learner.networks)
    learned = jax.jit(rule.learn)(jax.random.key(3), learner, 0)
    # Adam's first step is the gradient's sign, nearly: the moments tell its size.
    assert np.asarray(learned.optimizer.first[0]) == pytest.approx(np.asarray(0.1 * gradient[0]), abs=1e-6)
    expected = jax.tree.leaves(jax.tree.map(lambda g: 0.1 * g, gradient[1]))
    for ours, theirs in zip(jax.tree.leaves(learned.optimizer.rest[0].mu), expected, strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-6)
    assert (learned.target.first == target.first).all()


@pytest.mark.slow
def test_rows_move_as_adam_moves_a_table_that_every_batch_names_in_full():
    """Where each row is named at every step, lazy Adam is Adam; where not, other rows stay as they were."""
    nets = networks.init(jax.random.key(0), 2, 4, True, (3,), 2)
    state = networks.adam_init(nets, 0.01)
    obs, aim = jnp.array([0, 1, 2, 3, 1, 0]), jax.random.normal(jax.random.key(1), (2, 6, 2))
    optimizer = optax.adam(0.01)
    dense, dense_state = nets, optimizer.init(nets)

    def loss(rest, features):
        return jnp.sum((networks.values(rest, features) - aim) ** 2), None

    for _ in range(5):
        nets, state, _ = networks.descend(loss, nets, state, obs, 0.01)
        gradient = jax.grad(lambda n: loss(n.rest, networks.read(n.first, obs))[0])(dense)
        updates, dense_state = optimizer.update(gradient, dense_state)
        dense = optax.apply_updates(dense, updates)
    for ours, theirs in zip(jax.tree.leaves(nets), jax.tree.leaves(dense), strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-6)
    aim = aim[:, :2]
    after, _, _ = networks.descend(loss, nets, state, jnp.array([2, 2]), 0.01)
    assert (after.first[:, [0, 1, 3]] == nets.first[:, [0, 1, 3]]).all()
    assert (after.first[:, 2] != nets.first[:, 2]).any()


def test_a_vector_s_first_layer_learns_by_adam():
    nets = networks.init(jax.random.key(0), 2, 4, False, (3,), 2)
    state, obs = networks.adam_init(nets, 0.01), jax.random.normal(jax.random.key(2), (6, 4))
    optimizer, dense = optax.adam(0.01), nets
    dense_state = optimizer.init(dense)

    def loss(rest, features):
        return jnp.sum((networks.values(rest, features) - 1.0) ** 2), None

    for _ in range(5):
        nets, state, _ = networks.descend(loss, nets, state, obs, 0.01)
        gradient = jax.grad(lambda n: loss(n.rest, networks.read(n.first, obs))[0])(dense)
        updates, dense_state = optimizer.update(gradient, dense_state)
        dense = optax.apply_updates(dense, updates)
    assert np.asarray(nets.first) == pytest.approx(np.asarray(dense.first), abs=1e-6)


def test_a_look_up_is_a_linear_layer_over_the_one_hot():
    nets = networks.init(jax.random.key(0), 2, 6, True, (5, 4), 3)
    rows, matrix = networks.q_values(nets, jnp.arange(6)), networks.q_values(nets, jnp.eye(6))
    assert np.asarray(rows) == pytest.approx(np.asarray(matrix), abs=1e-5)
    assert rows.shape == (2, 6, 3)
    assert 0.9 < np.abs(nets.first).max() <= 1


def test_the_center_of_several_networks():
    q = jnp.array([[1.0, 0.0], [3.0, 4.0]])
    assert dataclasses.replace(SMALL, ensemble=2).center(q, 0).tolist() == [2.0, 2.0]
    assert dataclasses.replace(SMALL, ensemble=2, acting="sampled").center(q, 1).tolist() == [3.0, 4.0]
    assert dataclasses.replace(SMALL, ensemble=2, acting="ucb", ucb=0.5).center(q, 0).tolist() == [2.5, 3.0]


def test_the_replay_is_a_ring():
    example = Transition(jnp.zeros((), jnp.int32), *[jnp.zeros(())] * 5)
    store = replay.create(4, example, networks=2)
    for number in range(11):
        store = replay.add(
            store, example._replace(obs=number, reward=float(number)), jnp.array([True, number % 2 == 0])
        )
        kept = set(range(max(0, number - 3), number + 1))
        batch, mask = replay.sample(store, jax.random.key(number), 64)
        assert set(np.asarray(batch.obs).tolist()) == kept
        assert (batch.reward == batch.obs).all()
        assert (mask[:, 1] == (batch.obs % 2 == 0)).all()
    assert batch.obs.dtype == jnp.int32


METHODS = {
    "double": {"double": True},
    "bootstrapped": {"ensemble": 3, "acting": "sampled", "mask_probability": 0.5, "prior": 1.0},
    "ucb": {"ensemble": 3, "acting": "ucb", "ucb": 2.0},
    "seldom": {"update_every": 5, "warmup": 7},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_pieces_seeds_and_files_change_nothing(name):
    """A run, the same run among others, and one that was saved and restored between pieces end with the same bits."""
    loop = compiled(dataclasses.replace(SMALL, **METHODS[name]), JaxDeepSea(Sea(size=5)))
    state, states = loop.init(3), loop.init(np.array([1, 3]))
    for _ in range(2):
        state, piece = loop.advance(state)
        states, pieces = loop.advance(states)
    assert int(piece.step) == 100 + METHODS[name].get("warmup", 0)
    for ours, theirs in zip(jax.tree.leaves(piece), jax.tree.leaves(pieces), strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs)[1], rel=1e-5, nan_ok=True)
    file = io.BytesIO()
    leaves, structure = jax.tree.flatten(state)
    np.savez(file, *[np.asarray(leaf) for leaf in leaves])
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        restored = jax.tree.unflatten(structure, [jnp.asarray(saved[f"arr_{i}"]) for i in range(len(leaves))])
    for ours, theirs in zip(*(jax.tree.leaves(loop.advance(s)) for s in (state, restored)), strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.slow
def test_equal_settings_share_one_compilation(caplog):
    one, other = (compiled(dataclasses.replace(SMALL, gamma=0.9), JaxDeepSea(Sea(size=4))) for _ in range(2))
    with jax.log_compiles():
        before, _ = one.advance(one.init(0))
        assert "Compiling" in caplog.text
        caplog.clear()
        after, _ = other.advance(other.init(1))
        assert "Compiling" not in caplog.text
    assert (before.learner.networks.first != after.learner.networks.first).any()


@pytest.mark.parametrize("prior", [pytest.param(0.0, marks=pytest.mark.slow), 3.0])
def test_networks_of_an_ensemble_differ_and_priors_stay(prior):
    loop = compiled(dataclasses.replace(SMALL, ensemble=3, acting="sampled", prior=prior), JaxDeepSea(Sea(size=4)))
    before = loop.init(0)
    after, _ = loop.advance(before)
    first = np.asarray(after.learner.networks.first)
    assert (first[0] != first[1]).any()
    assert (first != np.asarray(before.learner.networks.first)).any()
    if prior:
        assert (after.learner.prior.first == before.learner.prior.first).all()
    else:
        assert after.learner.prior is None


def test_ez_adeu_finds_the_treasure():
    dqn = Dqn(EZ, evaluate_every=1000)
    pieces = train(dqn, JaxDeepSea(Sea(size=10)), steps=8000, seeds=[0, 1, 2])
    assert (pieces.evaluation[-1] > 0.9).sum() >= 2
    assert (pieces.best.max(axis=0) > 0.9).all()
    assert pieces.explored.mean() > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("f", [adeu.Constant(0.05), adeu.Rnd(scale=10.0)], ids=["constant", "rnd"])
def test_it_learns_to_balance_a_pole(f):
    explorer = adeu.Explorer(
        f, adeu.Saturating(0.1) if isinstance(f, adeu.Rnd) else adeu.Identity(), adeu.Bernoulli()
    )
    dqn = Dqn(
        explorer,
        hidden=(64, 64),
        batch=64,
        capacity=20_000,
        target_every=200,
        evaluate_every=2000,
        evaluate_episodes=5,
        warmup=500,
        double=True,
    )
    untrained = train(dataclasses.replace(dqn, learning_rate=1e-12), CartPole(), steps=2000, seeds=[0])
    pieces = train(dqn, CartPole(), steps=6000, seeds=[0])
    assert pieces.evaluation.max() > max(100, 2 * untrained.evaluation.max())


def test_the_pole_is_gymnasium_s():
    env, pure, rng = gymnasium.make("CartPole-v1"), CartPole(), np.random.default_rng(0)
    obs, _ = env.reset(seed=0)
    _, state = pure.reset_env(jax.random.key(0), None)
    state = state._replace(place=jnp.asarray(obs))
    for _ in range(30):
        action = int(rng.integers(2))
        obs, reward, terminated, _, _ = env.step(action)
        place, state, paid, fell, _ = pure.step_env(None, state, action, None)
        assert np.asarray(place) == pytest.approx(obs, abs=1e-4)
        assert (float(paid), bool(fell)) == (reward, terminated)
        if terminated:
            break


BAD = [
    ({"batch": 300}, "Dqn: capacity takes a whole number >= 300, got 200"),
    ({"gamma": 1.5}, "Dqn: gamma takes a finite number >= 0 and <= 1, got 1.5"),
    ({"target_every": 15, "update_every": 4}, "Dqn: target_every takes a multiple of update_every=4, got 15"),
    ({"evaluate_every": 55}, "Dqn: evaluate_every takes a multiple of target_every=10, got 55"),
    ({"loss": "l1"}, "Dqn: loss takes 'huber' or 'mse', got 'l1'"),
    ({"acting": "max"}, "Dqn: acting takes 'mean' or 'sampled' or 'ucb', got 'max'"),
    ({"hidden": ()}, "Dqn: hidden takes the sizes of the hidden layers, such as (50, 50), got ()"),
    ({"ensemble": 0}, "Dqn: ensemble takes a whole number >= 1, got 0"),
    ({"mask_probability": 0.0}, "Dqn: mask_probability takes a finite number > 0 and <= 1, got 0.0"),
    ({"explorer": None}, "Dqn: explorer takes an Explorer, got None"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_settings(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        dataclasses.replace(SMALL, **changed)


def test_bad_environments_and_lengths():
    with pytest.raises(ValueError, match="train: steps takes a multiple of evaluate_every=50, got 60"):
        train(SMALL, JaxDeepSea(Sea(size=4)), steps=60, seeds=[0])


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Catch-bsuite", "DeepSea-bsuite"])
def test_gymnax_s_environments_as_they_are(name):
    gymnax = pytest.importorskip("gymnax", reason="NOT TRIED on gymnax: install the extra `peers`")
    env, params = gymnax.make(name)
    pieces = train(dataclasses.replace(SMALL, evaluate_steps=100), env, steps=100, seeds=[0, 1], params=params)
    assert pieces.step[:, 0].tolist() == [50, 100]
    assert np.isfinite(pieces.evaluation).all()
