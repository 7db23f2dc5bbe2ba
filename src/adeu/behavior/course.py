"""The course of training: uncertainty and spread at moments from its start to now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adeu.behavior.history import History
from adeu.behavior.tally import PERCENTILES

MOMENTS, FIRST = 256, 100
LEVELS = (PERCENTILES["spread_p10"], 50.0, PERCENTILES["spread_p90"])


class Course(NamedTuple):
    """Percentiles at up to 256 moments of a training run of any length, in arrays that are written in place.

    Moments are 100 decisions apart at first. When the arrays are full, every second moment is dropped, and the
    distance is doubled.
    """

    steps: NDArray[np.int64]
    """The number of environment steps before each moment."""
    bands: NDArray[np.float32]
    """The 10th, 50th and 90th percentile of f(s) and g(f(s)) at each moment, over the decisions since the previous
    moment, at most the last 1,000, in which f determined the spread; NaN if there are none."""

    @classmethod
    def empty(cls) -> Course:
        return cls(np.zeros(MOMENTS, np.int64), np.full((MOMENTS, 2, len(LEVELS)), np.nan, np.float32))

    def follow(self, step: int, history: History) -> None:
        """Include the last decision of the history; `step` is the number of environment steps before it."""
        acts = int(history.acts)
        every = _distance(acts)
        if every != _distance(acts - 1):
            for places in self:
                places[: MOMENTS // 2] = places[1::2]  # moments at multiples of the new distance
        if acts % every == 0:
            moment = acts // every - 1
            self.steps[moment], self.bands[moment] = step, _band(history, every)

    def until(self, step: int, history: History) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return steps and bands of all moments, and of the decisions since the last moment."""
        moments, since = divmod(int(history.acts), _distance(int(history.acts)))
        steps, bands = self.steps[:moments], self.bands[:moments]
        if since:
            steps, bands = np.append(steps, step), np.append(bands, _band(history, since)[None], axis=0)
        return steps, bands


def _distance(acts: int) -> int:
    """Return the number of decisions between two moments, after `acts` decisions."""
    return FIRST << (acts // (FIRST * (MOMENTS + 1))).bit_length()


def _band(history: History, most: int) -> NDArray[np.float32]:
    asked = history.recent(history.asked, most)
    if not asked.any():
        return np.full((2, len(LEVELS)), np.nan, np.float32)
    values = (history.recent(ring, most)[asked] for ring in (history.uncertainties, history.spreads))
    return np.stack([np.percentile(each, LEVELS) for each in values]).astype(np.float32)
