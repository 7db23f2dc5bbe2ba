"""What a run needs of an agent, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]
Row = Mapping[str, float]


class Piece(NamedTuple):
    """What a piece of training brought."""

    rows: list[Row]
    """For metrics.csv: one per evaluation, all with the same columns."""
    traces: Mapping[str, Mapping[str, NDArray[np.generic]]] = {}
    """For traces/<name>.csv: columns with one entry per step."""


@runtime_checkable
class Keeping(Protocol):
    """A trainer whose complete run leaves something for others to begin from."""

    def kept(self) -> Arrays: ...


class Trainer(Protocol):
    """Trains piece by piece. How the work is cut into pieces, saved and gone on with never changes a row."""

    unit: str
    """What `total` and `done` count."""

    @property
    def total(self) -> int: ...

    @property
    def done(self) -> int: ...

    @property
    def most_steps(self) -> int:
        """Environment steps of all of it, at most."""
        ...

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        ...

    def advance(self) -> Piece:
        """Trains on: to the next evaluation or the end of an episode, about a second at most."""
        ...

    def arrays(self) -> Arrays:
        """All that changes: enough to go on from here."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Goes on from there, in a fresh trainer of the same setting and seed."""
        ...
