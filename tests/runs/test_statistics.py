"""Statistics over seeds: coverage of the intervals, and values compared with scipy and rliable."""

import numpy as np
import pytest
import scipy.stats

from adeu.runs.statistics import (
    FEWEST,
    band,
    difference,
    improvement,
    iqm,
    mean,
    median,
    peak,
    profile,
    ratio,
    share,
    wilson,
)
from adeu.runs.statistics.means import iqm_limits, mean_limits

RUNS = {
    "gamma": scipy.stats.gamma(4),
    "lognormal": scipy.stats.lognorm(0.5),
    "exponential": scipy.stats.expon(),
}
TRIALS = 20_000
NOTHING = (None, None, None)


def trials(name, seeds, tasks=1, number=TRIALS):
    """Return scores of many experiments, of shape (number, seeds, tasks)."""
    return RUNS[name].rvs((number, seeds, tasks), random_state=np.random.default_rng([seeds, tasks]))


def covers(low, high, truth, at_least):
    """Return whether the intervals cover the truth significantly more often than `at_least`.

    One-sided binomial test: intervals whose coverage is `at_least` or less pass with probability 0.001 or less.
    """
    hits = int(((low <= truth) & (truth <= high)).sum())
    return scipy.stats.binomtest(hits, len(low), at_least, alternative="greater").pvalue < 0.001


@pytest.mark.parametrize("seeds", [5, 10, 20])
@pytest.mark.parametrize("name", RUNS)
class TestCoverage:
    """Coverage is at least 0.91 with 5 seeds or more; one of these tests passes by chance with probability < 0.04."""

    def test_coverage_of_the_mean(self, name, seeds):
        scores, truth = trials(name, seeds), RUNS[name].mean()
        _, low, high = mean_limits(scores)
        assert covers(low, high, truth, 0.91)
        student = scipy.stats.t.interval(0.95, seeds - 1, *moments(scores[..., 0]))
        assert np.median(high - low) < 1.4 * np.median(student[1] - student[0])

    def test_coverage_of_the_iqm(self, name, seeds):
        _, low, high = iqm_limits(trials(name, seeds))
        assert covers(low, high, middle(RUNS[name]), 0.91)

    def test_coverage_over_several_tasks(self, name, seeds):
        scores = trials(name, seeds, tasks=6, number=5_000)
        _, low, high = mean_limits(scores * np.arange(1, 7))
        assert covers(low, high, RUNS[name].mean() * 3.5, 0.91)
        _, low, high = iqm_limits(scores)
        assert covers(low, high, middle(RUNS[name]), 0.91)


def moments(values):
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def middle(distribution):
    """Return the true interquartile mean."""
    return distribution.ppf(np.linspace(0.25, 0.75, 200_001)[:-1] + 0.25 / 200_000).mean()


def test_the_check_of_coverage_can_fail():
    """With 5 exponential runs the coverage of Student's t is 0.88, of a percentile bootstrap 0.79."""
    scores = trials("exponential", 5)[..., 0]
    assert not covers(*scipy.stats.t.interval(0.95, 4, *moments(scores)), 1.0, 0.91)
    draws = scores[:2_000, np.random.default_rng(0).integers(5, size=(500, 5))].mean(axis=2)
    assert not covers(*np.quantile(draws, (0.025, 0.975), axis=1), 1.0, 0.85)


def test_coverage_of_a_ratio():
    rng = np.random.default_rng(0)
    found = rng.integers(5, 31, (4_000, 10))
    held = rng.binomial(found, rng.beta(15, 5, found.shape))
    limits = [ratio(np.stack(pair, axis=1)) for pair in zip(held, found, strict=True)]
    _, low, high = np.array(limits).T
    assert covers(low, high, 0.75, 0.91)


@pytest.mark.parametrize("seeds", [6, 10, 20])
def test_coverage_of_a_median_with_unsolved_runs(seeds):
    """A fifth of the runs never solve the task; the true median is log 2."""
    runs = trials("exponential", seeds, number=5_000)[..., 0]
    limits = [median(np.where(run < scipy.stats.expon.ppf(0.8), run, np.inf)) for run in runs]
    low, high = np.array([(each.low, each.high) for each in limits], float).T
    assert np.isnan(high).any()
    assert covers(low, np.where(np.isnan(high), np.inf, high), np.log(2), 0.94)


def test_coverage_of_shares():
    """The exact coverage of Wilson's interval is 0.95 on average over the true shares, and 0.79 or more."""
    for seeds in (1, 2, 3, 5, 10, 20):
        low, high = wilson(np.arange(seeds + 1) / seeds, seeds)
        truths = np.linspace(0.005, 0.995, 199)
        held = (low <= truths[:, None]) & (truths[:, None] <= high)
        coverage = (scipy.stats.binom.pmf(np.arange(seeds + 1), seeds, truths[:, None]) * held).sum(axis=1)
        assert 0.945 < coverage.mean() < 0.97
        assert coverage.min() > (0.83 if seeds > 2 else 0.79)


