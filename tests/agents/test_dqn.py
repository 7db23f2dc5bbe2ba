"""The DQN family: its update by hand, its loop against a loop in Python, what it learns, and what it refuses."""

import dataclasses
import io
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, compiled, networks, replay, train
from adeu.agents.dqn import rules
from adeu.core.contract import Transition
from adeu.envs import JaxCartPole, JaxDeepSea, Sea

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


@pytest.mark.parametrize(
    ("double", "prior", "loss"), [pytest.param(False, 0.0, "mse", marks=pytest.mark.slow), (True, 2.0, "huber")]
)
def test_an_update_descends_the_loss_that_is_written_on_paper(double, prior, loss):
    dqn = dataclasses.replace(SMALL, double=double, prior=prior, loss=loss, ensemble=3, batch=8, capacity=8)
    rule, rng = rules(dqn, 12, True, 2), np.random.default_rng(0)
    learning, _ = rule.init(jax.random.key(0), jax.random.key(1), jnp.zeros((), jnp.int32))
    learner = learning.learner
    target = networks.init(jax.random.key(5), networks.Shape(3, 12, True, (8, 8), 2))
    data, mask = batch_of(rng), rng.random((8, 3)) < 0.5
    store = learning.replay._replace(data=jax.tree.map(jnp.asarray, data), mask=jnp.asarray(mask), added=jnp.array(8))
    learner = learner._replace(target=target)
    batch, taken = jax.device_get(replay.sample(store, jax.random.split(jax.random.key(3))[0], 8))

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
    learned = jax.jit(rule.learn)(jax.random.key(3), learning._replace(learner=learner, replay=store), 0).learner
    # Adam's first step is the gradient's sign, nearly: the moments tell its size.
    assert np.asarray(learned.optimizer.rows.mean) == pytest.approx(np.asarray(0.1 * gradient[0]), abs=1e-6)
    expected = jax.tree.leaves(jax.tree.map(lambda g: 0.1 * g, gradient[1]))
    for ours, theirs in zip(jax.tree.leaves(learned.optimizer.rest[0].mu), expected, strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-6)
    assert (learned.target.first == target.first).all()


def test_a_look_up_is_a_linear_layer_over_the_one_hot():
    nets = networks.init(jax.random.key(0), networks.Shape(2, 6, True, (5, 4), 3))
    rows, matrix = networks.q_values(nets, jnp.arange(6)), networks.q_values(nets, jnp.eye(6))
    assert np.asarray(rows) == pytest.approx(np.asarray(matrix), abs=1e-5)
    assert rows.shape == (2, 6, 3)
    assert 0.9 < np.abs(nets.first).max() <= 1


def test_heads_share_all_but_the_last_layer():
    shape = networks.Shape(3, 6, True, (5, 4), 2, heads=True)
    nets = networks.init(jax.random.key(0), shape)
    assert [leaf.shape[0] for leaf in jax.tree.leaves(nets)] == [1, 1, 1, 1, 1, 3, 3]
    q = networks.q_values(nets, jnp.arange(6))
    for k in range(3):
        alone = nets._replace(rest=(*nets.rest[:-1], tuple(part[k : k + 1] for part in nets.rest[-1])))
        assert np.asarray(q[k]) == pytest.approx(np.asarray(networks.q_values(alone, jnp.arange(6))[0]), abs=1e-6)
    assert (q[0] != q[1]).any()


def test_heads_learn_together():
    """The trunk's gradient is the sum of its heads'; each head's is its own."""
    dqn = dataclasses.replace(SMALL, ensemble=3, heads=True, prior=1.0)
    rule = rules(dqn, 12, True, 2)
    learning, _ = rule.init(jax.random.key(0), jax.random.key(1), jnp.zeros((), jnp.int32))
    learner = learning.learner
    data = jax.tree.map(jnp.asarray, batch_of(np.random.default_rng(0), 200))
    moved, learn = {}, jax.jit(rule.learn)
    for name, mask in {"all": [1, 1, 1], "first": [1, 0, 0], "others": [0, 1, 1]}.items():
        taken = jnp.tile(jnp.array(mask, bool), (200, 1))
        store = learning.replay._replace(data=data, mask=taken, added=jnp.array(200))
        moved[name] = learn(jax.random.key(3), learning._replace(replay=store), 0).learner.optimizer
    gradient = {name: (state.rows.mean, state.rest[0].mu) for name, state in moved.items()}
    for whole, *parts in zip(*(jax.tree.leaves(gradient[name]) for name in ("all", "first", "others")), strict=True):
        assert np.asarray(whole) == pytest.approx(np.asarray(sum(parts)), abs=1e-7)
    last = gradient["first"][1][-1][0]
    assert (last[0] != 0).any()
    assert (last[1:] == 0).all()


