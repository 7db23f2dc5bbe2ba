"""The most recent steps, from which an f learns when there is no agent with batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from adeu.core.contract import Transition


class Recent(NamedTuple):
    """A ring buffer of transitions: arrays, written in place."""

    rows: Transition
    added: NDArray[np.int64]
    """How many were added in total."""

    @classmethod
    def empty(cls, like: Transition, size: int) -> Recent:
        """Room for `size` transitions of this kind; `like` is a batch of any length."""
        rows = jax.tree.map(lambda leaf: np.zeros((size, *leaf.shape[1:]), leaf.dtype), like)
        return cls(rows, np.zeros((), np.int64))

    @property
    def full(self) -> bool:
        return int(self.added) >= len(self.rows.reward)

    def add(self, transitions: Transition, fresh: NDArray[np.bool_]) -> None:
        """Adds those of the batch that are `fresh`, in place of the oldest."""
        size = len(self.rows.reward)
        chosen = np.flatnonzero(fresh)[-size:]
        places = (int(self.added) + np.arange(len(chosen))) % size

        def write(ring: NDArray[Any], new: NDArray[Any]) -> None:
            ring[places] = new[chosen]

        jax.tree.map(write, self.rows, transitions)
        self.added[...] += len(chosen)
