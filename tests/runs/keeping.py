"""A setting whose runs keep random numbers, one that starts from them, and one that records its threads."""

import dataclasses
import os

import numpy as np

from adeu.runs.trainers.trainer import Piece


@dataclasses.dataclass(frozen=True)
class Keeping:
    numbers: int = 5
    fails: bool = False

    def trainer(self, seed):
        return Counting(np.random.default_rng(seed).random(self.numbers), True, self.fails)


@dataclasses.dataclass(frozen=True)
class Dependent:
    source: str = "first"

    def trainer(self, seed, kept=None):
        return Counting(np.zeros(1) if kept is None else kept["numbers"], False)


@dataclasses.dataclass
class Counting:
    """Write one number per row."""

    numbers: np.ndarray
    keeps: bool
    fails: bool = False
    done: int = 0
    unit = "rows"

    @property
    def total(self):
        return len(self.numbers)

    most_steps = steps = total

    def advance(self):
        if self.fails:
            raise ValueError("the setting fails")
        self.done += 1
        return Piece([{"step": self.done, "return": self.numbers[self.done - 1]}])

    def kept(self):
        return {"numbers": self.numbers} if self.keeps else {}

    def arrays(self):
        return {"done": np.array(self.done)}

    def restore(self, arrays):
        self.done = int(arrays["done"])


@dataclasses.dataclass(frozen=True)
class Threads:
    """Record the number of threads of the worker."""

    def trainer(self, seed):
        return ThreadCounting(np.zeros(1), False)


class ThreadCounting(Counting):
    def advance(self):
        self.numbers[0] = int(os.environ["NPROC"])
        return super().advance()
