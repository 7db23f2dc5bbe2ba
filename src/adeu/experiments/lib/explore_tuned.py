"""The choices of `adeu run explore-tuning` for each exploration task, made on separate seeds."""

from __future__ import annotations

from typing import NamedTuple


class Tuned(NamedTuple):
    """The choices for a task."""

    noise: str
    """The best D with a constant spread."""
    adaptive: str
    """The best adaptive f."""
    amplitudes: dict[str, float]
    """The amplitude of each case."""


TUNED = {
    "MountainCarContinuous-v0": Tuned(
        "ou",
        "stakes",
        {"white": 1.0, "pink": 1.0, "ou": 1.0, "options": 1.0, "rnd": 1.0, "q-std": 0.3, "stakes": 1.0}
        | {"sac-rnd": 1.0, "sb3-ou": 1.0, "rnd-bonus": 0.3},
    ),
    "SparsePendulum": Tuned(
        "ou",
        "stakes",
        {"white": 0.3, "pink": 1.0, "ou": 1.0, "options": 1.0, "rnd": 1.0, "q-std": 0.3, "stakes": 1.0}
        | {"sac-rnd": 1.0, "sb3-ou": 0.3, "rnd-bonus": 0.3},
    ),
    "SwingUp": Tuned(
        "options",
        "rnd",
        {"white": 0.3, "pink": 1.0, "ou": 1.0, "options": 1.0, "rnd": 1.0, "q-std": 0.3, "stakes": 1.0}
        | {"sac-rnd": 1.0, "sb3-ou": 0.3, "rnd-bonus": 0.03},
    ),
    "PointMaze": Tuned(
        "options",
        "rnd",
        {"white": 0.3, "pink": 1.0, "ou": 1.0, "options": 1.0, "rnd": 1.0, "q-std": 1.0, "stakes": 1.0}
        | {"sac-rnd": 1.0, "sb3-ou": 1.0, "rnd-bonus": 0.03},
    ),
    "ContinuousLake": Tuned(
        "options",
        "rnd",
        {"white": 1.0, "pink": 1.0, "ou": 0.3, "options": 0.3, "rnd": 0.3, "q-std": 0.3, "stakes": 1.0}
        | {"sac-rnd": 1.0, "sb3-ou": 0.3, "rnd-bonus": 0.03},
    ),
    "DeepSea-30": Tuned("options", "rnd", {"white": 0.03, "options": 0.3, "rnd": 0.03, "q-std": 0.03, "stakes": 0.3}),
    "Pendulum-v1": Tuned(
        "white",
        "rnd",
        {"white": 1.0, "pink": 0.3, "ou": 1.0, "options": 1.0, "rnd": 0.3, "q-std": 0.3, "stakes": 1.0}
        | {"sac-rnd": 0.3, "sb3-ou": 0.3, "rnd-bonus": 0.03},
    ),
}
