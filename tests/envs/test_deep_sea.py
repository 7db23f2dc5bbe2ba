"""Deep sea: the Gymnasium and JAX environments and the arrays, compared with plain rules, bsuite and gymnax."""

import functools
import re
import warnings

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from adeu.envs import DeepSea, JaxDeepSea, Sea, deep_sea_mdp, sea_picture, tiles
from adeu.envs.sea import right_actions, sea_cells
from adeu.tabular import from_mdp

SEAS = [
    Sea(size=2),
    Sea(size=7),
    Sea(size=5, actions="shuffled", actions_seed=3),
    Sea(size=6, move_cost=0.6, treasure=2.0),
]


def dive(sea, right, place, action):
    """Apply the rules: return the next place and the reward."""
    (row, column), goes_right = place, action == right[place]
    reward = sea.treasure * (goes_right and column == sea.size - 1) - (
        sea.move_cost / sea.size if goes_right else 0.0
    )
    column = min(column + 1, sea.size - 1) if goes_right else max(column - 1, 0)
    return (row + 1, column), reward


def actions_of(sea, episodes=40):
    """Yield policies that go mostly right, so that some find the treasure; the first one does."""
    rng, right = np.random.default_rng(0), right_actions(sea)

    def choose(often, row, column):
        return int(right[row, column] if rng.random() < often else 1 - right[row, column])

    for episode in range(episodes):
        yield functools.partial(choose, rng.choice([0.5, 0.9]) if episode else 1.0)


@pytest.mark.parametrize("sea", SEAS, ids=repr)
def test_both_environments_and_the_arrays_follow_the_rules(sea):
    right, mdp, found = right_actions(sea), deep_sea_mdp(sea), 0
    fields = {"size": sea.size, "actions": sea.actions, "actions_seed": sea.actions_seed}
    env = DeepSea(**fields, move_cost=sea.move_cost, treasure=sea.treasure)
    pure = JaxDeepSea(sea)
    key = jax.random.key(0)
    advance = jax.jit(lambda state, action: pure.step_env(key, state, action, sea))
    for choose in actions_of(sea):
        place, state, (cell, sea_state) = (0, 0), mdp.start, pure.reset_env(key, sea)
        assert env.reset() == (0, {})
        assert int(cell) == 0
        for step in range(sea.size):
            action = choose(*place)
            place, reward = dive(sea, right, place, action)
            cell = min(place[0], sea.size - 1) * sea.size + place[1]
            ended = step == sea.size - 1
            assert env.step(action) == (cell, pytest.approx(reward), ended, False, {})
            obs, sea_state, paid, terminated, _ = advance(sea_state, action)
            assert (int(obs), bool(terminated)) == (cell, ended)
            assert float(paid) == pytest.approx(reward, abs=1e-7)
            assert (mdp.reward[state, action], mdp.terminal[state, action]) == (pytest.approx(reward), ended)
            state = mdp.next_state[state, action]
            assert ended or mdp.cell[state] == cell
            found += reward > sea.treasure / 2
    assert 0 < found < 40


def test_always_right_earns_the_best_return():
    for sea in SEAS:
        env = DeepSea(size=sea.size, move_cost=sea.move_cost, treasure=sea.treasure)
        env.reset()
        assert sum(env.step(1)[1] for _ in range(sea.size)) == pytest.approx(sea.best_return)


def test_every_cell_on_or_below_the_diagonal_has_a_state():
    mdp = deep_sea_mdp(Sea(size=80))
    assert len(mdp.cell) == 80 * 81 // 2
    assert {int(row) - int(column) >= 0 for row, column in zip(*divmod(mdp.cell, 80), strict=True)} == {True}
    assert set(mdp.next_state.ravel()) | {0} == set(range(len(mdp.cell)))
    assert (mdp.state_of(mdp.cell) == np.arange(len(mdp.cell))).all()
    assert mdp.state_of(1) == -1
    model = from_mdp(mdp)
    assert (model.num_states, model.num_actions) == (3240, 2)


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "ansi"])
def test_the_environment_passes_the_env_checker(render_mode):
    env = gymnasium.make("adeu/DeepSea-v0", size=8, render_mode=render_mode)
    assert type(env.unwrapped) is DeepSea
    assert (env.observation_space.n, env.action_space.n) == (64, 2)
    check_env(env.unwrapped, skip_render_check=render_mode is None)


