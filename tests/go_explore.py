"""A plain Go-Explore, after Ecoffet et al., 2021: the reference for `FirstReturn`, `Returning` and `Sticky`.

Choices that the paper leaves open: visits are steps taken in a cell; a way is replaced by one of a higher return, or
of the same return and fewer actions; exploration continues until the episode ends.
"""

import math


class GoExplore:
    """Return to a cell of the archive by its actions, then repeat random actions for geometric times.

    Args:
        mean: the mean time.
        draws: an object with coin() and keep(), which return numbers in [0, 1), and action().
    """

    def __init__(self, mean, draws):
        self.mean, self.draws = mean, draws
        self.archive, self.visits = {}, {}

    def begin(self):
        self.coin, self.taken, self.earned, self.way, self.repeated = self.draws.coin(), [], 0.0, None, None

    def choose(self):
        """Sample a cell in proportion to its weight, by the coin, and return the way to it."""
        weights = {cell: 1 / math.sqrt(self.visits.get(cell, 0) + 1) for cell in sorted(self.archive)}
        below, total = 0.0, sum(weights.values())
        for cell, weight in weights.items():
            below += weight
            if below / total > self.coin:
                return self.archive[cell][1]
        return []

    def act(self):
        """Return the action, and whether it explores."""
        if self.way is None:
            self.way = self.choose()
        if len(self.taken) < len(self.way):
            return self.way[len(self.taken)], False
        if self.repeated is None or not self.draws.keep() < 1 - 1 / self.mean:
            self.repeated = self.draws.action()
        return self.repeated, True

    def observe(self, cell, action, reward, next_cell, terminated):
        self.visits[cell] = self.visits.get(cell, 0) + 1
        if not self.taken:
            self.archive[cell] = (0.0, [])
        self.taken = [*self.taken, action]
        self.earned += reward
        if terminated or (next_cell in self.archive and not self.archive[next_cell][1]):
            return
        score, way = self.archive.get(next_cell, (-math.inf, []))
        if self.earned > score or (self.earned == score and len(self.taken) < len(way)):
            self.archive[next_cell] = (self.earned, self.taken)


class Replayed:
    """Random numbers drawn in advance; `now` holds the current ones."""

    def __init__(self):
        self.now = {}

    def coin(self):
        return self.now["coin"]

    def keep(self):
        return self.now["keep"]

    def action(self):
        return self.now["action"]
