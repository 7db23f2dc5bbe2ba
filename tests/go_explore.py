"""Plain Go-Explore, after Ecoffet et al., 2021: what `FirstReturn`, `Returning` and `Sticky` must amount to.

What the method leaves open: visits are steps taken in a cell; a way is replaced by one of a higher return, or of the
same return and fewer actions; exploration goes on until the episode ends.
"""

import math


class GoExplore:
    """Returns to a cell of the archive by its actions, then repeats random actions for a geometric time.

    Args:
        mean: of the time.
        draws: has coin(), keep(), numbers in [0, 1), and action(), one of the actions.
    """

    def __init__(self, mean, draws):
        self.mean, self.draws = mean, draws
        self.archive, self.visits = {}, {}

    def begin(self):
        self.coin, self.taken, self.earned, self.way, self.repeated = self.draws.coin(), [], 0.0, None, None

    def choose(self):
        """The way to the first cell, in their order, at which the share of the weights exceeds the coin."""
        weights = {cell: 1 / math.sqrt(self.visits.get(cell, 0) + 1) for cell in sorted(self.archive)}
        below, total = 0.0, sum(weights.values())
        for cell, weight in weights.items():
            below += weight
            if below / total > self.coin:
                return self.archive[cell][1]
        return []

    def act(self):
        """The action, and whether it explores."""
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
    """Random numbers drawn beforehand; `now` says which are due."""

    def __init__(self):
        self.now = {}

    def coin(self):
        return self.now["coin"]

    def keep(self):
        return self.now["keep"]

    def action(self):
        return self.now["action"]