def test_where_rows_start():
    """Within 1 a network prefers now this and now that; within 1/sqrt(rows), the same nearly everywhere."""

    def share(bound):
        shape = networks.Shape(20, 6400, True, (50, 50), 2, rows=bound)
        nets = networks.init(jax.random.key(0), shape)
        right = np.argmax(jax.jit(networks.q_values)(nets, jnp.arange(0, 6400, 20)), axis=-1)
        return np.maximum(right.mean(axis=1), 1 - right.mean(axis=1)).mean()

    assert share(1.0) < 0.9
    assert share(6400**-0.5) > 0.99


def test_from_zero_nothing_is_preferred_until_a_reward_is_found():
    rule = rules(dataclasses.replace(SMALL, from_zero=True, capacity=8), 12, True, 2)
    learning, _ = jax.jit(rule.init)(jax.random.key(0), jax.random.key(1), jnp.zeros((), jnp.int32))
    learner = learning.learner
    learn = jax.jit(rule.learn)

    def learned(reward):
        data = batch_of(np.random.default_rng(0))._replace(reward=np.full(8, reward, np.float32))
        mask = jnp.ones_like(learning.replay.mask)
        store = learning.replay._replace(data=jax.tree.map(jnp.asarray, data), mask=mask, added=jnp.array(8))
        after = learn(jax.random.key(1), learning._replace(replay=store), 1).learner
        return networks.q_values(after.networks, jnp.arange(12))

    assert (networks.q_values(learner.networks, jnp.arange(12)) == 0).all()
    assert (learned(0.0) == 0).all()
    assert (learned(1.0) != 0).any()


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
    "heads": {"ensemble": 3, "heads": True, "acting": "sampled"},
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
    assert (before.learner.learner.networks.first != after.learner.learner.networks.first).any()


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.0, 3.0])
def test_networks_of_an_ensemble_differ_and_priors_stay(prior):
    loop = compiled(dataclasses.replace(SMALL, ensemble=3, acting="sampled", prior=prior), JaxDeepSea(Sea(size=4)))
    before = loop.init(0)
    after, _ = loop.advance(before)
    first = np.asarray(after.learner.learner.networks.first)
    assert (first[0] != first[1]).any()
    assert (first != np.asarray(before.learner.learner.networks.first)).any()
    if prior:
        assert (after.learner.learner.prior.first == before.learner.learner.prior.first).all()
    else:
        assert after.learner.learner.prior is None


@pytest.mark.slow
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
    untrained = train(dataclasses.replace(dqn, learning_rate=1e-12), JaxCartPole(), steps=2000, seeds=[0])
    pieces = train(dqn, JaxCartPole(), steps=6000, seeds=[0])
    assert pieces.evaluation.max() > max(100, 2 * untrained.evaluation.max())


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
    ({"rows": 0.0}, "Dqn: rows takes a finite number > 0, got 0.0"),
    ({"adam": "sparse"}, "Dqn: adam takes 'rows' or 'dense', got 'sparse'"),
    ({"heads": 3}, "Dqn: heads takes a bool, got 3"),
    ({"explorer": None}, "Dqn: explorer takes an Explorer, got None"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_settings(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        dataclasses.replace(SMALL, **changed)


@pytest.mark.parametrize("D", [adeu.Bernoulli(), adeu.Options(2.0)])
def test_a_probability_above_one(D):
    dqn = dataclasses.replace(SMALL, explorer=adeu.Explorer(adeu.Constant(1.5), adeu.Identity(), D))
    message = "Constant: c takes a number <= 1, where it is the probability to explore, got 1.5"
    with pytest.raises(ValueError, match=message):
        compiled(dqn, JaxDeepSea(Sea(size=4)))
    with pytest.raises(ValueError, match=message):
        adeu.tabular.TableDqn(dqn.explorer)


def test_bad_environments_and_lengths():
    with pytest.raises(ValueError, match="train: steps takes a multiple of evaluate_every=50, got 60"):
        train(SMALL, JaxDeepSea(Sea(size=4)), steps=60, seeds=[0])


def test_parameters_that_are_arrays_share_a_compilation_where_they_are_equal():
    params = ({"wind": np.array(wind)} for wind in ([0.0, 1.0], [0.0, 1.0], [1.0]))
    first, same, other = (compiled(SMALL, JaxCartPole(), each) for each in params)
    assert first is same
    assert first is not other


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Catch-bsuite", "DeepSea-bsuite"])
def test_gymnax_s_environments_as_they_are(name):
    gymnax = pytest.importorskip("gymnax", reason="NOT TRIED on gymnax: install the extra `peers`")
    env, params = gymnax.make(name)
    pieces = train(dataclasses.replace(SMALL, evaluate_steps=100), env, steps=100, seeds=[0, 1], params=params)
    assert pieces.step[:, 0].tolist() == [50, 100]
    assert np.isfinite(pieces.evaluation).all()
