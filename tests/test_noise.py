"""Correlated noise in a Box. Seeds are fixed, and each statistical test has a false positive rate of 1e-6."""

import functools
import itertools

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box
from scipy import stats

import adeu
from adeu.distributions.autoregressive import Mixture
from adeu.distributions.colored import BAND

ALPHA = 1e-6
RANGE = {"low": (-1.0, -3.0), "high": (1.0, 5.0)}
HALF, CENTER = np.array([1.0, 4.0]), np.float32([0.0, 1.0])
SPREAD = 2.0**-10  # small enough to avoid clipping, and a power of 2 for exact division
ENVS = 4000

GAUSSIAN_NOISE = {
    "white": adeu.Colored(0.0, **RANGE),
    "pink": adeu.Colored(1.0, **RANGE),
    "red": adeu.Colored(2.0, **RANGE),
    "between": adeu.Colored(1.3, carried=True, **RANGE),
    "ou": adeu.OrnsteinUhlenbeck(0.15, **RANGE),
    "ou-slow": adeu.OrnsteinUhlenbeck(0.0015, carried=True, **RANGE),
}
OPTIONS = {"options": adeu.BoxOptions(2.0, **RANGE), "options-carried": adeu.BoxOptions(1.5, carried=True, **RANGE)}
NOISES = GAUSSIAN_NOISE | OPTIONS
every_noise = pytest.mark.parametrize("D", NOISES.values(), ids=NOISES.keys())


@functools.partial(jax.jit, static_argnames=("D", "envs", "steps", "episodes"))
def _paths(D, seed, envs, steps, episodes, spread):
    def step(carry, key):
        action, _, carry = D.sample(key, (), carry, CENTER, spread)
        return carry, action

    def episode(carry, key):
        key_begin, key_steps = jax.random.split(key)
        return jax.lax.scan(step, D.begin(key_begin, carry), jax.random.split(key_steps, steps))

    def one(key):
        key_first, key_rest = jax.random.split(key)
        return jax.lax.scan(episode, D.begin(key_first), jax.random.split(key_rest, episodes))[1]

    return jax.vmap(one)(jax.random.split(jax.random.key(seed), envs))


def paths(D, envs=ENVS, steps=3, episodes=1, spread=SPREAD, seed=0):
    """Return the noise in units of the spread, of shape (environments, episodes, steps, dimensions)."""
    return (np.asarray(_paths(D, seed, envs, steps, episodes, spread), float) - CENTER) / HALF / spread


def assert_unit_normal(values):
    """Assert that the values are independent N(0, 1)."""
    flat = values.ravel()
    square = (flat**2).sum()
    assert min(stats.chi2(len(flat)).cdf(square), stats.chi2(len(flat)).sf(square)) > ALPHA / 2
    assert stats.kstest(flat, "norm").pvalue > ALPHA


@pytest.mark.parametrize("D", GAUSSIAN_NOISE.values(), ids=GAUSSIAN_NOISE.keys())
def test_noise_is_standard_normal_at_every_step(D):
    noise = paths(D, steps=12, episodes=2)
    for episode in range(2):
        for t in (0, 1, 5, 11):
            assert_unit_normal(noise[:, episode, t])


@pytest.mark.parametrize("D", OPTIONS.values(), ids=OPTIONS.keys())
def test_offsets_are_uniform_with_unit_variance_at_every_step(D):
    noise = paths(D, steps=12, episodes=2)
    for episode in range(2):
        for t in (0, 1, 5, 11):
            uniform = stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))
            assert uniform.var() == pytest.approx(1.0)
            assert stats.kstest(noise[:, episode, t].ravel(), uniform.cdf).pvalue > ALPHA


@every_noise
def test_dimensions_and_environments_are_independent(D):
    noise = paths(D, steps=4)[:, 0, 3]
    pairs = (noise[:, 0], noise[:, 1]), (noise[::2, 0], noise[1::2, 0])
    for one, other in pairs:
        assert stats.pearsonr(one, other).pvalue > ALPHA


@every_noise
def test_noise_is_redrawn_or_carried_at_the_start_of_an_episode(D):
    noise = paths(D, steps=3, episodes=2)
    last, first = noise[:, 0, -1].ravel(), noise[:, 1, 0].ravel()
    if not D.carried:
        assert stats.pearsonr(last, first).pvalue > ALPHA
    elif isinstance(D, adeu.BoxOptions):
        assert 0.3 < np.mean(last == first) < 0.9
    else:
        mixture = D.mixture
        assert_correlation(last, first, float(mixture.variance @ mixture.rho))


def assert_correlation(one, other, expected):
    """Use Fisher's transformation: arctanh of a correlation is normal with a variance of 1 / (n - 3)."""
    distance = np.arctanh(stats.pearsonr(one, other).statistic) - np.arctanh(expected)
    assert abs(distance) < stats.norm.isf(ALPHA / 2) / np.sqrt(len(one) - 3)


