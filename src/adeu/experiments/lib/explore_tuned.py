"""What `adeu run explore-tuning` chose for each exploration task, on seeds of its own."""

from __future__ import annotations

from typing import NamedTuple


class Tuned(NamedTuple):
    """What was chosen for a task."""

    noise: str
    """The D that does best with a constant spread."""
    adaptive: str
    """The f that does best, of those that adapt."""
    amplitudes: dict[str, float]
    """Of each case."""


BOX = dict.fromkeys(("white", "pink", "ou", "options", "rnd", "q-std", "stakes", "sac-rnd", "sb3-ou"), 0.5) | {
    "rnd-bonus": 0.1
}
COINS = dict.fromkeys(("white", "options", "rnd", "q-std", "stakes"), 0.1)

TUNED = {
    "MountainCarContinuous-v0": Tuned("ou", "rnd", BOX),
    "SparsePendulum": Tuned("ou", "rnd", BOX),
    "SwingUp": Tuned("options", "rnd", BOX),
    "PointMaze": Tuned("options", "rnd", BOX),
    "ContinuousLake": Tuned("options", "rnd", BOX),
    "DeepSea-30": Tuned("options", "rnd", COINS),
    "Pendulum-v1": Tuned("white", "rnd", BOX),
}