def test_vmap_over_episodes():
    sea = Sea(size=3)
    pure, key = JaxDeepSea(sea), jax.random.key(0)
    actions = np.array([[0, 0, 0], [0, 1, 1], [1, 1, 0], [1, 1, 1]])

    def episode(actions):
        def advance(state, action):
            _, state, reward, _, _ = pure.step_env(key, state, action, sea)
            return state, reward

        return jax.lax.scan(advance, pure.reset_env(key, sea)[1], actions)[1].sum()

    cost = 0.01 / 3
    assert jax.vmap(episode)(actions) == pytest.approx([0.0, -2 * cost, -2 * cost, 0.99], abs=1e-6)


def test_rendering_as_an_image():
    env = DeepSea(size=10, render_mode="rgb_array")
    env.reset()
    env.step(1)
    image = env.render()
    assert image.shape == (320, 320, 3)

    def middle(row, column):
        return tuple(image[32 * row + 16, 32 * column + 16].tolist())

    assert middle(1, 1) == tiles.AGENT
    assert middle(0, 1) == sea_picture.ROCK
    assert middle(0, 0) == tuple(sea_picture.SURFACE)
    assert middle(9, 0) == tuple(sea_picture.FLOOR)
    assert {tuple(color) for color in image[288:319, 288:319].reshape(-1, 3).tolist()} == {tiles.GOAL, tiles.INK}
    heat = np.zeros(100)
    heat[90] = 1.0
    env.show(heat)
    image = env.render()
    assert middle(9, 0) == tuple(int(part) for part in tiles.HEAT[-1])
    assert middle(9, 1) == tiles.ICE
    env.show(None)
    image = env.render()
    assert middle(9, 0) == tuple(sea_picture.FLOOR)
    large = DeepSea(size=100, render_mode="rgb_array")
    large.reset()
    assert tiles.GOAL in {tuple(color) for color in large.render()[-10:, -10:].reshape(-1, 3).tolist()}


def test_rendering_as_text():
    env = DeepSea(size=5, render_mode="ansi")
    env.reset()
    for action in (1, 0, 1):
        env.step(action)
    assert env.render().splitlines() == ["S####", "..###", "...##", ".@..#", "....G"]
    env.show(np.linspace(0, 1, 25))
    assert env.render().splitlines()[2:] == ["445##", "6@77#", "8899G"]
    large = DeepSea(size=100, render_mode="ansi")
    large.reset()
    assert large.render().splitlines()[0] == "rows 0-30, columns 0-30 of 100"


BAD = [
    ({"size": 1}, "Sea: size takes a whole number >= 2, got 1"),
    ({"size": 4.0}, "Sea: size takes a whole number >= 2, got 4.0"),
    ({"actions": "shuffle"}, "Sea: actions takes 'fixed' or 'shuffled', got 'shuffle'; did you mean 'shuffled'?"),
    ({"actions_seed": -1}, "Sea: actions_seed takes a whole number >= 0, got -1"),
    ({"move_cost": -0.01}, "Sea: move_cost takes a finite number >= 0, got -0.01"),
    ({"treasure": float("nan")}, "Sea: treasure takes a finite number, got nan"),
]


