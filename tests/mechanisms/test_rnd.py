"""RND on observations of real tasks: its initial value, how it falls in known states and rises in new ones."""

import dataclasses
import functools
import math

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu

KEY = jax.random.key(0)
PAPER = adeu.Rnd.paper()


def transitions(obs):
    return adeu.Transition(obs, None, None, obs, None, None)


def measured(f, state, obs):
    return np.array(jax.jit(jax.vmap(lambda o: f.measure(KEY, state, (), o)[0]))(obs))


def trained(f, obs, updates, state=None, size=64):
    """Return the state after updates with batches from a replay of `obs`."""

    def update(state, number):
        key = jax.random.fold_in(KEY, number)
        batch = obs[jax.random.randint(key, (size,), 0, len(obs))]
        return f.update(state, transitions(batch), step=number), None

    state = f.init(KEY, obs[0]) if state is None else state
    return jax.jit(lambda state: jax.lax.scan(update, state, jnp.arange(updates))[0])(state)


def visited(name, number, start):
    """Return observations of a random policy; `start` sets the first state of each episode."""
    env, random, seen = gymnasium.make(name), np.random.default_rng(0), []
    env.action_space.seed(0)
    while len(seen) < number:
        env.reset(seed=len(seen))
        obs, ended = start(env.unwrapped, random), False
        while not ended and len(seen) < number:
            seen.append(obs)
            obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
            ended = terminated or truncated
    return np.array(seen, np.float32)


def swing(angle):
    """Start a pendulum near an angle; upright is 0."""

    def start(env, random):
        env.state = np.array([angle + random.uniform(-0.3, 0.3), random.uniform(-0.5, 0.5)])
        return env._get_obs()

    return start


def cart(place, speed):
    def start(env, random):
        env.state = np.array([place, speed, 0.0, 0.0]) + random.uniform(-0.05, 0.05, 4)
        return np.array(env.state, np.float32)

    return start


def hop(height, speed):
    def start(env, random):
        position, velocity = env.init_qpos.copy(), random.uniform(-0.05, 0.05, 6)
        position[1] += height
        velocity[0] += speed
        env.set_state(position, velocity)
        return env._get_obs()

    return start


TASKS = {
    "Pendulum-v1": (swing(math.pi), swing(0.0)),
    "CartPole-v1": (cart(0.0, 0.0), cart(1.5, 2.0)),
    "Hopper-v5": (hop(0.0, 0.0), hop(0.5, 3.0)),
}
"""Start states of known and of new episodes."""


@functools.cache
def task(name):
    if name == "Hopper-v5":
        pytest.importorskip("mujoco")
    known, new = TASKS[name]
    return visited(name, 2_000, known), visited(name, 15, new)


@pytest.mark.parametrize("name", TASKS)
class TestDefault:
    f = adeu.Rnd()

    @pytest.fixture
    def states(self, name):
        """States before the first update, after 40 and 4,000 updates, and with new observations in the replay."""
        return early_and_late(self.f, name)

    @pytest.mark.parametrize("c", [0.1, 0.2, 0.5, 1.0])
    @pytest.mark.parametrize("kind", [adeu.Sigmoid, adeu.Saturating])
    def test_the_spread_starts_near_its_top_falls_and_rises_in_new_states(self, name, states, kind, c):
        known, new = task(name)
        g = kind(c)
        first, early, late, _ = states

        def spread(state, obs):
            return np.asarray(g(measured(self.f, state, obs)))

        def uncertain(spread):
            """Scale to [0, 1]; 0 is the spread for f = 0."""
            bottom = float(g(0.0))
            return (spread - bottom) / (c - bottom)

        assert uncertain(spread(first, known)) == pytest.approx(0.93, abs=0.03)
        assert 0.8 < np.median(uncertain(spread(early, known))) < 0.99
        assert np.mean(g.saturated(spread(early, known))) < 0.5
        assert np.median(uncertain(spread(late, known))) < 0.5
        assert np.median(uncertain(spread(late, new))) > 1.4 * np.quantile(uncertain(spread(late, known)), 0.9)

    def test_new_states_become_known(self, name, states):
        _, new = task(name)
        *_, late, learned = states
        assert np.median(measured(self.f, learned, new)) < np.median(measured(self.f, late, new)) / 2


