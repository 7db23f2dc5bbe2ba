"""`JaxLoop`: several seeds equal single runs, pieces and files do not matter, equal loops share a compilation."""

import dataclasses
import functools
import io
import pickle

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, JaxLoop, Td3, jax_loop, train
from adeu.agents.jax_player import JaxPlayer
from adeu.behavior.tally import Tally
from adeu.envs import JaxCartPole, JaxDeepSea, Sea
from tests.agents.pendulum import Pendulum, State

GREEDY = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
DQN = Dqn(GREEDY, hidden=(8, 8), capacity=200, batch=8, target_every=10)
EXPLORER = adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(), 0.5, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
TD3 = Td3(EXPLORER, hidden=(8,), policy_delay=1, batch=16, capacity=100)


def test_the_figures_of_a_piece_are_those_of_its_steps():
    loop = JaxLoop(TD3, Pendulum(limit=9), warmup=50, evaluate_every=50)
    state = loop.init(0)
    _, piece = loop.advance(state)
    interact = jax.jit(functools.partial(JaxPlayer(loop.agent, loop.env, None, 9).interact, True, {}))
    tally = Tally(loop.agent.explorer)
    for _ in range(50):
        state, step = interact(state, None)
        tally.add(adeu.Decision(None, step.explored, 0.0, step.spread, step.asked, step.deviation), 0, 0)
    expected = tally.columns()
    for name in ("spread", "explored", "saturated", "spread_p10", "spread_p90", "deviation"):
        assert float(getattr(piece, name)) == pytest.approx(expected[name], rel=1e-5), name
    assert 0.4 < expected["deviation"] < 0.8  # uniform actions and an actor near 0: half of a half range
    assert expected["spread_p10"] < expected["spread_p90"]


def test_the_jax_pendulum_equals_that_of_gymnasium():
    env, mine = gymnasium.make("Pendulum-v1").unwrapped, Pendulum()
    env.reset(seed=0)
    step, rng = jax.jit(mine.step_env), np.random.default_rng(0)
    state = State(*np.float32(env.state), np.int32(0))
    for _ in range(100):
        action = rng.uniform(-2, 2, 1).astype(np.float32)
        obs, state, reward, _, _ = step(jax.random.key(0), state, action, None)
        theirs, their_reward, *_ = env.step(action)
        assert np.asarray(obs) == pytest.approx(theirs, abs=2e-3)
        assert float(reward) == pytest.approx(their_reward, abs=2e-2)


METHODS = {
    "double": {"double": True},
    "bootstrapped": {"ensemble": 3, "center": "sampled", "mask_probability": 0.5, "prior": 1.0},
    "ucb": {"ensemble": 3, "center": "ucb", "ucb": 2.0},
    "heads": {"ensemble": 3, "heads": True, "center": "sampled"},
    "seldom": {"update_every": 5, "warmup": 70},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_results_do_not_depend_on_pieces_seeds_or_files(name):
    """A run equals the same run among others; saved and restored between pieces it ends with the same bits."""
    fields = dict(METHODS[name])
    warmup = fields.pop("warmup", 0)
    loop = JaxLoop(dataclasses.replace(DQN, **fields), JaxDeepSea(Sea(size=5)), warmup=warmup, evaluate_every=50)
    state, states = loop.init(3), loop.init(np.array([1, 3]))
    for _ in range(2):
        state, piece = loop.advance(state)
        states, pieces = loop.advance(states)
    assert int(piece.step) == 100
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
    agent = dataclasses.replace(DQN, gamma=0.9)
    one, other = (JaxLoop(agent, JaxDeepSea(Sea(size=4)), evaluate_every=50) for _ in range(2))
    with jax.log_compiles():
        before, _ = one.advance(one.init(0))
        assert "Compiling" in caplog.text
        caplog.clear()
        after, _ = other.advance(other.init(1))
        assert "Compiling" not in caplog.text
    assert (before.learned.networks.first != after.learned.networks.first).any()


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.0, 3.0])
def test_networks_of_an_ensemble_differ_and_priors_do_not_change(prior):
    agent = dataclasses.replace(DQN, ensemble=3, center="sampled", prior=prior)
    loop = JaxLoop(agent, JaxDeepSea(Sea(size=4)), evaluate_every=50)
    before = loop.init(0)
    after, _ = loop.advance(before)
    first = np.asarray(after.learned.networks.first)
    assert (first[0] != first[1]).any()
    assert (first != np.asarray(before.learned.networks.first)).any()
    if prior:
        assert (after.learned.prior.first == before.learned.prior.first).all()
    else:
        assert after.learned.prior is None


@pytest.mark.slow
def test_several_seeds_equal_single_runs():
    loop = JaxLoop(TD3, Pendulum(limit=30), warmup=40, evaluate_every=50)
    seeds = [3, 0, 8]
    together = loop.init(np.array(seeds))
    pieces = []
    for _ in range(2):
        together, piece = loop.advance(together)
        pieces.append(piece)
    for place, seed in enumerate(seeds):
        alone = loop.init(seed)
        for piece in pieces:
            alone, mine = loop.advance(alone)
            for theirs, ours in zip(piece, mine, strict=True):
                assert np.asarray(theirs)[place] == pytest.approx(np.asarray(ours), rel=1e-4, abs=1e-4, nan_ok=True)
        mine, theirs = (jax.tree.leaves(state.learned) for state in (alone, together))
        for one, all_seeds in zip(mine, theirs, strict=True):
            assert np.asarray(all_seeds)[place] == pytest.approx(np.asarray(one), rel=1e-3, abs=1e-4)
    assert int(together.step[0]) == 100
    assert sum(np.asarray(piece.episodes) for piece in pieces).tolist() == [3, 3, 3]
    assert not np.any(together.replay.data.terminated)  # a pendulum's episodes are only truncated
    assert len({float(value) for value in pieces[-1].evaluation}) == 3


