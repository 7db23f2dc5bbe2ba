"""A setting whose runs fail, each seed in a different way, and one with fields that were added later."""

import dataclasses
import os
import sys
import threading
from typing import NamedTuple

import numpy as np

import adeu
from adeu.runs.trainers.trainer import Piece

GOOD, RAISES, UNPICKLED, SIGNALLED, EXITS, PRINTS, UNLOADABLE = range(7)
REAL_TIME_SIGNAL = 40


@dataclasses.dataclass(frozen=True)
class Failing:
    rows: int = 3

    def trainer(self, seed):
        if seed == RAISES:
            raise RuntimeError("no trainer for this seed")
        return FailingTrainer(seed, self.rows, threading.Lock() if seed == UNPICKLED else None)


@dataclasses.dataclass
class FailingTrainer:
    seed: int
    total: int
    lock: object = None
    done: int = 0
    unit = "rows"

    @property
    def steps(self):
        return self.done

    most_steps = steps

    def __setstate__(self, state):
        if state["seed"] == UNLOADABLE:
            raise ModuleNotFoundError("not on this machine")
        self.__dict__.update(state)

    def step(self):
        """Fail as an environment might in its step."""
        if self.seed == SIGNALLED:
            os.kill(os.getpid(), REAL_TIME_SIGNAL)
        if self.seed == EXITS:
            sys.exit(3)
        if self.seed == PRINTS:
            for _ in range(300):
                print("x" * 10_000)
                print("y" * 10_000, file=sys.stderr)

    def advance(self):
        self.step()
        self.done += 1
        return Piece([{"step": self.done, "return": float(self.seed)}])

    def arrays(self):
        return {"done": np.array(self.done)}

    def restore(self, arrays):
        self.done = int(arrays["done"])


class Inner(NamedTuple):
    size: int = 3
    late: float = 0.5


INNER, PARTS = Inner(), (adeu.Counts(),)


@dataclasses.dataclass(frozen=True)
class Grown:
    """All fields except `beta` have defaults, and so have those of their values."""

    beta: float
    inner: Inner = INNER
    parts: tuple[adeu.Mechanism, ...] = PARTS
    late: str = "default"
    made: tuple[int, ...] = dataclasses.field(default_factory=lambda: (1, 2))

    def trainer(self, seed):
        return FailingTrainer(GOOD, 4)
