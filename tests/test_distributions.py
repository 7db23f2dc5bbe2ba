"""The samples of each D. Every statistical test has a fixed seed, and a false positive rate of 1 in 10,000."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import adeu

ALPHA = 1e-4
KEYS = jax.random.split(jax.random.key(7), 50_000)


@functools.partial(jax.jit, static_argnames="D")
def first(D, keys, center, spread, action_mask=None):
    """Return the first decision with each key."""

    def one(key):
        key_begin, key_sample = jax.random.split(key)
        return D.sample(key_sample, (), D.begin(key_begin), center, spread, action_mask)

    return jax.vmap(one)(keys)


def samples(D, center, spread, action_mask=None):
    """Return independent first decisions."""
    return map(np.asarray, first(D, KEYS, np.float32(center), np.float32(spread), action_mask)[:2])


def assert_frequencies(actions, probabilities):
    probabilities = np.asarray(probabilities, float)
    counts = np.bincount(actions, minlength=len(probabilities))
    assert not counts[probabilities == 0].any()
    possible = probabilities > 0
    assert stats.chisquare(counts[possible], probabilities[possible] * len(actions)).pvalue > ALPHA


def assert_share(successes, trials, probability):
    assert stats.binomtest(int(successes), int(trials), probability).pvalue > ALPHA


class TestGaussian:
    @pytest.mark.parametrize("moment", ["std", "variance"])
    def test_std_is_the_spread_in_half_ranges(self, moment):
        D = adeu.Gaussian(low=(-1.0, -10.0), high=(1.0, 30.0), moment=moment)
        actions, explored = samples(D, [0.0, 10.0], 0.01)
        std = {"std": 0.01, "variance": 0.1}[moment] * np.array([1.0, 20.0])
        degrees = len(actions) - 1
        statistic = degrees * actions.astype(float).var(axis=0, ddof=1) / std**2
        assert (stats.chi2.sf(statistic, degrees) > ALPHA / 4).all()
        assert (stats.chi2.cdf(statistic, degrees) > ALPHA / 4).all()
        z = (actions.mean(axis=0, dtype=float) - [0.0, 10.0]) / (std / np.sqrt(len(actions)))
        assert (np.abs(z) < stats.norm.isf(ALPHA / 4)).all()
        assert abs(np.corrcoef(actions.T)[0, 1]) < stats.norm.isf(ALPHA / 2) / np.sqrt(len(actions))
        assert explored.all()

    def test_samples_stay_in_range_and_no_spread_is_the_mean(self):
        D = adeu.Gaussian(low=(-1.0, 0.0), high=(1.0, 4.0))
        actions, _ = samples(D, [0.9, 0.1], 2.0)
        assert (actions >= [-1, 0]).all()
        assert (actions <= [1, 4]).all()
        assert (actions == [1, 0]).any(axis=0).all()
        actions, explored = samples(D, [0.9, 0.1], 0.0)
        assert (actions == np.float32([0.9, 0.1])).all()
        assert not explored.any()

    def test_deviation_is_in_half_ranges_from_the_clipped_mean(self):
        D = adeu.Gaussian(low=(-1.0, 0.0), high=(1.0, 4.0))
        assert float(D.deviation(jnp.array([0.5, 1.0]), jnp.array([0.0, 2.0]))) == pytest.approx((0.5 + 0.5) / 2)
        assert float(D.deviation(jnp.array([1.0, 4.0]), jnp.array([3.0, 9.0]))) == 0.0
        assert D.has_deviation
        assert not adeu.Bernoulli().has_deviation

    def test_masked_dimensions_stay_at_the_mean(self):
        actions, _ = samples(adeu.Gaussian(-1.0, 1.0), [0.5, 0.5], 0.3, action_mask=jnp.array([True, False]))
        assert (actions[:, 1] == 0.5).all()
        assert (actions[:, 0] != 0.5).all()

    def test_actions_may_be_matrices(self):
        actions, _ = samples(adeu.Gaussian(-1.0, 1.0), np.zeros((2, 3)), 0.3)
        assert actions.shape[1:] == (2, 3)


class TestCategorical:
    q = np.array([1.0, 0.0, -2.0, 1.0])

    @pytest.mark.parametrize("spread", [0.0, 0.4, 1.0, 7.0])
    def test_frequencies_are_the_softmax(self, spread):
        actions, explored = samples(adeu.Categorical(temperature=0.5), self.q, spread)
        weights = np.exp((1 - min(spread, 1)) * self.q / 0.5)
        assert_frequencies(actions, weights / weights.sum())
        assert (explored == np.isin(actions, [1, 2])).all()

    def test_full_spread_is_exactly_uniform(self):
        for temperature in (1.0, 1e-30):
            p = adeu.Categorical(temperature).probabilities(jnp.array([3e38, -3e38, 5.0]), 1.0)
            assert (p == jnp.full(3, 1 / 3)).all()
        assert adeu.Categorical(1e-30).probabilities(jnp.array([1.0, 1.0, 0.9]), 0.0).tolist() == [0.5, 0.5, 0.0]

    def test_masked_actions_are_never_taken(self):
        mask = jnp.array([False, True, True, False])
        for spread in (0.0, 1.0):
            actions, explored = samples(adeu.Categorical(), self.q, spread, mask)
            weights = np.exp((1 - spread) * self.q) * np.asarray(mask)
            assert_frequencies(actions, weights / weights.sum())
            assert (explored == (actions == 2)).all()

    @pytest.mark.parametrize(("x64", "tolerance"), [(False, 1.2e-6), (True, 1e-14)])
    def test_probabilities_of_the_grid_example(self, x64, tolerance):
        """Compare with p(s,a) = softmax(sigmoid(beta*sqrt(n) - shift) * q(s,a)), also for small n."""
        random = np.random.default_rng(0)
        q = random.uniform(-10, 10, (20_000, 4)).astype(np.float32).astype(float)
        n = np.append(random.integers(1, 30, 10_000), random.integers(1, 2000, 10_000))
        trust = 1 / (1 + np.exp(2 - 0.9 * np.sqrt(n)))
        expected = np.exp(trust[:, None] * (q - q.max(axis=1, keepdims=True)))
        expected /= expected.sum(axis=1, keepdims=True)
        f, g, D = adeu.Counts(num_states=1, beta=0.9), adeu.ShiftedSigmoid(shift=2.0), adeu.Categorical()

        def p(n, q):
            uncertainty, _ = f.measure(jax.random.key(0), jnp.full(1, n - 1), (), 0)
            return D.probabilities(q, g(uncertainty))

        with jax.enable_x64(x64):
            np.testing.assert_allclose(jax.jit(jax.vmap(p))(n, q), expected, rtol=tolerance)

    def test_exploit_is_greedy(self):
        actions = jax.jit(jax.vmap(lambda key: adeu.Categorical().exploit(key, (), jnp.asarray(self.q))))(KEYS)
        assert_frequencies(actions, [0.5, 0, 0, 0.5])


class TestBernoulli:
    q = np.array([2.0, 0.0, 2.0, -5.0, 2.0])

    def test_it_explores_with_probability_spread_by_uniform_actions(self):
        actions, explored = samples(adeu.Bernoulli(), self.q, 0.3)
        assert_share(explored.sum(), len(explored), 0.3)
        assert_frequencies(actions[explored], np.full(5, 0.2))
        assert_frequencies(actions[~explored], [1 / 3, 0, 1 / 3, 0, 1 / 3])

    def test_masked_actions_are_never_taken(self):
        mask = jnp.array([False, True, True, True, False])
        actions, explored = samples(adeu.Bernoulli(), self.q, 0.5, mask)
        assert_frequencies(actions[explored], [0, 1 / 3, 1 / 3, 1 / 3, 0])
        assert (actions[~explored] == 2).all()


class TestOptions:
    q = jnp.array([0.0, 1.0, 0.0])

    def episode(self, D, spread, steps, action_mask=None):
        """Play one long episode; return the actions, explored, and where options begin."""

        @jax.jit
        def play(keys):
            def one(carry, key):
                action, explored, after = D.sample(key, (), carry, self.q, spread, action_mask)
                return after, (action, explored, (carry.steps_left == 0) & explored)

            return jax.lax.scan(one, D.begin(keys[0]), keys)[1]

        return map(np.asarray, play(jax.random.split(jax.random.key(11), steps)))

    @pytest.mark.parametrize("mu", [1.5, *(pytest.param(mu, marks=pytest.mark.slow) for mu in (2.0, 3.0))])
    def test_lengths_are_zeta_distributed(self, mu):
        actions, explored, begins = self.episode(adeu.Options(mu=mu), 0.3, 300_000)
        starts = np.flatnonzero(begins)
        free = ~explored | begins
        assert_share(begins.sum(), free.sum(), 0.3)
        ends = np.append(np.flatnonzero(free), len(free))
        lengths = ends[np.searchsorted(ends, starts, side="right")] - starts
        complete = starts + lengths < len(actions)
        edges = np.array([1, 2, 3, 4, 6, 11, 51, np.inf])
        counts = np.histogram(lengths[complete], edges)[0]
        expected = -np.diff(stats.zipf(mu).sf(edges - 1)) * complete.sum()
        assert stats.chisquare(counts, expected).pvalue > ALPHA
        assert_frequencies(actions[starts], np.full(3, 1 / 3))
        assert all((actions[s : s + k] == actions[s]).all() for s, k in zip(starts, lengths, strict=True))
        assert (actions[~explored] == 1).all()

    def test_no_option_is_longer_than_ten_thousand(self):
        *_, carries = first(adeu.Options(mu=1.01), KEYS, self.q, 1.0)
        assert carries.steps_left.max() == 9_999
        assert_share((carries.steps_left == 9_999).sum(), len(KEYS), stats.zipf(1.01).sf(9_999))

    def test_in_double_precision_the_carry_keeps_its_types(self):
        with jax.enable_x64(True):
            D = adeu.Options()
            before = D.begin(KEYS[0])
            after = jax.eval_shape(D.sample, KEYS[0], (), before, self.q, 1.0)[2]
            assert [leaf.dtype for leaf in before] == [leaf.dtype for leaf in after]

    def test_given_options_are_played_completely_and_by_weight(self):
        D = adeu.Options(mu=2.0, options=[[0, 1, 2], [2]], weights=[1.0, 3.0])
        actions, _, begins = self.episode(D, 1.0, 60_000)
        starts = np.flatnonzero(begins)
        assert_frequencies((actions[starts] == 2).astype(int), [0.25, 0.75])
        whole = [s for s in starts if actions[s] == 0 and s + 3 <= len(actions)]
        assert whole
        assert all(actions[s : s + 3].tolist() == [0, 1, 2] for s in whole)

    def test_an_option_ends_with_the_episode_unless_carried(self):
        for carried in (False, True):
            D = adeu.Options(carried=carried)
            running = D.begin(KEYS[0])._replace(option=jnp.asarray(2), steps_left=jnp.asarray(5))
            action, explored, after = D.sample(KEYS[0], (), D.begin(KEYS[1], running), self.q, 0.0)
            assert (int(action), bool(explored), int(after.steps_left)) == (
                (2, True, 4) if carried else (1, False, 0)
            )

    def test_a_masked_action_ends_an_option_and_never_begins_one(self):
        D, mask = adeu.Options(mu=1.5), jnp.array([True, True, False])
        running = D.begin(KEYS[0])._replace(option=jnp.asarray(2), steps_left=jnp.asarray(5))
        action, explored, after = D.sample(KEYS[0], (), running, self.q, 0.0, mask)
        assert (int(action), bool(explored), int(after.steps_left)) == (1, False, 0)
        actions, _, begins = self.episode(D, 0.5, 20_000, mask)
        assert_frequencies(actions[begins], [0.5, 0.5, 0])

    def test_ties_are_broken_at_random(self):
        actions, _ = samples(adeu.Options(), [3.0, 0.0, 3.0], 0.0)
        assert_frequencies(actions, [0.5, 0, 0.5])


def test_the_share_of_rollout_episodes_is_rho():
    f = adeu.Rollouts(adeu.Constant(5.0), rho=0.3, c=0.2)
    carries = jax.jit(jax.vmap(f.begin))(KEYS)
    measured, carries = jax.jit(jax.vmap(lambda carry: f.measure(KEYS[0], ((),), carry, 0)))(carries)
    assert_share(carries.rollout.sum(), len(KEYS), 0.3)
    assert set(np.asarray(measured).tolist()) == {5.0, np.float32(0.2)}