@pytest.mark.parametrize("name", ["pink", "red", "ou", "ou-slow"])
@pytest.mark.parametrize("lag", [1, 20])
def test_the_autocorrelation_is_that_of_the_mixture(name, lag):
    D = NOISES[name]
    noise = paths(D, steps=lag + 1)[:, 0]
    assert_correlation(noise[:, 0].ravel(), noise[:, lag].ravel(), float(D.mixture.variance @ D.mixture.rho**lag))


OCTAVES = np.geomspace(*BAND, 7)


def slope(power):
    """Return the slope over octaves, in logarithmic axes."""
    return np.polyfit(np.log(OCTAVES[:-1]), np.log(power), 1)[0]


def expected_periodogram(mixture: Mixture, window):
    """Return the expected periodogram from the autocovariance, which includes leakage by the window."""
    steps = len(window)
    lags = np.arange(-steps + 1, steps)
    covariance = mixture.rho ** np.abs(lags)[:, None] @ mixture.variance
    products = np.correlate(window, window, "full")
    frequency = np.fft.rfftfreq(steps)
    return frequency, np.cos(2 * np.pi * frequency[:, None] * lags) @ (covariance * products)


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 1.5, 2.0])
def test_the_spectrum_has_the_expected_slope(beta):
    """Compare the power in octaves from 1/256 to 1/4 cycles per step, and its slope, with the exact expectations."""
    envs, steps = 100, 1024
    D = adeu.Colored(beta, **RANGE)
    window = stats.norm.pdf(np.linspace(-4, 4, steps))
    frequency, expected = expected_periodogram(D.mixture, window)
    noise = paths(D, envs, steps)[:, 0]
    power = np.abs(np.fft.rfft(noise * window[:, None], axis=1)) ** 2
    in_octave = [(frequency >= low) & (frequency < high) for low, high in itertools.pairwise(OCTAVES)]
    measured = np.stack([power[:, mask].mean(axis=1) for mask in in_octave], axis=-1).reshape(-1, 6)
    theory = np.array([expected[mask].mean() for mask in in_octave])

    relative, count = measured / theory, len(measured)
    error = relative.std(axis=0, ddof=1) / np.sqrt(count)
    bound = stats.t(count - 1).isf(ALPHA / 2)
    assert (np.abs(relative.mean(axis=0) - 1) < bound * error).all()
    weight = np.log(OCTAVES[:-1]) - np.log(OCTAVES[:-1]).mean()
    of_slope = (relative @ (weight / (weight**2).sum())).std(ddof=1) / np.sqrt(count)  # log(1 + e) ~ e
    assert abs(slope(measured.mean(axis=0)) - slope(theory)) < bound * of_slope < 0.1
    assert abs(slope(measured.mean(axis=0)) + beta) < bound * of_slope + 0.04


@pytest.mark.parametrize("beta", np.linspace(0, 2, 21).round(2))
def test_the_slope_of_the_mixture_is_beta_within_the_tolerance(beta):
    mixture = adeu.Colored(float(beta)).mixture
    frequency = np.geomspace(*BAND, 200)
    spectrum = mixture.spectrum(frequency)
    assert np.polyfit(np.log(frequency), np.log(spectrum), 1)[0] == pytest.approx(-beta, abs=0.04)
    assert mixture.variance.sum() == pytest.approx(1.0)
    assert (mixture.variance > 0).all()
    whole = np.linspace(0, 0.5, 200_001)
    assert 2 * np.trapezoid(mixture.spectrum(whole), whole) == pytest.approx(1.0, rel=1e-4)


def test_beta_0_is_white_noise_and_beta_2_a_single_process():
    assert adeu.Colored(0.0).mixture == (0.0, 1.0)
    assert adeu.Colored(2.0).mixture == (np.exp(-1 / 256), 1.0)
    key, white = jax.random.key(3), adeu.Gaussian(**RANGE)
    expected = white.sample(key, (), (), CENTER, 0.25)[0]
    for D in (adeu.Colored(0.0, **RANGE), adeu.OrnsteinUhlenbeck(1.0, **RANGE)):
        np.testing.assert_array_equal(D.sample(key, (), D.begin(key), CENTER, 0.25)[0], expected)


def test_options_hold_an_offset_for_zeta_distributed_times():
    noise = paths(NOISES["options"], envs=100, steps=400)[:, 0]
    begins = np.ones(noise.shape[:2], bool)
    begins[:, 1:] = (noise[:, 1:] != noise[:, :-1]).all(axis=2)
    assert (begins[:, 1:] == (noise[:, 1:] != noise[:, :-1]).any(axis=2)).all()  # all dimensions change at once
    # Use only options that begin in the first 200 steps, so that their lengths are observed.
    lengths = [np.diff(np.append(np.flatnonzero(row), 1000))[np.flatnonzero(row) < 200] for row in begins]
    edges = np.array([1, 2, 3, 4, 6, 11, 51, np.inf])
    counts = np.histogram(np.concatenate(lengths), edges)[0]
    expected = -np.diff(stats.zipf(2.0).sf(edges - 1)) * counts.sum()
    assert stats.chisquare(counts, expected).pvalue > ALPHA