@pytest.mark.slow
def test_it_learns_the_pendulum_with_several_seeds():
    """With the settings of the same test in Gymnasium."""
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
    sizes = {"hidden": (64, 64), "batch": 128, "capacity": 10_000}
    td3 = Td3(explorer, learning_rate=1e-3, gamma=0.98, tau=0.02, **sizes)
    loop = {"warmup": 1_000, "evaluate_every": 1_000, "evaluate_episodes": 10, "evaluate_steps": 200}
    pieces = train(td3, Pendulum(), steps=10_000, seeds=[0, 1, 2], **loop)
    print(np.round(pieces.evaluation).astype(int).T.tolist())
    assert (pieces.evaluation.max(axis=0) > -200).all()


def test_equal_array_parameters_share_a_compilation():
    params = ({"wind": np.array(wind)} for wind in ([0.0, 1.0], [0.0, 1.0], [1.0]))
    first, same, other = (JaxLoop(DQN, JaxCartPole(), each, evaluate_every=50) for each in params)
    assert jax_loop._compile(first) is jax_loop._compile(same)
    assert jax_loop._compile(first) is not jax_loop._compile(other)


def test_equal_environments_share_a_compilation():
    first, same, other = (JaxLoop(DQN, JaxDeepSea(Sea(size=size)), evaluate_every=50) for size in (4, 4, 5))
    assert jax_loop._compile(first) is jax_loop._compile(pickle.loads(pickle.dumps(same)))
    assert jax_loop._compile(first) is not jax_loop._compile(other)


def test_bad_environments_and_lengths_are_rejected():
    sea = JaxDeepSea(Sea(size=4))
    with pytest.raises(ValueError, match="train: steps takes a multiple of evaluate_every=50, got 60"):
        train(DQN, sea, steps=60, seeds=[0], evaluate_every=50)
    for argument, value in (("evaluate_every", 55), ("warmup", 7)):
        message = f"JaxLoop: {argument} takes a multiple of the agent's 10 steps per update, got {value}"
        with pytest.raises(ValueError, match=message):
            JaxLoop(DQN, sea, **{"evaluate_every": 50, argument: value})
    with pytest.raises(ValueError, match=r"JaxLoop: env takes .* gymnax's interface \(GymLoop takes Gymnasium's\)"):
        JaxLoop(DQN, gymnasium.make("CartPole-v1"))
    with pytest.raises(ValueError, match=r"Dqn: action space takes a Discrete, got Box"):
        JaxLoop(DQN, Pendulum())
    with pytest.raises(ValueError, match="JaxLoop: agent takes an Agent, got Explorer"):
        JaxLoop(GREEDY, sea)


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Catch-bsuite", "DeepSea-bsuite"])
def test_environments_of_gymnax_work_unchanged(name):
    gymnax = pytest.importorskip("gymnax", reason="not tested with gymnax: install the extra `peers`")
    env, params = gymnax.make(name)
    pieces = train(DQN, env, steps=100, seeds=[0, 1], params=params, evaluate_every=50, evaluate_steps=100)
    assert pieces.step[:, 0].tolist() == [50, 100]
    assert np.isfinite(pieces.evaluation).all()


RECORDED = adeu.Explorer(adeu.Recorded(), adeu.Identity(), adeu.Gaussian())


def test_f_gets_the_given_value_of_each_step():
    """One seed and several, in two pieces: the spread of each step is the value given for it."""
    loop = JaxLoop(
        dataclasses.replace(TD3, explorer=RECORDED),
        Pendulum(limit=15),
        evaluate_every=20,
        evaluate_steps=9,
        given=("recorded",),
    )
    given = np.random.default_rng(0).uniform(size=(2, 40)).astype(np.float32)
    state, states = loop.init(3), loop.init(np.array([1, 3]))
    for number in range(2):
        state, piece = loop.advance(state, {"recorded": given[1]})
        states, pieces = loop.advance(states, {"recorded": given})
        here = slice(20 * number, 20 * (number + 1))
        np.testing.assert_array_equal(piece.spreads, given[1, here])
        np.testing.assert_array_equal(pieces.spreads, given[:, here])
        assert float(piece.spread) == pytest.approx(given[1, here].mean())
    for wrong in (None, {"recorded": given[1]} | {"cost": given[1]}):
        with pytest.raises(ValueError, match=r"JaxLoop: given takes arrays named \('recorded',\), got"):
            loop.advance(state, wrong)
    for short in (given[1], given):
        with pytest.raises(
            ValueError, match=r"JaxLoop: given\['recorded'\] takes an array of at least shape \(60,\)"
        ):
            loop.advance(state, {"recorded": short})
    with pytest.raises(ValueError, match="need no recorded in act"):
        dataclasses.replace(loop, given=())
