"""Theorem 2: the probability that heavy-tailed options find the deep sea's treasure under the worst policy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.distributions import Options, zeta_survival

Floats = NDArray[np.float64]
STEADY = 1e-9
"""The iteration has converged if the relative change between episodes is below this."""
CERTAIN = float(np.log(1e-9))
"""The iteration stops if the logarithm of the probability of failure is below this."""


class Treasure(NamedTuple):
    """The probability of finding the treasure at least once, by several methods."""

    statement: float
    """Theorem 2 as stated: p = epsilon * P(n > N). Not a lower bound."""
    proof: float
    """Theorem 2 as proved: p = epsilon/2 * P(n > N). A lower bound."""
    exact: float
    """The exact probability for a policy that always goes left."""
    simulated: float
    """The share of successful simulated runs; NaN without runs."""
    interval: tuple[float, float]
    """The Clopper-Pearson interval of `simulated`."""


def treasure_probability(
    N: int,
    mu: float,
    episodes: int,
    *,
    epsilon: float | None = None,
    carried: bool = False,
    runs: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Treasure:
    """Return the probability that ez-adeu finds the treasure of an N x N deep sea if its policy always goes left.

        pr = 1 - (1 - p)^E,  p = epsilon/2 * (1 - sum_{i=1}^N i^-mu / zeta(mu))

    The exact probability is larger: n = N suffices, and an option to the right may directly follow another.

    Args:
        N: the sea's size, 2 .. 10,000.
        mu: the exponent of the distribution of option lengths, > 1.
        episodes: E, the number of episodes.
        epsilon: the probability that an option starts. The default is the theorem's, 1/(N + 1).
        carried: whether options continue in the next episode, which the theorem does not consider.
        runs: the number of simulated runs of E episodes.
        confidence: the confidence level of the simulation's interval.
        seed: the seed of the simulation.

    Examples:
        >>> import adeu
        >>> found = adeu.theory.treasure_probability(N=80, mu=2.0, episodes=12_500)
        >>> round(found.statement, 3), round(found.proof, 3), round(found.exact, 3)
        (0.688, 0.442, 0.448)
        >>> found.interval[0] < found.exact < found.interval[1]
        True

    Paper: Theorem 2.
    """
    me = "treasure_probability"
    N = check.as_whole(me, "N", N, at_least=2)
    if Options().longest < N:
        check.refuse(me, "N", f"a whole number <= {Options().longest}, the longest option", N)
    mu = check.as_number(me, "mu", mu, above=1)
    episodes = check.as_whole(me, "episodes", episodes)
    epsilon = 1 / (N + 1) if epsilon is None else check.as_number(me, "epsilon", epsilon, at_least=0, at_most=1)
    runs = check.as_whole(me, "runs", runs, at_least=0)
    confidence = check.as_number(me, "confidence", confidence, above=0, at_most=1)
    seed = check.as_whole(me, "seed", seed, at_least=0)

    survival = np.append(1.0, zeta_survival(mu, Options().longest))  # P(n > k) for k = 0, 1, ...
    longer = float(survival[N]) if len(survival) > N else 0.0
    statement, proof = (at_least_once(p, episodes) for p in (epsilon * longer, epsilon / 2 * longer))
    exact = _exact_carried if carried else _exact_cut
    share, interval = float("nan"), (0.0, 1.0)
    if runs:
        from scipy.stats import binomtest

        found = int(simulate(N, survival, episodes, epsilon, carried, runs, seed).sum())
        bounds = binomtest(found, runs).proportion_ci(confidence)
        share, interval = found / runs, (float(bounds.low), float(bounds.high))
    return Treasure(statement, proof, exact(N, survival, episodes, epsilon), share, interval)


def at_least_once(p: float, trials: float) -> float:
    """Return the probability 1 - (1 - p)^trials, accurately for small p."""
    return float(-np.expm1(trials * np.log1p(-p))) if p < 1 else 1.0


def _exact_cut(N: int, survival: Floats, episodes: int, epsilon: float) -> float:
    """Return the exact probability if episodes are independent.

    r[k] = P(k steps after a decision all go right) is a sum over the first option:

    r[k] = epsilon/2 * (P(n >= k) + sum_{n < k} P(n) r[k - n])
    """
    length = -np.diff(survival, append=0.0)  # P(n) at n - 1
    r = np.ones(N + 1)
    for k in range(1, N + 1):
        r[k] = epsilon / 2 * (survival[k - 1] + length[: k - 1] @ r[k - 1 : 0 : -1])
    return at_least_once(float(r[N]), episodes)


def _exact_carried(N: int, survival: Floats, episodes: int, epsilon: float) -> float:
    """Return the exact probability if options continue in the next episode.

    `right[r]` and `left[r]` are the probabilities that an episode starts with r remaining steps of an option in that
    direction, if the treasure was not found yet; r = 0, no option, is in `right`. Within an episode, `clean[t]` and
    `dirty[t]` are the probabilities of a decision at step t after steps to the right only, and after any others.
    """
    longest = len(survival)
    length = np.concatenate([[0.0], -np.diff(survival, append=0.0), np.zeros(N)])
    steps = np.arange(N)
    after = np.tril(length[np.abs(steps[:, None] - steps)], -1)  # from a decision to the decision after an option
    next_step = np.eye(N, k=-1)
    through_clean = np.linalg.inv(np.eye(N) - epsilon / 2 * after)
    through_dirty = np.linalg.inv(np.eye(N) - (1 - epsilon) * next_step - epsilon * after)
    stray = (1 - epsilon) * next_step + epsilon / 2 * after
    leave = length[N - steps + np.arange(longest)[:, None]]  # from a decision to the remaining steps at the end
    beyond = survival[N - 1 - steps]  # P(n >= N - t): an option reaches the episode's end

    right, left, missed, found = np.zeros(longest), np.zeros(longest), 0.0, 0.0  # `missed`: a logarithm
    right[0] = 1.0
    for episode in range(episodes):
        clean = through_clean @ right[:N]
        dirty = through_dirty @ (left[:N] + stray @ clean)
        before, found = found, min(right[N:].sum() + epsilon / 2 * beyond @ clean, 1.0)
        if episode > longest // N and abs(found - before) <= STEADY * found:
            missed += (episodes - episode) * np.log1p(-found)  # all later episodes have the same probability
            break
        missed += np.log1p(-found)
        if missed < CERTAIN:
            break
        onward = np.concatenate([left[N:], np.zeros(N)])
        left = (onward + epsilon / 2 * leave @ (clean + dirty)) / (1 - found)
        right = epsilon / 2 * leave @ dirty / (1 - found)
        right[0] += left[0] + (1 - epsilon) * (clean[-1] + dirty[-1]) / (1 - found)
        left[0] = 0.0
    return float(-np.expm1(missed))


def simulate(
    N: int, survival: Floats, episodes: int, epsilon: float, carried: bool, runs: int, seed: int
) -> NDArray[np.bool_]:
    """Simulate options, skipping the policy's steps between them; return whether each run found the treasure."""
    rng = np.random.default_rng(seed)
    found = np.zeros(runs, bool)
    if epsilon == 0:
        return found
    now, stretch = np.zeros(
        (2, runs), np.int64
    )  # `stretch`: the step at which the current sequence to the right began
    last_right, alive = np.zeros(runs, bool), np.arange(runs)
    while len(alive):
        begins = now + rng.geometric(epsilon, len(alive)) - 1
        goes_right = rng.random(len(alive)) < 0.5
        ends = begins + 1 + np.searchsorted(-survival[1:], rng.random(len(alive)) - 1.0)
        if not carried:
            ends = np.minimum(ends, (begins // N + 1) * N)
        stretch = np.where(last_right & (begins == now), stretch, begins)
        first_whole = -(-stretch // N) * N + N  # the end of the first whole episode within the sequence
        found[alive] = goes_right & (first_whole <= np.minimum(ends, N * episodes))
        on = ~found[alive] & (ends < N * episodes)
        alive, now, stretch, last_right = alive[on], ends[on], stretch[on], goes_right[on]
    return found