@pytest.mark.parametrize("seeds", [5, 20])
def test_coverage_of_differences_of_shares_and_of_improvements(seeds):
    rng = np.random.default_rng(seeds)
    for win, loss in ((0.5, 0.0), (0.3, 0.1), (0.8, 0.1), (0.05, 0.05), (0.9, 0.0)):
        signs = rng.choice([1, -1, 0], (2_000, seeds), p=[win, loss, 1 - win - loss])
        ours, theirs = signs > 0, signs < 0
        _, low, high = np.array([difference(*pair, share) for pair in zip(ours, theirs, strict=True)]).T
        assert covers(low - 1e-9, high + 1e-9, win - loss, 0.91)
        _, low, high = np.array([improvement(*pair) for pair in zip(ours, theirs, strict=True)]).T
        assert covers(low - 1e-9, high + 1e-9, 0.5 + (win - loss) / 2, 0.91)


class TestMeans:
    VALUES = np.array([3.0, 5.0, 4.0, 4.5, 14.0, 2.0])

    def test_without_skewness_the_interval_is_student_t(self):
        values = np.array([1.0, 2.0, 4.0, 6.0, 7.0])
        expected = scipy.stats.t.interval(0.95, 4, 4.0, scipy.stats.sem(values))
        assert mean(values)[1:] == pytest.approx(expected, rel=1e-12)

    def test_over_several_tasks_without_skewness_the_interval_is_welch(self):
        """A difference of two means is the sum of two tasks, one of them negative."""
        one, other = np.array([1.0, 2.0, 4.0, 6.0, 7.0]), np.array([10.0, 20.0, 30.0, 40.0, 50.0])
        welch = scipy.stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
        _, low, high = mean(np.stack([one, -other], axis=1))
        assert (2 * low, 2 * high) == pytest.approx((welch.low, welch.high), rel=1e-12)

    def test_skewness_shifts_the_interval_to_the_long_tail(self):
        _, low, high = mean(self.VALUES)
        expected = scipy.stats.t.interval(0.95, 5, self.VALUES.mean(), scipy.stats.sem(self.VALUES))
        assert low > expected[0]
        assert high > expected[1]
        assert mean(-self.VALUES)[1:] == pytest.approx((-high, -low))

    def test_limits_solve_halls_equation(self):
        value, *limits = mean(self.VALUES)
        a = scipy.stats.skew(self.VALUES) / np.sqrt(6)
        for limit, t in zip(limits, scipy.stats.t.ppf((0.975, 0.025), 5), strict=True):
            T = (value - limit) / scipy.stats.sem(self.VALUES)
            assert T + a * T**2 / 3 + a**2 * T**3 / 27 + a / 6 == pytest.approx(t)

    def test_the_iqm_has_the_standard_error_of_yuen(self):
        """Compare `iqm` without skewness to scipy's test of two trimmed means, the second nearly constant."""
        values = np.array([1.0, 2.0, 3.0, 5.0, 6.0, 8.0, 9.0, 10.0])
        still = np.linspace(-1e-9, 1e-9, 8)
        result = scipy.stats.ttest_ind(values, still, trim=0.25, equal_var=False)
        expected = result.confidence_interval(0.95)
        assert iqm(values)[1:] == pytest.approx((expected.low, expected.high), rel=1e-4)

    @pytest.mark.parametrize("figure", [mean, iqm])
    def test_no_interval_for_few_constant_or_infinite_values(self, figure):
        assert figure(np.arange(FEWEST - 1))[1:] == (None, None)
        assert None not in figure(np.arange(FEWEST))
        assert figure(np.full(7, 0.1))[1:] == (None, None)
        assert figure([1.0, np.inf, 2.0, 3.0, 4.0]) == NOTHING
        assert figure([1.0, np.nan, 2.0, 3.0, 4.0]) == NOTHING

    def test_a_band_is_the_interval_of_the_mean_of_each_row(self):
        curve = np.random.default_rng(0).gamma(2, size=(6, 9))
        curve[:, 4] = 0.3
        found = band(curve)
        for row, estimate in enumerate(zip(*found, strict=True)):
            expected = [np.nan if each is None else each for each in mean(curve[:, row])]
            assert estimate == pytest.approx(expected, nan_ok=True, rel=1e-13)
        assert np.isnan(band(curve[:4])[1]).all()

    def test_a_ratio_with_equal_denominators_is_a_mean(self):
        values = np.array([1.0, 2.0, 4.0, 3.0, 3.0])
        assert ratio(np.stack([values, np.full(5, 4.0)], axis=1)) == pytest.approx(mean(values / 4))
        assert ratio(np.zeros((5, 2))) == NOTHING

    def test_the_highest_point_has_no_interval(self):
        curve = np.random.default_rng(0).normal(size=(30, 20))
        assert peak(curve) == (curve.mean(axis=0).max(), None, None)


