"""A buffer of recent steps, from which f learns without the batches of an agent."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from adeu.core.contract import Transition


class Recent(NamedTuple):
    """A ring buffer of transitions, in arrays that are written in place."""

    rows: Transition
    added: NDArray[np.int64]
    """The total number of transitions added."""

    @classmethod
    def empty(cls, like: Transition, size: int) -> Recent:
        """Return an empty buffer for `size` transitions; `like` is an example batch of any length."""
        rows = jax.tree.map(lambda leaf: np.zeros((size, *leaf.shape[1:]), leaf.dtype), like)
        return cls(rows, np.zeros((), np.int64))

    @property
    def full(self) -> bool:
        return int(self.added) >= len(self.rows.reward)

    def add(self, transitions: Transition, fresh: NDArray[np.bool_]) -> None:
        """Add the transitions of a batch that are `fresh`; they replace the oldest."""
        size = len(self.rows.reward)
        chosen = np.flatnonzero(fresh)[-size:]
        places = (int(self.added) + np.arange(len(chosen))) % size

        def write(ring: NDArray[Any], new: NDArray[Any]) -> None:
            ring[places] = new[chosen]

        jax.tree.map(write, self.rows, transitions)
        self.added[...] += len(chosen)