@functools.cache
def early_and_late(f, name):
    known, new = map(jnp.asarray, task(name))
    early = trained(f, known, 40)
    late = trained(f, known, 4_000)
    learned = trained(f, jnp.concatenate([known, jnp.tile(new, (50, 1))]), 1_000, late)
    return f.init(KEY, known[0]), early, late, learned


class TestObservations:
    obs = np.random.default_rng(0).standard_normal((512, 3)).astype(np.float32)
    f = adeu.Rnd()

    @pytest.mark.parametrize("size", [1e-12, 1e-6, 255.0, 1e6, 1e14])
    def test_their_scale_does_not_matter(self, size):
        usual, other = (
            measured(self.f, trained(self.f, jnp.asarray(obs), 200), obs) for obs in (self.obs, size * self.obs)
        )
        np.testing.assert_allclose(other, usual, rtol=1e-2)

    @pytest.mark.parametrize("constant", [0.0, 0.1, -1e6])
    def test_a_constant_dimension_has_no_effect_until_it_changes(self, constant):
        obs = np.column_stack([self.obs, np.full(len(self.obs), constant, np.float32)])
        state = trained(self.f, jnp.asarray(obs), 1_000)
        changed = obs + np.array([0, 0, 0, 1 + abs(constant)], np.float32)
        assert np.median(measured(self.f, state, changed)) > 1.5 * np.median(measured(self.f, state, obs))

    @pytest.mark.parametrize("f", [adeu.Rnd(), PAPER], ids=["Rnd", "paper"])
    def test_the_largest_float32_numbers_do_not_overflow(self, f):
        huge = np.where(self.obs > 0, 3e38, -3e38).astype(np.float32)
        state = trained(f, jnp.asarray(huge), 3)
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state))
        assert np.isfinite(measured(f, state, huge)).all()

    def test_a_first_batch_of_one_state_does_not_fix_the_scale(self):
        state = trained(self.f, jnp.asarray(self.obs[:1]), 1)
        state = trained(self.f, jnp.asarray(self.obs), 60, state)
        assert 2 < np.median(measured(self.f, state, self.obs)) < 4