class TestCounts:
    @pytest.mark.parametrize(("solved", "runs"), [(0, 3), (4, 5), (10, 10), (1, 40)])
    def test_shares_equal_those_of_scipy(self, solved, runs):
        expected = scipy.stats.binomtest(solved, runs).proportion_ci(method="wilson")
        flags = np.arange(runs) < solved
        assert share(flags) == pytest.approx((solved / runs, expected.low, expected.high), abs=1e-12)
        assert (share(flags).low == 0) == (solved == 0)
        assert (share(flags).high == 1) == (solved == runs)

    @pytest.mark.parametrize("seeds", [*range(1, 12), 20, 41])
    def test_medians_equal_those_of_scipy(self, seeds):
        values = np.random.default_rng(seeds).normal(size=seeds)
        expected = scipy.stats.quantile_test(values, p=0.5).confidence_interval(0.95)
        value, low, high = median(values)
        assert value == np.median(values)
        if seeds < 6:
            assert (low, high) == (None, None)
        else:
            assert (low, high) == (expected.low, expected.high)

    def test_medians_with_unsolved_runs(self):
        assert median([1.0, 2.0, 3.0, 4.0, np.inf, np.inf]) == (3.5, 1.0, None)
        assert median([1.0, 2.0, 3.0, np.inf, np.inf, np.inf]) == (None, 1.0, None)
        assert median([np.inf] * 6) == NOTHING
        assert median([1.0, np.nan]) == NOTHING

    def test_profiles(self):
        scores = np.random.default_rng(0).normal(size=(5, 4)).round(1)
        levels = np.linspace(-2, 2, 9)
        value, low, high = profile(scores, levels)
        np.testing.assert_allclose(value, [(scores > level).mean() for level in levels])
        np.testing.assert_allclose((low, high), wilson(value, 20))


class TestPairs:
    def test_differences_are_paired_by_seed(self):
        luck = np.array([0.0, 100.0, 200.0, 300.0, 400.0, 500.0])
        better = luck + np.array([1.0, 2.0, 3.0, 1.0, 2.0, 4.0])
        assert difference(better, luck) == mean(better - luck)
        assert difference(better, luck).low > 0  # unpaired, the variation of 500 would hide a difference of 2
        assert difference(better, luck, median) == (2.0, 1.0, 4.0)

    def test_improvements_and_differences_with_unsolved_runs(self):
        never = np.inf
        assert improvement([never, 5.0, never, 3.0], [never, never, 7.0, 3.0]).value == 0.5
        assert difference([never, 5.0], [never, 7.0], median) == NOTHING
        assert improvement([np.nan], [1.0]) == NOTHING

    def test_difference_of_shares_computed_by_hand(self):
        """With n = 8, three seeds solved only by ours and none only by theirs: p = 4/10, q = 1/10."""
        ours, theirs = np.array([1, 1, 1, 1, 1, 0, 0, 0]), np.array([1, 1, 0, 0, 0, 0, 0, 0])
        value, low, high = difference(ours, theirs, share)
        half = 1.959964 * np.sqrt((0.5 - 0.09) / 10)
        assert (value, low, high) == pytest.approx((0.375, 0.3 - half, 0.3 + half), abs=1e-6)
        assert difference([1, 1], [0, 0], share).high == 1

    def test_an_improvement_in_all_seeds_is_not_certain(self):
        assert improvement([2.0] * 5, [1.0] * 5) == pytest.approx((1.0, 0.5655, 1.0), abs=1e-4)


@pytest.fixture
def rliable():
    pytest.importorskip("rliable", reason="pip install 'adeu-rl[stats]'")
    from rliable import library, metrics

    return library, metrics


@pytest.mark.parametrize("shape", [(5, 1), (10, 6), (7, 3), (3, 26)])
def test_values_equal_those_of_rliable(shape, rliable):
    library, metrics = rliable
    scores = np.random.default_rng(5).normal(1.0, 1.0, shape).round(1)
    levels = np.linspace(-2, 3, 11)
    assert iqm(scores).value == pytest.approx(metrics.aggregate_iqm(scores), rel=1e-13)
    assert iqm(scores).value == pytest.approx(scipy.stats.trim_mean(scores, 0.25, axis=None), rel=1e-13)
    assert mean(scores).value == pytest.approx(metrics.aggregate_mean(scores), rel=1e-13)
    expected = [library.run_score_deviation(scores, level) for level in levels]
    np.testing.assert_allclose(profile(scores, levels).value, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mean(np.ones((2, 2, 2))),
            r"mean: scores takes .*\(seeds, tasks\), got 'shape \(2, 2, 2\)'",
        ),
        (lambda: iqm([]), r"iqm: scores takes an array of shape"),
        (lambda: ratio([1.0, 2.0]), r"ratio: pairs takes an array of shape \(seeds, 2\)"),
        (lambda: share([0.5]), r"share: values takes 0 or 1 for each seed, got \[0.5\]"),
        (lambda: median([[1.0]]), r"median: values takes an array of shape \(seeds,\)"),
        (lambda: profile([np.nan], [0]), r"profile: scores takes numbers, got 'NaN'"),
        (lambda: wilson(0.5, 0), r"wilson: runs takes a whole number >= 1, got 0"),
        (
            lambda: difference([1.0], [1.0, 2.0]),
            r"difference: theirs takes a number for each of the same 1 seeds",
        ),
        (lambda: improvement([], []), r"improvement: values takes an array of shape \(seeds,\)"),
    ],
)
def test_bad_arguments_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()
