"""Property tests with random spaces, shapes, batch sizes, keys and uncertainties."""

import contextlib
import functools
from types import SimpleNamespace

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import adeu

slow_to_compile = settings(max_examples=3, deadline=None, derandomize=True)
quick = settings(max_examples=200, deadline=None, derandomize=True)

seeds = st.integers(0, 2**32 - 1)
small = st.floats(-5, 5, width=32)
uncertainties = st.floats(0, 2**100, width=32, allow_subnormal=False)


@functools.cache
def sampler(D):
    return jax.jit(lambda key, center, spread: D.sample(key, (), D.begin(key), center, spread))


@given(seeds, hnp.arrays(np.float32, 3, elements=st.floats(-1e6, 1e6, width=32)), uncertainties)
@quick
def test_every_discrete_distribution_accepts_any_preferences_and_spread(seed, center, spread):
    for D in (adeu.Categorical(), adeu.Bernoulli(), adeu.Options()):
        action, explored, _ = sampler(D)(jax.random.key(seed), center, spread)
        assert 0 <= action < 3
        if not explored and adeu.Options() != D:
            assert center[action] == center.max() or isinstance(D, adeu.Bernoulli)


@given(seeds, hnp.arrays(np.float32, 2, elements=st.floats(-1e6, 1e6, width=32)), uncertainties)
@quick
def test_gaussian_actions_stay_in_range(seed, center, spread):
    D = adeu.Gaussian(low=(-1.0, 0.5), high=(1.0, 7.0))
    action, explored, _ = sampler(D)(jax.random.key(seed), center, spread)
    assert -1 <= action[0] <= 1
    assert 0.5 <= action[1] <= 7
    assert explored == (np.float32(spread) > 0)


@given(uncertainties, uncertainties)
@quick
def test_the_spread_never_decreases_with_uncertainty(a, b):
    low, high = sorted((a, b))
    for g in (adeu.Sigmoid(), adeu.Saturating(), adeu.ShiftedSigmoid(), adeu.Identity(), adeu.Clip(0.1, 3.0)):
        assert 0 <= g(low) <= g(high)


@given(st.data(), seeds, st.integers(1, 5), st.integers(1, 6), st.booleans())
@slow_to_compile
def test_a_behavior_fits_any_spaces_and_number_of_environments(data, seed, num_envs, size, continuous):
    low = data.draw(hnp.arrays(np.float32, data.draw(hnp.array_shapes(max_dims=2, max_side=3)), elements=small))
    if continuous:
        action_space, D = gymnasium.spaces.Box(low, low + np.float32(2)), adeu.Gaussian()
        center = np.zeros((num_envs, *low.shape))
    else:
        action_space, D = gymnasium.spaces.Discrete(size), adeu.Options()
        center = data.draw(hnp.arrays(np.float32, (num_envs, size), elements=small))
    env = SimpleNamespace(
        observation_space=gymnasium.spaces.Box(-np.inf, np.inf, (size,)), action_space=action_space, num_envs=num_envs
    )
    f = adeu.Rollouts(adeu.Rnd(hidden=(4,), features=2), rho=0.5, c=0.1)
    behavior = adeu.Behavior(adeu.Explorer(f, adeu.Sigmoid(), D), env, seed=seed)
    obs = data.draw(hnp.arrays(np.float32, (num_envs, size), elements=small))
    ended = data.draw(hnp.arrays(bool, num_envs))
    for _ in range(3):
        decision = behavior.act(obs, center)
        assert decision.spread.shape == (num_envs,)
        assert all(action_space.contains(action) for action in decision.action)
        step = adeu.Transition(obs, decision.action, np.zeros(num_envs), obs, ended, ~ended)
        behavior.observe(step)
        behavior.update(step)
    assert behavior.step == 3 * num_envs
    assert jax.tree.all(jax.tree.map(lambda x: bool(jnp.isfinite(x).all()), behavior.state))


fields = st.recursive(
    st.builds(adeu.Constant, st.floats(0, 1e300)) | st.builds(adeu.Counts, st.integers(1, 10**9)),
    lambda f: (
        st.builds(adeu.Rollouts, f, st.floats(0, 1), st.floats(0, 10))
        | st.builds(adeu.Ratio, f, f, st.floats(1e-3, 1e3) | st.just("conditioned"))
        | st.builds(adeu.Sum, st.lists(f, min_size=1, max_size=3))
        | st.builds(adeu.Calibrated, f)
    ),
    max_leaves=6,
)


@given(fields)
@quick
def test_any_composition_round_trips_through_json(f):
    again = adeu.from_json(adeu.to_json(f))
    assert again == f
    assert hash(again) == hash(f)


@given(st.text())
@quick
def test_any_text_is_a_part_or_rejected(text):
    with contextlib.suppress(ValueError):
        assert issubclass(adeu.find_part(text), adeu.Part)
    with contextlib.suppress(ValueError):
        assert isinstance(adeu.from_json(text), adeu.Part)
