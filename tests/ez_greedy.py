"""A plain ez-greedy, after Dabney et al., 2021, section 4: the reference for `Constant`, `Identity`, `Options`."""

import random


class EzGreedy:
    """Repeat a random action for n ~ zeta(mu) steps with probability epsilon; else take the greedy one.

    Args:
        draws: an object with coin() and above(), which return numbers in [0, 1), and action().
    """

    def __init__(self, epsilon, mu, draws, longest=10_000):
        self.epsilon, self.mu, self.draws, self.longest = epsilon, mu, draws, longest
        self.total = sum(n**-mu for n in range(1, 200_001)) + 200_000.5 ** (1 - mu) / (mu - 1)
        self.left, self.repeated = 0, None

    def length(self):
        """Return the first n whose cumulative probability exceeds a uniform number."""
        below, n = self.draws.above(), 1
        below -= 1 / self.total
        while below >= 0 and n < self.longest:
            n += 1
            below -= n**-self.mu / self.total
        return n

    def act(self, greedy):
        """Return the action, whether it explores, and the length of the option that it begins, or 0."""
        began = 0
        if self.left == 0 and self.draws.coin() < self.epsilon:
            self.repeated, self.left = self.draws.action(), self.length()
            began = self.left
        if self.left == 0:
            return greedy, False, began
        self.left -= 1
        return self.repeated, True, began

    def end_episode(self):
        self.left = 0


class Draws:
    """Random numbers of Python's generator."""

    def __init__(self, seed, num_actions):
        generator = random.Random(seed)
        self.coin = self.above = generator.random
        self.action = lambda: generator.randrange(num_actions)


class Replayed:
    """Random numbers drawn in advance, one of each kind for every step; `step` is the current one."""

    def __init__(self, coins, actions, aboves):
        self.step = 0
        self.coin, self.action, self.above = (
            lambda numbers=numbers: numbers[self.step] for numbers in (coins, actions, aboves)
        )
