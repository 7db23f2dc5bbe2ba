"""What a run needs of an agent, of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]
Row = Mapping[str, float]


class Piece(NamedTuple):
    """The results of a piece of training."""

    rows: list[Row]
    """For metrics.csv: one per evaluation, all with the same columns."""
    traces: Mapping[str, Mapping[str, NDArray[np.generic]]] = {}
    """For traces/<name>.csv: columns with one entry per step."""


@runtime_checkable
class KeepsArrays(Protocol):
    """A trainer whose complete run keeps data for dependent runs."""

    def kept(self) -> Arrays: ...


class Trainer(Protocol):
    """Trains piece by piece. Results do not depend on the pieces, nor on saving and resuming."""

    unit: str
    """What `total` and `done` count."""

    @property
    def total(self) -> int: ...

    @property
    def done(self) -> int: ...

    @property
    def most_steps(self) -> int:
        """Environment steps of the whole training, at most."""
        ...

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        ...

    def advance(self) -> Piece:
        """Trains to the next evaluation or the end of an episode, for about a second at most."""
        ...

    def arrays(self) -> Arrays:
        """Everything that changes in training, as `restore` needs it to resume from here.

        Empty: it cannot be saved, and an interrupted run restarts.
        """
        ...

    def restore(self, arrays: Arrays) -> None:
        """Resumes from these arrays, in a fresh trainer of the same setting and seed."""
        ...
