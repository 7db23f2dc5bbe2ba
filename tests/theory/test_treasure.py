"""Theorem 2: the bounds, the exact probability by enumeration, and a simulation of every step."""

import itertools
import re

import numpy as np
import pytest
from scipy.special import zeta

import adeu
from adeu.distributions import zeta_survival
from adeu.theory import treasure, treasure_probability
from adeu.theory.treasure import simulate


def play(N, mu, episodes, epsilon, carried, runs, seed):
    """Simulate every step of a ~ D(always left, epsilon); return which runs find the treasure."""
    rng = np.random.default_rng(seed)
    lengths = np.arange(1, 10_001)
    cumulative = np.cumsum(np.append(lengths[:-1] ** -mu / zeta(mu), 0.0))
    cumulative[-1] = 1.0
    right, left_over, found = np.zeros(runs, bool), np.zeros(runs, int), np.zeros(runs, bool)
    for _ in range(episodes):
        left_over = left_over if carried else np.zeros(runs, int)
        only_right = np.ones(runs, bool)
        for _ in range(N):
            begins = (left_over == 0) & (rng.random(runs) < epsilon)
            right = np.where(begins, rng.random(runs) < 0.5, right)
            left_over = np.where(begins, 1 + np.searchsorted(cumulative, rng.random(runs)), left_over)
            only_right &= right & (left_over > 0)
            left_over = np.maximum(left_over - 1, 0)
        found |= only_right
    return found


def test_probabilities_at_n_80():
    """The bounds of the statement and of the proof, and the exact probability, for one million steps."""
    result = treasure_probability(N=80, mu=2.0, episodes=12_500, runs=1500, seed=1)
    assert (round(result.statement, 3), round(result.proof, 3), round(result.exact, 3)) == (0.688, 0.442, 0.448)
    assert result.interval[0] < result.exact < result.interval[1] < result.statement
    assert result.interval[1] - result.interval[0] < 0.06


def test_the_bounds_follow_the_formulas_of_the_theorem():
    result = treasure_probability(N=12, mu=1.7, episodes=50, runs=0)
    tail = 1 - sum(i**-1.7 for i in range(1, 13)) / zeta(1.7)
    assert result.statement == pytest.approx(1 - (1 - tail / 13) ** 50)
    assert result.proof == pytest.approx(1 - (1 - tail / 26) ** 50)
    assert np.isnan(result.simulated)
    assert result.interval == (0.0, 1.0)


@pytest.mark.parametrize("N", [2, 3, 5])
def test_the_exact_probability_of_one_episode_is_a_sum_over_all_sequences_of_options(N):
    mu, epsilon = 1.6, 0.3
    length = {n: n**-mu / zeta(mu) for n in range(1, N)}

    def ways():
        for count in range(N):
            for lengths in itertools.product(length, repeat=count):
                if sum(lengths) < N:
                    reaches = zeta(mu, N - sum(lengths)) / zeta(mu)
                    yield (epsilon / 2) ** (count + 1) * np.prod([length[n] for n in lengths]) * reaches

    for carried in (False, True):
        result = treasure_probability(N, mu, 1, epsilon=epsilon, carried=carried, runs=0)
        assert result.exact == pytest.approx(sum(ways()), rel=1e-9)
        assert result.exact > result.proof


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize(
    ("N", "mu", "episodes", "epsilon"), [(3, 1.5, 12, 0.2), (6, 2.5, 60, 0.5), (8, 1.2, 5, 1 / 9)]
)
def test_exact_and_simulated_probabilities_agree_with_a_simulation_of_every_step(N, mu, episodes, epsilon, carried):
    """Each of the 12 intervals fails with probability 0.001, so one of them fails with probability 0.012."""
    result = treasure_probability(
        N, mu, episodes, epsilon=epsilon, carried=carried, runs=20_000, confidence=0.999, seed=3
    )
    assert result.interval[0] < result.exact < result.interval[1]
    played = play(N, mu, episodes, epsilon, carried, runs=20_000, seed=4)
    assert abs(played.mean() - result.exact) < 3.3 * played.std() / np.sqrt(len(played))


def test_carrying_options_over_helps_and_the_steady_state_is_exact(monkeypatch):
    cut, carried = (treasure_probability(20, 3.0, 3000, carried=carried, runs=0).exact for carried in (False, True))
    assert carried > 2 * cut
    monkeypatch.setattr(treasure, "STEADY", -1.0)
    assert treasure_probability(20, 3.0, 3000, carried=True, runs=0).exact == pytest.approx(carried, rel=1e-6)


def test_the_simulation_depends_only_on_its_seed():
    survival = np.append(1.0, zeta_survival(2.0, 10_000))
    one, again, other = (simulate(5, survival, 20, 0.2, False, 100, seed) for seed in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()
    assert not simulate(5, survival, 20, 0.0, False, 100, 0).any()
    assert treasure_probability(5, 2.0, 10, epsilon=0.0).exact == 0.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"N": 1}, "N takes a whole number >= 2, got 1"),
        ({"N": 10_001}, "N takes a whole number <= 10000, the longest option, got 10001"),
        ({"mu": 1.0}, "mu takes a finite number > 1, got 1.0"),
        ({"episodes": 0}, "episodes takes a whole number >= 1, got 0"),
        ({"epsilon": 1.5}, "epsilon takes a finite number >= 0 and <= 1, got 1.5"),
        ({"runs": -1}, "runs takes a whole number >= 0, got -1"),
        ({"confidence": 0.0}, "confidence takes a finite number > 0 and <= 1, got 0.0"),
    ],
)
def test_bad_arguments_are_rejected(changed, message):
    with pytest.raises(ValueError, match=re.escape(f"treasure_probability: {message}")):
        adeu.theory.treasure_probability(**{"N": 5, "mu": 2.0, "episodes": 10} | changed)
