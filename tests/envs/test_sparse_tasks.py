"""Sparse tasks: their equations, the JAX and Gymnasium versions, and that controllers succeed where noise fails."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import adeu.envs
from adeu.envs import JaxContinuousLake, JaxMountainCarContinuous, JaxPendulum, JaxPointMaze, JaxSwingUp
from adeu.envs.gym_task import GymTask
from tests.envs import controllers, equations

TASKS = {
    "SparsePendulum": JaxPendulum(sparse=True),
    "SwingUp": JaxSwingUp(),
    "PointMaze": JaxPointMaze(),
    "ContinuousLake": JaxContinuousLake(),
}
GOOD = {"SparsePendulum": 135.0, "SwingUp": 160.0, "PointMaze": 80.0, "ContinuousLake": 10.5, "car": 85.0}
"""The lowest return of each controller."""


def make(name):
    return gymnasium.make("MountainCarContinuous-v0" if name == "car" else f"adeu/{name}-v0")


def controller(name):
    if name == "ContinuousLake":
        directions = JaxContinuousLake().directions
        return lambda obs: directions[int(np.argmax(obs))]
    return {
        "SparsePendulum": controllers.swing_and_hold,
        "SwingUp": controllers.swing_and_balance,
        "PointMaze": controllers.walk_around,
        "car": controllers.rock,
    }[name]


def play(env, policy, seed):
    (obs, _), total, ended = env.reset(seed=seed), 0.0, False
    while not ended:
        obs, reward, terminated, truncated, _ = env.step(np.array(policy(obs), np.float32))
        total, ended = total + reward, terminated or truncated
    return total


@pytest.mark.parametrize("name", TASKS)
def test_every_step_follows_the_equations(name):
    """From random states, including some near walls, ends of the track, the top and the goal."""
    task, rng = TASKS[name], np.random.default_rng(0)
    half = float(task.action_space().high[0])
    step = jax.jit(lambda state, action: task.step_env(None, state, action, None))
    paid = ended = 0
    for _ in range(400):
        place, action = _place(name, rng), 1.3 * half * rng.uniform(-1, 1, task.action_space().shape)
        if name == "ContinuousLake" and rng.random() < 0.7:
            action = task.directions[place] + rng.uniform(-0.45, 0.45, 2)
        state = task.reset_env(jax.random.key(0), None)[1]._replace(place=jnp.asarray(place))
        obs, state, reward, terminated, info = step(state, jnp.asarray(action, jnp.float32))
        after, pays, ends = equations.STEPS[name](place, action.tolist(), task)
        near = 4e-4 if name == "PointMaze" else 1e-5  # the reference moves in small parts
        np.testing.assert_allclose(np.asarray(state.place), after, atol=near, rtol=1e-5)
        np.testing.assert_allclose(obs, equations.observed(name, after, task), atol=near, rtol=1e-5)
        assert (float(reward), bool(terminated), int(state.time), info) == (pytest.approx(pays), ends, 1, {})
        paid, ended = paid + (pays > 0), ended + ends
    assert paid > 5
    assert (ended > 5) == (name == "ContinuousLake")


def _place(name, rng):
    if name == "SparsePendulum":
        return rng.choice([rng.uniform(-0.5, 0.5), rng.uniform(-9, 9)]), rng.uniform(-2, 2)
    if name == "SwingUp":
        x = rng.choice([rng.uniform(-2.4, 2.4), 2.39, -2.4])
        return x, rng.uniform(-3, 3), rng.choice([0.1, rng.uniform(-4, 4)]), rng.uniform(-6, 6)
    if name == "PointMaze":
        while True:
            x, y = rng.choice([rng.uniform(-1, 0), 0.0, rng.uniform(-0.1, 0.1)]), rng.uniform(-1, 1)
            y = rng.choice([y, 0.6, 0.1, -0.1, rng.uniform(-0.15, 0.15)])
            if not (x < 0 and abs(y) < 0.1):
                return x, y
    return int(rng.integers(20))


def test_the_wall_cannot_be_crossed():
    task, rng = JaxPointMaze(), np.random.default_rng(1)
    step = jax.jit(jax.vmap(lambda state, action: task.step_env(None, state, action, None)[1]))
    state = jax.vmap(lambda key: task.reset_env(key, None)[1])(jax.random.split(jax.random.key(0), 500))
    crossed = np.zeros(500, bool)
    for _ in range(200):
        before = np.asarray(state.place)
        state = step(state, rng.uniform(-3, 3, (500, 2)).astype(np.float32))
        x, y = np.asarray(state.place).T
        assert (np.abs(state.place) <= 1).all()
        assert not ((x < 0) & (np.abs(y) < np.float32(0.1))).any()
        through = (before[:, 1] * y < 0) & (before[:, 0] < -0.16)
        crossed |= through
    assert not crossed.any()
    assert (np.asarray(state.place)[:, 1] > 0.1).any(), "no walk went around the wall"


@pytest.mark.parametrize("name", [*TASKS, "car"])
def test_a_controller_succeeds_and_noise_does_not(name):
    env = make(name)
    returns = [play(env, controller(name), seed) for seed in range(3)]
    assert min(returns) >= GOOD[name], returns
    rng, half = np.random.default_rng(0), env.action_space.high
    noisy = [play(env, lambda obs: half * 0.5 * rng.normal(size=half.shape), seed) for seed in range(20)]
    if name == "ContinuousLake":
        assert max(noisy) < 0.8, "noise got further than 5 of 20 places"
    else:
        assert max(noisy) <= 0, noisy


@pytest.mark.filterwarnings("ignore:.*(symmetric and normalized|A Box observation space m):UserWarning")
@pytest.mark.parametrize("name", TASKS)
def test_the_gymnasium_and_jax_versions_are_equal(name):
    env, task, rng = make(name), TASKS[name], np.random.default_rng(0)
    check_env(env.unwrapped, skip_render_check=True)
    obs, _ = env.reset(seed=3)
    assert obs.dtype == np.float32
    again = make(name)
    np.testing.assert_array_equal(again.reset(seed=3)[0], obs)
    if name != "ContinuousLake":
        assert (again.reset(seed=4)[0] != obs).any()
    state, (obs, _) = env.unwrapped._state, env.reset(seed=3)
    for _ in range(30):
        action = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        theirs = task.step_env(None, state, action, None)
        obs, reward, terminated, *_ = env.step(action)
        np.testing.assert_allclose(obs, theirs[0], atol=1e-5)
        assert (reward, terminated) == (pytest.approx(float(theirs[2])), bool(theirs[3]))
        assert env.observation_space.contains(obs)
        if terminated:
            break
        state = theirs[1]


@pytest.mark.parametrize("name", [name for name in TASKS if name != "ContinuousLake"])
def test_episodes_are_truncated(name):
    env = gymnasium.make(f"adeu/{name}-v0", limit=2)
    still = np.zeros(env.action_space.shape, np.float32)
    env.reset(seed=0)
    assert [env.step(still)[2:4] for _ in range(2)] == [(False, False), (False, True)]
    with pytest.raises(gymnasium.error.ResetNeeded, match="GymTask: call reset"):
        env.unwrapped.step(still)


def test_start_states_are_uniform_in_their_range():
    def starts(task):
        return np.array(
            jax.vmap(lambda key: task.reset_env(key, None)[1].place)(jax.random.split(jax.random.key(0), 999))
        )

    for task, middle, width in (
        (JaxPendulum(), (0, 0), (np.pi, 1)),
        (JaxPendulum(sparse=True), (np.pi, 0), (0.1, 0.1)),
        (JaxSwingUp(), (0, 0, np.pi, 0), (0.05,) * 4),
        (JaxPointMaze(), (-0.75, -0.55), (0.05, 0.05)),
        (JaxMountainCarContinuous(), (-0.5, 0), (0.1, 0)),
    ):
        drawn, middle, width = starts(task), np.array(middle), np.array(width)
        np.testing.assert_allclose(drawn.min(axis=0), middle - width, atol=0.03 * max(width))
        np.testing.assert_allclose(drawn.max(axis=0), middle + width, atol=0.03 * max(width))


PAIRS = {"MountainCarContinuous-v0": JaxMountainCarContinuous(), "Pendulum-v1": JaxPendulum()}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("stray", [False, True])
def test_every_step_equals_that_of_gymnasium(name, stray):
    env, pure = gymnasium.make(name), PAIRS[name]
    assert pure.observation_space().shape == env.observation_space.shape
    np.testing.assert_array_equal(pure.observation_space().high, env.observation_space.high)
    assert (pure.action_space(), pure.limit) == (env.action_space, env.spec.max_episode_steps)
    move = jax.jit(lambda state, action: pure.step_env(None, state, action, None))
    policy = controllers.rock if name.startswith("Mountain") else controllers.swing_and_hold
    _, state = pure.reset_env(jax.random.key(0), None)
    for seed in range(2):
        obs, _ = env.reset(seed=seed)
        state = state._replace(time=jnp.zeros((), jnp.int32))
        for step in range(pure.limit):
            state = state._replace(place=jnp.asarray(env.unwrapped.state, jnp.float32))
            action = np.array([np.sin(step / 7) * 2.2] if stray else policy(obs), np.float32)
            obs, reward, terminated, truncated, _ = env.step(action)
            seen, state, paid, over, _ = move(state, action)
            np.testing.assert_allclose(seen, obs, atol=2e-5)
            assert float(paid) == pytest.approx(float(reward), abs=2e-4)
            assert (bool(over), bool(pure.is_truncated(state, None) & ~over)) == (terminated, truncated)
            if terminated or truncated:
                break
        assert terminated == (name.startswith("Mountain") and not stray)


def test_bad_arguments_are_rejected():
    with pytest.raises(ValueError, match=r"GymTask: task takes 'SparsePendulum' or .*; did you mean 'PointMaze'"):
        GymTask("Pointmaze")
    with pytest.raises(ValueError, match="JaxContinuousLake: size takes a whole number >= 1, got 0"):
        JaxContinuousLake(size=0)
    with pytest.raises(ValueError, match="JaxContinuousLake: tolerance takes a number > 0, got 0"):
        JaxContinuousLake(tolerance=0)
    env = adeu.envs.JaxSwingUp()
    assert env.default_params is None
    maze = make("PointMaze")
    maze.reset(seed=0)
    for bad in ([1.0], [np.nan, 0.0]):
        with pytest.raises(ValueError, match=r"GymTask: action takes finite numbers of shape \(2,\), got"):
            maze.unwrapped.step(bad)