@pytest.mark.parametrize(("fields", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_settings_are_rejected(fields, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Sea(**fields)
    with pytest.raises(ValueError, match=re.escape(message)):
        gymnasium.make("adeu/DeepSea-v0", **fields)


def test_bad_calls_are_rejected():
    env = DeepSea(size=4)
    with pytest.raises(ResetNeeded, match="DeepSea: call reset"):
        env.step(1)
    env.reset()
    with pytest.raises(ValueError, match="DeepSea: action takes 0 or 1, got 2"):
        env.step(2)
    with pytest.raises(ValueError, match="DeepSea: values takes 16 numbers, one per cell, got"):
        env.show(np.zeros(4))
    with pytest.raises(ValueError, match="DeepSea: render takes an environment made with"):
        env.render()
    with pytest.raises(ValueError, match="DeepSea: render_mode takes 'rgb_array' or 'ansi', got 'rgb'"):
        DeepSea(render_mode="rgb")


PEERS = [Sea(size=2), Sea(size=9), Sea(size=9, actions="shuffled", actions_seed=5), Sea(size=20, move_cost=0.5)]
MISSING = "not compared with the original: install the extra `peers` in a separate environment"


def onehot(sea, cell, ended):
    """Return the observation of bsuite: zeros after the end."""
    return np.zeros(sea.size**2) if ended else np.eye(sea.size**2)[cell]


@pytest.mark.parametrize("sea", PEERS, ids=repr)
def test_every_step_equals_that_of_bsuite(sea):
    peers = pytest.importorskip("bsuite.environments.deep_sea", reason=MISSING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that actions are not shuffled
        theirs = peers.DeepSea(
            sea.size,
            unscaled_move_cost=sea.move_cost,
            randomize_actions=sea.actions == "shuffled",
            mapping_seed=sea.actions_seed,
        )
    ours = DeepSea(size=sea.size, actions=sea.actions, actions_seed=sea.actions_seed, move_cost=sea.move_cost)
    for choose in actions_of(sea):
        (cell, _), step, ended = ours.reset(), theirs.reset(), False
        while not ended:
            assert (step.observation.ravel() == onehot(sea, cell, ended)).all()
            action = choose(*divmod(cell, sea.size))
            cell, reward, ended, _, _ = ours.step(action)
            step = theirs.step(action)
            assert (reward, ended) == (pytest.approx(step.reward), step.last())
        assert (step.observation.ravel() == onehot(sea, cell, ended)).all()


@pytest.mark.parametrize("sea", PEERS, ids=repr)
def test_every_step_equals_that_of_gymnax(sea):
    peers = pytest.importorskip("gymnax.environments.bsuite.deep_sea", reason=MISSING)
    theirs, ours, key = peers.DeepSea(sea.size), JaxDeepSea(sea), jax.random.key(0)
    params = theirs.default_params.replace(
        unscaled_move_cost=sea.move_cost, randomize_actions=sea.actions == "shuffled"
    )
    theirs.action_mapping = jax.numpy.asarray(right_actions(sea))
    their_step, our_step = (
        jax.jit(lambda s, a, env=env, params=params: env.step_env(key, s, a, params))
        for env, params in ((theirs, params), (ours, sea))
    )
    for choose in actions_of(sea, episodes=10):
        (cell, state), (obs, their_state), ended = ours.reset_env(key, sea), theirs.reset_env(key, params), False
        while not ended:
            assert (np.ravel(obs) == onehot(sea, int(cell), ended)).all()
            action = choose(*divmod(int(cell), sea.size))
            cell, state, reward, ended, _ = our_step(state, action)
            obs, their_state, their_reward, their_end, _ = their_step(their_state, action)
            assert (float(reward), bool(ended)) == (pytest.approx(float(their_reward), abs=1e-7), bool(their_end))
        assert (np.ravel(obs) == onehot(sea, int(cell), ended)).all()


def test_cells_and_right_actions():
    assert sea_cells(Sea(size=3)).tolist() == [0, 3, 4, 6, 7, 8]
    assert right_actions(Sea(size=3)).tolist() == [[1] * 3] * 3
    one, other = (right_actions(Sea(size=20, actions="shuffled", actions_seed=seed)) for seed in (0, 1))
    assert (one != other).any()
    assert 0.4 < one.mean() < 0.6


def test_one_hot_observations_encode_the_cells():
    plain, vector = JaxDeepSea(Sea(size=4)), JaxDeepSea(Sea(size=4), one_hot=True)
    assert vector.observation_space(vector.default_params).shape == (16,)
    (cell, state), (seen, _) = (env.reset_env(None, Sea(size=4)) for env in (plain, vector))
    for action in (1, 0, 1, 1):
        assert (int(np.argmax(seen)), float(np.sum(seen))) == (int(cell), 1.0)
        seen, *ours = vector.step_env(None, state, action, Sea(size=4))
        cell, *theirs = plain.step_env(None, state, action, Sea(size=4))
        assert jax.tree.all(jax.tree.map(lambda a, b: bool(a == b), ours, theirs))
        state = theirs[0]