@every_noise
def test_noise_is_scaled_by_the_spread_of_the_step(D):
    carry = D.begin(jax.random.key(1))
    for key in jax.random.split(jax.random.key(2), 4):
        quiet, explored, after_quiet = D.sample(key, (), carry, CENTER, 0.0)
        loud, also, after_loud = D.sample(key, (), carry, CENTER, 0.125)
        half, _, _ = D.sample(key, (), carry, CENTER, 0.0625)
        np.testing.assert_array_equal(quiet, CENTER)
        assert (bool(explored), bool(also)) == (False, True)
        np.testing.assert_allclose(loud - CENTER, 2 * (half - CENTER), atol=1e-6)
        assert jax.tree.all(
            jax.tree.map(np.array_equal, after_quiet, after_loud)
        )  # the carry does not depend on the spread
        carry = after_quiet


def test_variance_mask_and_range_are_respected():
    for D in (adeu.Colored, adeu.OrnsteinUhlenbeck, adeu.BoxOptions):
        key, std, variance = jax.random.key(0), D(**RANGE), D(**RANGE, moment="variance")
        carry = std.begin(key)
        expected = std.sample(key, (), carry, CENTER, 0.125)[0]
        np.testing.assert_array_equal(variance.sample(key, (), carry, CENTER, 0.015625)[0], expected)
        masked = std.sample(key, (), carry, CENTER, 0.125, jnp.array([True, False]))[0]
        np.testing.assert_array_equal(masked, [expected[0], CENTER[1]])
        far = std.sample(key, (), carry, CENTER, 1e6)[0]
        assert set(np.abs((np.asarray(far) - [0, 1]) / HALF).tolist()) == {1.0}


def test_bind_determines_the_shape_of_the_carry():
    space = Box(-2.0, 2.0, (2, 3))
    for part in (adeu.Colored(), adeu.Colored(low=-1.0, high=1.0), adeu.OrnsteinUhlenbeck(), adeu.Options(3.0)):
        D = part.bind(None, space)
        carry = D.begin(jax.random.key(0))
        action, _, _ = D.sample(jax.random.key(1), (), carry, np.zeros((2, 3)), 0.1)
        assert action.shape == (2, 3)
        assert np.unique(action).size == 6
        assert D.bind(None, space) == D
    bound = adeu.Options(3.0, carried=True).bind(None, space)
    assert (type(bound), bound.mu, bound.carried) == (adeu.BoxOptions, 3.0, True)
    D = adeu.Colored(low=-1.0, high=1.0)
    with pytest.raises(ValueError, match=r"Colored: center takes the shape \(\) of its range.*, got 'shape \(2,\)'"):
        D.sample(jax.random.key(0), (), carry, np.zeros(2), 0.1)


@every_noise
def test_noise_is_redrawn_where_a_guard_decides(D):
    guard = adeu.KnownUnsafe(states=[1], actions=[(0.0, 0.0)])
    explorer = adeu.Explorer(adeu.Constant(SPREAD), adeu.Identity(), D, guard)
    state, key = explorer.init(jax.random.key(0), 0), jax.random.key(5)
    carry = explorer.begin(jax.random.key(1))
    safe, after = explorer.act(key, state, carry, 1, CENTER)
    np.testing.assert_array_equal(safe.action, [0.0, 0.0])
    _, other = explorer.act(key, state, carry._replace(D=jax.tree.map(lambda x: x + 1, carry.D)), 1, CENTER)
    assert jax.tree.all(jax.tree.map(np.array_equal, after.D, other.D))


def test_a_loaded_behavior_resumes_the_noise_bit_for_bit(tmp_path):
    env, explorer = (
        gymnasium.make_vec("Pendulum-v1", 3),
        adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Options()),
    )
    first, again = (adeu.Behavior(explorer, env, seed=seed) for seed in (1, 2))
    obs, center = np.zeros((3, 3)), np.zeros((3, 1))
    for _ in range(3):
        first.act(obs, center)
    first.save(tmp_path / "noise")
    again.load(tmp_path / "noise")
    for _ in range(3):
        one, other = first.act(obs, center), again.act(obs, center)
        np.testing.assert_array_equal(one.action, other.action)
        assert len(np.unique(one.action)) == 3


def test_correlated_noise_has_no_tabular_form():
    model = adeu.tabular.from_mdp(adeu.envs.lake_mdp(adeu.envs.Lake(size=4)))
    for D in (adeu.Colored(), adeu.OrnsteinUhlenbeck(), adeu.BoxOptions()):
        explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), D)
        with pytest.raises(ValueError, match=f"{type(D).__name__}: action space takes a Box"):
            adeu.tabular.QLearning(explorer).job(model, episodes=1, max_steps=1, seed=0)
        with pytest.raises(TypeError, match=rf"{type(D).__name__}\(.*has no tabular form"):
            adeu.tabular.lower(D, model)
