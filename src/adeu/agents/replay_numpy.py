"""A ring of rows in numpy, with each observation stored once.

The next observation of a row is the observation of the row after it. Where that is not so, at the end of an episode,
it is stored separately.
"""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import Row
from adeu.core import check

Column = NDArray[np.generic]


class NumpyReplay(Generic[Row]):
    """The last `capacity` rows of one environment.

    Args:
        capacity: how many rows it holds.
        example: a row with the shapes and types of all rows. Among its fields are `obs` and `next_obs`.

    Examples:
        >>> import adeu, numpy as np
        >>> def step(s):
        ...     return adeu.Transition(np.array([s]), np.array(0), np.array(1.0), np.array([s + 1]), False, False)
        >>> replay = NumpyReplay(capacity=2, example=step(0))
        >>> for s in range(3):
        ...     replay.add(step(s), ended=s == 2)
        >>> rows = replay.read(np.arange(len(replay)))
        >>> rows.obs.ravel().tolist(), rows.next_obs.ravel().tolist()
        ([1, 2], [2, 3])
    """

    def __init__(self, capacity: int, example: Row) -> None:
        self.capacity = check.as_whole("NumpyReplay", "capacity", capacity)
        self.added = 0
        """Rows added so far."""
        self._names: tuple[str, ...] = example._fields  # type: ignore[attr-defined]
        self._kind = type(example)
        # One place more than rows: it holds the newest row's next observation. Memory is taken when written to.
        self._columns: dict[str, Column] = {
            name: np.zeros((capacity + 1, *np.shape(value)), np.asarray(value).dtype)
            for name, value in zip(self._names, example, strict=True)
            if name != "next_obs"
        }
        self._separate = np.full(capacity + 1, -1, np.int32)
        """For each row, where its next observation is stored separately; -1: it is the next row's."""
        self._stored = np.zeros((16, *np.shape(self._columns["obs"])[1:]), self._columns["obs"].dtype)
        self._free = list(range(16))

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, row: Row, ended: bool) -> None:
        """Adds a row in place of the oldest one; `ended`: its episode terminated or was truncated with it."""
        turn, obs = self.capacity + 1, self._columns["obs"]
        place, after = self.added % turn, (self.added + 1) % turn
        values = dict(zip(self._names, row, strict=True))
        next_obs = values.pop("next_obs")
        before = (self.added - 1) % turn
        if self.added and self._separate[before] < 0 and (obs[place] != values["obs"]).any():
            self._store(before, obs[place])
        for name, value in values.items():
            self._columns[name][place] = value
        self._release(after)
        obs[after] = next_obs
        if ended:
            self._store(place, next_obs)
        self.added += 1

    def read(self, places: NDArray[np.integer[Any]], shape: tuple[int, ...] = (-1,)) -> Row:
        """The rows at places below `len`, with `shape` in front. As the ring turns, a place gets another row."""
        if self.added > self.capacity:  # skip the place that waits for the next row
            places = np.where(places >= self.added % (self.capacity + 1), places + 1, places)
        after = places + 1
        after[after > self.capacity] = 0
        columns = {name: column[places] for name, column in self._columns.items()}
        next_obs = self._columns["obs"][after]
        separate = self._separate[places]
        aside = np.flatnonzero(separate >= 0)
        next_obs[aside] = self._stored[separate[aside]]
        columns["next_obs"] = next_obs
        shaped = (columns[name].reshape(*shape, *columns[name].shape[1:]) for name in self._names)
        return self._kind(*shaped)

    def arrays(self) -> dict[str, Column]:
        """Everything in it, without the places that were never written to."""
        used = min(self.added + 1, self.capacity + 1)
        ends = np.flatnonzero(self._separate[:used] >= 0)
        columns = {f"column_{name}": column[:used].copy() for name, column in self._columns.items()}
        return columns | {"ends": ends, "last": self._stored[self._separate[ends]], "added": np.array(self.added)}

    def restore(self, arrays: dict[str, Column]) -> None:
        """Continues from what `arrays` returned."""
        added = int(arrays["added"])
        used = min(added + 1, self.capacity + 1)
        for name, column in self._columns.items():
            saved = arrays[f"column_{name}"]
            if saved.shape != (used, *column.shape[1:]):
                check.refuse("NumpyReplay", name, f"an array of shape {(used, *column.shape[1:])}", saved.shape)
            column[:used] = saved
        self.added = added
        self._separate[:] = -1
        self._free = list(range(len(self._stored)))
        for place, obs in zip(arrays["ends"], arrays["last"], strict=True):
            self._store(int(place), obs)

    def _store(self, place: int, next_obs: Any) -> None:
        if not self._free:
            size = len(self._stored)
            self._stored = np.concatenate([self._stored, np.zeros_like(self._stored)])
            self._free = list(range(size, 2 * size))
        self._separate[place] = self._free.pop()
        self._stored[self._separate[place]] = next_obs

    def _release(self, place: int) -> None:
        if self._separate[place] >= 0:
            self._free.append(int(self._separate[place]))
            self._separate[place] = -1
