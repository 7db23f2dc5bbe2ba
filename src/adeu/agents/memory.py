"""A ring of transitions on the host, each observation stored once.

A row holds an observation, the action taken there, the reward and whether the episode terminated; the next
observation is the next row's. Only where that is not so, at the end of an episode, is it kept beside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.core import check
from adeu.core.contract import Transition

Floats = NDArray[np.floating[Any]]


class Memory:
    """The last `capacity` transitions of one environment, or of several that step together.

    Args:
        capacity: how many transitions, of all environments together.
        obs_size: the length of an observation.
        action_size: the length of an action.
        envs: how many environments.
        dtype: of all numbers.

    Examples:
        >>> import numpy as np
        >>> memory = Memory(capacity=2, obs_size=1, action_size=1)
        >>> for s in range(3):
        ...     memory.add([[s]], [[0.5]], [1.0], [[s + 1]], [False], [s == 2])
        >>> rows, next_obs = memory.read(np.arange(2))
        >>> rows[:, 0].tolist(), next_obs[:, 0].tolist()
        ([1.0, 2.0], [2.0, 3.0])
    """

    def __init__(
        self, capacity: int, obs_size: int, action_size: int, envs: int = 1, dtype: Any = np.float32
    ) -> None:
        if capacity < envs:
            check.refuse("Memory", "capacity", f"at least one transition for each of {envs} environments", capacity)
        self.obs_size, self.envs = obs_size, envs
        self.capacity = capacity // envs
        """Of each environment."""
        self.added = 0
        """Transitions of each environment so far."""
        width = obs_size + action_size + 2
        # One row more than transitions: the newest one's next observation. Pages are only taken when written to.
        self._rows = np.zeros(((self.capacity + 1) * envs, width), dtype)
        self._kept = np.full((self.capacity + 1) * envs, -1, np.int32)
        """Of each row, where its next observation is kept beside; -1: it is the next row's."""
        self._beside = np.zeros((16, obs_size), dtype)
        self._free = list(range(16))

    def __len__(self) -> int:
        return min(self.added, self.capacity) * self.envs

    def add(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any, truncated: Any) -> None:
        """Takes in a transition of each environment; arrays have the environments in front."""
        turn, size = self.capacity + 1, self.obs_size
        first = self.added % turn * self.envs
        place, after = slice(first, first + self.envs), (self.added + 1) % turn * self.envs
        if self.added:
            before = (self.added - 1) % turn * self.envs
            broken = (self._rows[place, :size] != np.asarray(obs, self._rows.dtype)).any(axis=1)
            for env in np.flatnonzero(broken & (self._kept[before : before + self.envs] < 0)):
                self._keep(before + int(env), self._rows[first + env, :size])
        self._rows[place, :size] = obs
        self._rows[place, size:-2] = action
        self._rows[place, -2] = reward
        self._rows[place, -1] = terminated
        for row in range(after, after + self.envs):
            self._release(row)
        ended = np.logical_or(terminated, truncated)
        self._rows[after : after + self.envs, :size] = next_obs
        for env in np.flatnonzero(ended):
            self._keep(first + int(env), np.asarray(next_obs)[env])
        self.added += 1

    def read(self, places: NDArray[np.integer[Any]]) -> tuple[Floats, Floats]:
        """Rows (observation, action, reward, terminated) and next observations at places below `len`.

        Places count within the ring: which transition stands where changes as it turns.
        """
        if self.added > self.capacity:  # all rows but the one that waits for the next transition
            waiting = self.added % (self.capacity + 1) * self.envs
            places = np.where(places >= waiting, places + self.envs, places)
        after = places + self.envs
        after[after >= len(self._rows)] -= len(self._rows)
        rows, next_obs = self._rows[places], self._rows[after, : self.obs_size]
        kept = self._kept[places]
        aside = np.flatnonzero(kept >= 0)
        next_obs[aside] = self._beside[kept[aside]]
        return rows, next_obs

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is in it; as long as it is not full, no more than that."""
        used = min((self.added + 1) * self.envs, len(self._rows))
        beside = np.flatnonzero(self._kept[:used] >= 0)
        kept = self._beside[self._kept[beside]]
        return {"rows": self._rows[:used].copy(), "beside": beside, "kept": kept, "added": np.array(self.added)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        rows, added = arrays["rows"], int(arrays["added"])
        used = min((added + 1) * self.envs, len(self._rows))
        if rows.shape != (used, self._rows.shape[1]):
            check.refuse("Memory", "rows", f"an array of shape {(used, self._rows.shape[1])}", rows.shape)
        self._rows[:used] = rows
        self.added = added
        self._kept[:] = -1
        self._free = list(range(len(self._beside)))
        for place, obs in zip(arrays["beside"], arrays["kept"], strict=True):
            self._keep(int(place), obs)

    def _keep(self, place: int, next_obs: Any) -> None:
        if not self._free:
            size = len(self._beside)
            self._beside = np.concatenate([self._beside, np.zeros_like(self._beside)])
            self._free = list(range(size, 2 * size))
        self._kept[place] = self._free.pop()
        self._beside[self._kept[place]] = next_obs

    def _release(self, place: int) -> None:
        if self._kept[place] >= 0:
            self._free.append(int(self._kept[place]))
            self._kept[place] = -1


def unpack(rows: Any, next_obs: Any) -> Transition:
    """What `read` gave, as a batch. That an episode was cut off is no reason not to bootstrap: it is not stored."""
    size = next_obs.shape[-1]
    terminated = rows[..., -1] > 0
    return Transition(rows[..., :size], rows[..., size:-2], rows[..., -2], next_obs, terminated, terminated & False)
