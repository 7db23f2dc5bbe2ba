"""Plain triggers, after Pislar et al., 2022: the reference for `Triggered`, `Homeostasis` and `ValuePromise`.

Choices that the formulas leave open: in the first k steps of an episode, where no promise is due, the signal is 0.
The signal enters the homeostasis in every step, also while the agent explores. While the variance is 0, y = 1. A
trigger in a period of exploration is ignored. VDSC: either signal begins a period, each at half of the rate.
"""

import math


class Promise:
    """The value promise discrepancy over k steps."""

    def __init__(self, k, gamma, form="promise"):
        self.k, self.gamma, self.form = k, gamma, form
        self.begin()

    def begin(self):
        self.values, self.rewards = [], []

    def signal(self, value, reward):
        """Return the signal; `reward` is that of the previous step."""
        self.values.append(value)
        self.rewards.append(reward)
        if len(self.values) <= self.k:
            return 0.0
        newest_first = self.rewards[: -self.k - 1 : -1]
        if self.form == "promise":
            paid = sum(self.gamma**i * r for i, r in enumerate(newest_first))
            return abs(self.values[-1 - self.k] - paid - value)
        paid = sum(self.gamma**i * r for i, r in enumerate(reversed(newest_first)))
        return abs(self.values[-1 - self.k] - paid - self.gamma**self.k * value)


class Rate:
    """Homeostasis: the probability of switching, from a signal."""

    def __init__(self, rho):
        self.rho, self.t, self.mean, self.variance, self.ratio = rho, 0, 0.0, 1.0, 1.0

    def chance(self, x):
        self.t += 1
        tau = min(self.t, 100 / self.rho)
        self.mean = (1 - 1 / tau) * self.mean + x / tau
        self.variance = (1 - 1 / tau) * self.variance + (x - self.mean) ** 2 / tau
        y = math.exp((x - self.mean) / math.sqrt(self.variance)) if self.variance > 0 else 1.0
        self.ratio = (1 - 1 / tau) * self.ratio + y / tau
        return min(1.0, self.rho * y / self.ratio)


class SimHash:
    """Visit counts of sign patterns."""

    def __init__(self, planes):
        self.planes, self.visits = planes, {}

    def signal(self, obs):
        code = tuple((self.planes @ obs > 0).tolist())
        self.visits[code] = self.visits.get(code, 0) + 1
        return 1 / math.sqrt(self.visits[code])


class Modes:
    """Explore for a period once a coin is below the chance, with given random numbers for each step."""

    def __init__(self, per="step", start="exploit"):
        self.per, self.start, self.left, self.episodes = per, start, 0, 0

    def begin(self, length):
        if self.per == "step" or self.episodes == 0:
            self.left = length if self.start == "explore" else 0
        else:
            self.left = max(self.left - 1, 0)
        self.first, self.episodes = True, self.episodes + 1

    def explores(self, coin, chance, length):
        may = self.first or self.per == "step"
        if may and self.left == 0 and coin < chance:
            self.left = length
        explores, self.first = self.left > 0, False
        if self.per == "step":
            self.left = max(self.left - 1, 0)
        return explores
