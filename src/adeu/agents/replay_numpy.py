"""A ring buffer of rows in one numpy array, with each observation stored once.

The next observation of a row is the observation of the following row. At the end of an episode it is stored
separately.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any, Generic

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adeu.agents.agent import Agent, Row
from adeu.core import check
from adeu.core.contract import Array, Decision, Transition

Floats = NDArray[np.floating[Any]]
LARGEST = 2**24
"""The largest integer up to which float32 is exact."""


@dataclasses.dataclass(frozen=True)
class RowLayout(Generic[Row]):
    """The layout of an agent's row in an array of floats.

    Args:
        kind: the NamedTuple class of the row.
        names: the names of its fields except `next_obs`.
        shapes: the shape of each field.
        types: the kind of each field: "b", "i" or "f".
    """

    kind: type[Row]
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, agent: Agent[Any, Any, Row, Any]) -> RowLayout[Row]:
        """Returns the layout of a bound agent's rows."""
        spaces, no, number = agent.sized, np.zeros((), bool), np.zeros(())
        if spaces.discrete and spaces.inputs > LARGEST:
            check.refuse(agent, "observation space", f"at most {LARGEST:,} states", spaces.inputs)
        obs = np.zeros((), int) if spaces.discrete else np.zeros(spaces.inputs)
        action = np.zeros(spaces.actions) if spaces.low else np.zeros((), int)
        transition = Transition(obs, action, number, obs, no, no)
        row, _ = agent.row(None, transition, Decision(action, no, number, number))
        names = tuple(name for name in _field_names(row) if name != "next_obs")
        arrays = [_field(row, name) for name in names]
        return cls(type(row), names, tuple(a.shape for a in arrays), tuple(a.dtype.kind for a in arrays))

    @property
    def slices(self) -> dict[str, slice]:
        """The columns of each field."""
        ends = list(itertools.accumulate(map(math.prod, self.shapes)))
        return {name: slice(a, b) for name, a, b in zip(self.names, [0, *ends[:-1]], ends, strict=True)}

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(map(math.prod, self.shapes))

    def unpack(self, rows: Array | Floats, next_obs: Array | Floats) -> Row:
        """Returns the row, or a batch of rows, from numpy or JAX arrays."""
        fields: dict[str, Any] = {"next_obs": next_obs}
        for (name, columns), shape, kind in zip(self.slices.items(), self.shapes, self.types, strict=True):
            value = rows[..., columns] if shape else rows[..., columns.start]
            fields[name] = value > 0 if kind == "b" else value.astype(np.int32) if kind == "i" else value
        if self.types[self.names.index("obs")] == "i":
            fields["next_obs"] = next_obs[..., 0].astype(np.int32)
        return self.kind(**fields)


def _field_names(row: tuple[object, ...]) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(row, "_fields", ())
    return names


def _field(row: tuple[object, ...], name: str) -> NDArray[Any]:
    return np.asarray(getattr(row, name))


class NumpyReplay(Generic[Row]):
    """The last `capacity` rows of one environment.

    Args:
        capacity: the maximum number of rows.
        layout: the layout of a row.
        dtype: the data type of the array.

    Examples:
        >>> import adeu, gymnasium, numpy as np
        >>> from adeu.agents import Td3
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
        >>> box = gymnasium.spaces.Box(-1.0, 1.0, (1,))
        >>> layout = RowLayout.of(Td3(explorer).bind(box, box))
        >>> replay = NumpyReplay(capacity=2, layout=layout)
        >>> for s in range(3):
        ...     replay.add(layout.kind([s], [0.5], 1.0, [s + 1], False), ended=s == 2)
        >>> rows = layout.unpack(*replay.read(np.arange(len(replay))))
        >>> rows.obs.ravel().tolist(), rows.next_obs.ravel().tolist()
        ([1.0, 2.0], [2.0, 3.0])
    """

    def __init__(self, capacity: int, layout: RowLayout[Row], dtype: DTypeLike = np.float32) -> None:
        self.capacity = check.as_whole("NumpyReplay", "capacity", capacity)
        self.added = 0
        """The number of rows added so far."""
        self.layout = layout
        self._slices = layout.slices
        self._obs = self._slices["obs"]
        # One extra row for the newest row's next observation. The system allocates memory on the first write.
        self._rows: Floats = np.zeros((capacity + 1, layout.width), dtype)
        self._separate = np.full(capacity + 1, -1, np.int32)
        """For each row, the index of its next observation in `_stored`; -1 if it is the next row's observation."""
        self._stored: Floats = np.zeros((16, self._obs.stop - self._obs.start), dtype)
        self._free = list(range(16))

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, row: Row, ended: bool) -> None:
        """Adds a row, replacing the oldest if full; `ended`: whether its episode terminated or was truncated."""
        turn, rows, obs = self.capacity + 1, self._rows, self._obs
        place, after, before = self.added % turn, (self.added + 1) % turn, (self.added - 1) % turn
        new_obs, next_obs = _field(row, "obs"), _field(row, "next_obs")
        if self.added and self._separate[before] < 0:
            waiting = rows[place, obs].copy()
            rows[place, obs] = new_obs
            if (rows[place, obs] != waiting).any():
                self._store(before, waiting)
        for name, columns in self._slices.items():
            rows[place, columns] = getattr(row, name)
        self._release(after)
        rows[after, obs] = next_obs
        if ended:
            self._store(place, next_obs)
        self.added += 1

    def read(self, places: NDArray[np.integer[Any]], shape: tuple[int, ...] = (-1,)) -> tuple[Floats, Floats]:
        """Returns the rows at these indices and their next observations, with leading axes `shape`.

        Indices are below `len`; the row at an index may change when a row is added. See `RowLayout.unpack`.
        """
        if self.added > self.capacity:  # skip the place reserved for the next row
            places = np.where(places >= self.added % (self.capacity + 1), places + 1, places)
        after = places + 1
        after[after > self.capacity] = 0
        rows, next_obs = self._rows[places], self._rows[after, self._obs]
        separate = self._separate[places]
        aside = np.flatnonzero(separate >= 0)
        next_obs[aside] = self._stored[separate[aside]]
        return rows.reshape(*shape, rows.shape[1]), next_obs.reshape(*shape, next_obs.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Returns the content as arrays, without unused rows."""
        used = min(self.added + 1, self.capacity + 1)
        ends = np.flatnonzero(self._separate[:used] >= 0)
        last = self._stored[self._separate[ends]]
        return {"rows": self._rows[:used].copy(), "ends": ends, "last": last, "added": np.array(self.added)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restores content returned by `arrays`."""
        rows, added = arrays["rows"], int(arrays["added"])
        used = min(added + 1, self.capacity + 1)
        if rows.shape != (used, self._rows.shape[1]):
            check.refuse("NumpyReplay", "rows", f"an array of shape {(used, self._rows.shape[1])}", rows.shape)
        self._rows[:used] = rows
        self.added = added
        self._separate[:] = -1
        self._free = list(range(len(self._stored)))
        for place, obs in zip(arrays["ends"], arrays["last"], strict=True):
            self._store(int(place), obs)

    def _store(self, place: int, next_obs: NDArray[Any]) -> None:
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
