"""Statistics over seeds and tasks, beside rliable's."""

import numpy as np
import pytest

from adeu.runs import statistics
from adeu.runs.statistics import estimate, improvement, iqm, profile, stratified

RNG = np.random.default_rng(5)
SHAPES = [(5, 1), (10, 6), (7, 3), (3, 26)]


def scores(shape):
    """Two methods, with ties between them."""
    return RNG.normal(1.0, 1.0, shape).round(1), RNG.normal(0.5, 2.0, (shape[0] + 2, shape[1])).round(1)


@pytest.fixture
def rliable():
    pytest.importorskip("rliable", reason="pip install 'adeu-rl[stats]'")
    from rliable import library, metrics

    np.random.seed(0)  # it draws from numpy's own

    return library, metrics


@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_those_of_rliable(shape, rliable):
    library, metrics = rliable
    ours, theirs = scores(shape)
    levels = np.linspace(-2, 3, 11)
    assert iqm(ours) == pytest.approx(metrics.aggregate_iqm(ours), rel=1e-13)
    assert improvement(ours, theirs) == pytest.approx(metrics.probability_of_improvement(ours, theirs), rel=1e-13)
    expected = [library.run_score_deviation(ours, level) for level in levels]
    np.testing.assert_allclose(profile(ours, levels), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("tasks", [False, True])
@pytest.mark.parametrize("shape", [(10, 6), (5, 20)])
def test_intervals_are_about_those_of_rliable(shape, tasks, rliable):
    library, metrics = rliable
    ours, _ = scores(shape)
    value, low, high = stratified(iqm, ours, tasks=tasks)
    _, expected = library.get_interval_estimates(
        {"ours": ours},
        lambda each: np.array([metrics.aggregate_iqm(each)]),
        task_bootstrap=tasks,
        reps=statistics.RESAMPLES,
    )
    assert value == iqm(ours)
    np.testing.assert_allclose([low, high], expected["ours"][:, 0], atol=0.1 * (high - low))


@pytest.mark.slow
def test_the_interval_of_an_improvement_is_about_that_of_rliable(rliable):
    library, metrics = rliable
    ours, theirs = scores((10, 6))
    value, low, high = stratified(improvement, ours, theirs)
    _, expected = library.get_interval_estimates(
        {"pair": (ours, theirs)},
        lambda one, other: np.array([metrics.probability_of_improvement(one, other)]),
        reps=statistics.RESAMPLES,
    )
    assert low < value < high
    np.testing.assert_allclose([low, high], expected["pair"][:, 0], atol=0.1 * (high - low))


def test_the_band_of_a_profile_is_about_that_of_rliable(rliable):
    library, _ = rliable
    ours, _ = scores((10, 6))
    levels = np.linspace(-1, 3, 9)
    value, low, high = stratified(lambda drawn: profile(drawn, levels), ours)
    profiles, bands = library.create_performance_profile({"ours": ours}, levels)
    np.testing.assert_allclose(value, profiles["ours"], atol=1e-13)
    np.testing.assert_allclose(np.stack([low, high]), bands["ours"], atol=0.034)  # two runs of 60


def test_tasks_are_not_mixed():
    """A bootstrap that drew from all tasks alike would give the mean of these an interval."""
    value, low, high = stratified(lambda drawn: drawn.mean(), np.array([[0.0, 100.0]] * 5))
    assert value == low == high == 50
    _, low, high = stratified(lambda drawn: drawn.mean(), np.array([[0.0, 100.0]] * 5), tasks=True)
    assert (low, high) == (0, 100)


def test_an_interval_covers_what_it_should():
    """The mean of normal numbers lies in 95% of the intervals, or a little fewer with so few seeds."""
    hits = 0
    for _ in range(100):
        drawn = RNG.normal(0, 1, (20, 1))
        _, low, high = estimate(lambda curves: float(curves["return"].mean()), {"return": drawn, "unused": drawn})
        hits += low < 0 < high
    assert 82 <= hits <= 100


def test_undefined_for_some_seeds():
    curves = {"return": np.array([[1.0], [np.nan]])}
    defined = lambda drawn: None if np.isnan(drawn["return"]).all() else 1.0  # noqa: E731
    assert estimate(defined, curves) == (1.0, None, None)
    assert estimate(lambda _: None, curves) == (None, None, None)
    assert estimate(lambda drawn: float(len(drawn)), {"return": np.ones((1, 3))}) == (1.0, None, None)


@pytest.mark.parametrize("statistic", [iqm, lambda bad: improvement(bad, bad), lambda bad: profile(bad, [0])])
@pytest.mark.parametrize(
    ("bad", "takes"),
    [
        (np.ones(3), r"shape \(seeds, tasks\), got 'shape \(3,\)'"),
        (np.ones((0, 2)), r"shape \(seeds, tasks\)"),
        (np.array([[np.nan]]), "finite numbers"),
    ],
)
def test_bad_scores_are_refused(statistic, bad, takes):
    with pytest.raises(ValueError, match=takes):
        statistic(bad)


def test_a_baseline_on_other_tasks_is_refused():
    with pytest.raises(ValueError, match="baseline takes scores on the same 2 tasks"):
        improvement(np.ones((3, 2)), np.ones((3, 1)))
