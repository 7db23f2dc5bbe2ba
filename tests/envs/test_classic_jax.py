"""CartPole and MountainCar in JAX, compared step by step with Gymnasium's."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adeu.envs import JaxCartPole, JaxMountainCar

PAIRS = {"CartPole-v1": JaxCartPole(), "MountainCar-v0": JaxMountainCar()}


def swing(obs, step):
    """Climb the hill: push in the direction the car moves."""
    return 2 if obs[1] > 0 else 0


def lean(obs, step):
    """Balance for the whole episode."""
    return int(obs[2] + 0.2 * obs[3] + 0.02 * obs[0] + 0.05 * obs[1] > 0)


def stray(obs, step):
    return step // 7 % 2


@pytest.mark.parametrize(
    ("name", "policy"),
    [("CartPole-v1", lean), ("CartPole-v1", stray), ("MountainCar-v0", swing), ("MountainCar-v0", stray)],
)
def test_every_step_equals_that_of_gymnasium(name, policy):
    env, pure = gymnasium.make(name), PAIRS[name]
    assert pure.observation_space(None).shape == env.observation_space.shape
    assert pure.action_space().n == env.action_space.n
    assert pure.limit == env.spec.max_episode_steps
    move = jax.jit(lambda state, action: pure.step_env(None, state, action, None))
    _, state = pure.reset_env(jax.random.key(0), None)
    for seed in range(2):
        obs, _ = env.reset(seed=seed)
        state = state._replace(place=jnp.asarray(obs), time=jnp.zeros((), jnp.int32))
        for step in range(pure.limit):
            action = policy(obs, step)
            obs, reward, terminated, truncated, _ = env.step(action)
            place, state, paid, over, _ = move(state, action)
            # Compare single steps, because balancing amplifies rounding errors.
            assert np.asarray(place) == pytest.approx(obs, abs=2e-6)
            assert (float(paid), bool(over), bool(pure.is_truncated(state, None))) == (reward, terminated, truncated)
            state = state._replace(place=jnp.asarray(obs))
            if terminated or truncated:
                break
        assert (step + 1 == pure.limit) == (policy is lean or (policy is stray and name == "MountainCar-v0"))


@pytest.mark.parametrize("name", PAIRS)
def test_start_states_have_the_same_distribution(name):
    env, pure = gymnasium.make(name), PAIRS[name]
    ours = np.array(jax.vmap(lambda key: pure.reset_env(key, None)[0])(jax.random.split(jax.random.key(0), 2000)))
    theirs = np.array([env.reset(seed=seed)[0] for seed in range(2000)])
    assert ours.min(axis=0) == pytest.approx(theirs.min(axis=0), abs=2e-3)
    assert ours.max(axis=0) == pytest.approx(theirs.max(axis=0), abs=2e-3)
    assert ours.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=6e-3)


def test_sparse_mountain_car_rewards_only_the_goal():
    def paid(env, position):
        state = env.reset_env(jax.random.key(0), None)[1]._replace(place=jnp.array([position, 0.05]))
        return float(env.step_env(None, state, 2, None)[2])

    assert [paid(JaxMountainCar(sparse=True), position) for position in (0.0, 0.48)] == [0, 1]
    assert [paid(JaxMountainCar(), position) for position in (0.0, 0.48)] == [-1, -1]
