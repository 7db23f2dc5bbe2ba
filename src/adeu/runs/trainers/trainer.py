"""The interface of trainers."""

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
    """The unit of `total` and `done`."""

    @property
    def total(self) -> int: ...

    @property
    def done(self) -> int: ...

    @property
    def most_steps(self) -> int:
        """The maximum number of environment steps of the whole training."""
        ...

    @property
    def steps(self) -> int:
        """The number of environment steps so far."""
        ...

    def advance(self) -> Piece:
        """Trains to the next evaluation or the end of an episode; should take at most about a second."""
        ...

    def arrays(self) -> Arrays:
        """Returns the state of training for `restore`.

        Empty if it cannot be saved; an interrupted run then restarts.
        """
        ...

    def restore(self, arrays: Arrays) -> None:
        """Restores a state returned by `arrays`, in a new trainer with the same setting and seed."""
        ...