class TestState:
    obs = jax.random.normal(jax.random.key(3), (64, 3)) * 5 + 2

    def test_only_update_changes_the_normalization_and_it_is_exact(self):
        f = adeu.Rnd()
        state, update = f.init(KEY, self.obs[0]), jax.jit(f.update)
        assert f.observe(state, transitions(self.obs[0])) is state
        for part in (self.obs[:10], self.obs[10:]):
            state = update(state, transitions(part))
        np.testing.assert_allclose(state.moments.mean, self.obs.mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(state.moments.variance, self.obs.var(axis=0), rtol=1e-5)

    def test_observations_are_clipped_at_five_standard_deviations(self):
        f = adeu.Rnd()
        state = trained(f, self.obs, 1)
        mean, std = state.moments.mean, jnp.sqrt(state.moments.variance)
        far, further, near = measured(f, state, jnp.stack([mean + k * std for k in (6.0, 600.0, 4.0)]))
        assert far == further != near

    def test_the_target_network_never_moves(self):
        f = adeu.Rnd()
        before, after = f.init(KEY, self.obs[0]), trained(f, self.obs, 5)
        assert jax.tree.all(jax.tree.map(np.array_equal, before.target, after.target))
        assert not jax.tree.all(jax.tree.map(np.array_equal, before.predictor, after.predictor))

    def test_the_scale_is_fixed_by_the_first_batches(self):
        f = adeu.Rnd()
        scales = [float(trained(f, self.obs, updates).scale) for updates in (31, 32, 200)]
        assert scales[0] != scales[1] == scales[2]


class TestGivenScale:
    obs = TestState.obs

    def test_the_scale_and_the_error_are_squared(self):
        three, one = adeu.Rnd(scale=3.0), adeu.Rnd(scale=1.0)
        state = one.init(KEY, self.obs[0])
        x = jnp.clip(self.obs, -5.0, 5.0)  # not standardized yet

        def apply(layers):
            (w1, b1), (w2, b2) = layers
            return np.maximum(x @ w1 + b1, 0) @ w2 + b2

        errors = np.sum((apply(state.predictor) - apply(state.target)) ** 2, axis=1)
        np.testing.assert_allclose(measured(one, state, self.obs), errors, rtol=1e-4)
        np.testing.assert_allclose(measured(three, three.init(KEY, self.obs[0]), self.obs), 9 * errors, rtol=1e-4)

    def test_the_scale_does_not_change_without_tuning(self):
        assert float(trained(dataclasses.replace(PAPER, tune=0.0), self.obs, 20).scale) == 187.5

    def test_only_seen_observations_become_certain(self):
        f = adeu.Rnd(scale=1.0, learning_rate=1e-3)
        state = trained(f, self.obs, 300)
        seen, novel = (np.mean(measured(f, state, obs)) for obs in (self.obs, 2 - 3 * (self.obs - 2)))
        assert seen < novel / 10
        assert seen < np.mean(measured(f, f.init(KEY, self.obs[0]), self.obs)) / 10


class TestPaper:
    obs = TestState.obs

    def test_it_has_one_output_and_the_scale_of_the_paper(self):
        assert (PAPER.features, PAPER.scale) == (1, 187.5)
        assert PAPER.init(KEY, self.obs[0]).target[-1][0].shape == (64, 1)

    def after(self, scale, errors):
        """Return the state after tuning U, from `scale`, with batches of these errors."""
        state = PAPER.init(KEY, self.obs[0])._replace(scale=jnp.asarray(scale))
        for number, error in enumerate(errors):
            state = PAPER._tune(state, jnp.full(4, error), step=100 + number)
        return state

    @pytest.mark.parametrize("error", [100.0, 1e-3])
    def test_tuning_waits_until_f_has_been_in_range(self, error):
        state = self.after(1.0, [error] * 5)
        assert (float(state.scale), int(state.tuned_at), bool(state.armed)) == (1.0, -1, False)

    @pytest.mark.parametrize(("error", "factor"), [(100.0, 0.99), (1e-3, 1.01)])
    def test_tuning_brings_f_back_in_range_and_records_its_first_step(self, error, factor):
        assert float(self.after(1.0, [1.0, 4.0, 0.25]).scale) == 1.0
        state = self.after(1.0, [100.0, 1.0, error, 1.0, error, error])
        assert float(state.scale) == pytest.approx(factor**3)
        assert int(state.tuned_at) == 102

    def test_tuning_keeps_the_median_in_the_range_of_a_sigmoid(self):
        f = dataclasses.replace(PAPER, scale=10.0, tune=0.05)
        state = trained(f, self.obs, 2_000)
        assert int(state.tuned_at) > 0
        assert 0.2 < np.median(measured(f, state, self.obs)) < 5
        untuned = dataclasses.replace(f, tune=0.0)
        assert np.median(measured(untuned, trained(untuned, self.obs, 2_000), self.obs)) < 0.1

    def test_tuning_is_logged(self):
        f = adeu.Rollouts(PAPER, rho=0.3, c=0.2)
        figures = f.figures((self.after(1.0, [1.0, 9.0]),))
        assert {name: float(value) for name, value in figures.items()} == pytest.approx(
            {"scale": 0.99, "tuned_at": 101}
        )
        assert adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2).figures((adeu.Rnd().init(KEY, self.obs[0]),)) == {}
