"""Theorem 2: the probability that ez-adeu finds the treasure under the worst policy: bounds, exact, simulated."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Experiment, Metric, read
from adeu.runs.folder import stored_whole
from adeu.runs.statistics import Curves, Estimate, share
from adeu.runs.statistics.estimate import average
from adeu.runs.trainers.trainer import Arrays, Piece
from adeu.theory import treasure_probability

SIZES = tuple(range(10, 101, 10))
EXPONENTS = (1.5, 2.0, 3.0)
LINES: dict[str, Any] = {"exact": "-", "proof": (0, (1, 2)), "statement": (0, (5, 3))}


@dataclasses.dataclass(frozen=True)
class TreasureSetting:
    """Runs of an agent whose policy always goes left.

    Args:
        size: the size N of the sea.
        mu: the exponent of the distribution of option lengths.
        steps: the number of steps of each run, rounded down to whole episodes.
        runs: the number of simulated runs per seed.
    """

    size: int
    mu: float
    steps: int = 1_000_000
    runs: int = 200

    def trainer(self, seed: int) -> TreasureTrainer:
        return TreasureTrainer(self, seed)


@dataclasses.dataclass
class TreasureTrainer:
    """Simulates all runs of a seed at once."""

    setting: TreasureSetting
    seed: int
    done: int = 0
    total = 1
    unit = "simulations"

    @property
    def most_steps(self) -> int:
        return self.setting.steps * self.setting.runs

    @property
    def steps(self) -> int:
        return self.done * self.setting.steps * self.setting.runs

    def advance(self) -> Piece:
        size, episodes = self.setting.size, self.setting.steps // self.setting.size
        found = treasure_probability(size, self.setting.mu, episodes, runs=self.setting.runs, seed=self.seed)
        self.done = 1
        names = ("statement", "proof", "exact", "simulated")
        row = {"step": self.setting.steps, "episode": episodes, "size": size, "mu": self.setting.mu}
        return Piece([row | {name: getattr(found, name) for name in names}])

    def arrays(self) -> Arrays:
        return {"done": np.array(self.done)}

    def restore(self, arrays: Arrays) -> None:
        self.done = int(arrays["done"])


def draw(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the probability over N, for each exponent."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    lines: dict[float, list[Curves]] = {}
    for curve in curves.values():
        lines.setdefault(float(curve["mu"][0, 0]), []).append(curve)
    for (mu, points), color in zip(lines.items(), plots.COLORS, strict=False):
        sizes = [curve["size"][0, 0] for curve in points]

        def values(name: str, points: list[Curves] = points) -> list[float]:
            return [float(np.mean(curve[name])) for curve in points]

        axes.plot([], [], color=color, label=f"mu = {mu:g}")
        for name, line in LINES.items():
            axes.plot(sizes, values(name), color=color, linestyle=line)
        shares = np.array([all_runs(found(curve)) for curve in points], float)
        middle, low, high = shares[:, 0], shares[:, 1], shares[:, 2]
        errors = [middle - low, high - middle]
        axes.errorbar(sizes, middle, yerr=errors, fmt="o", color=color, markersize=4, capsize=2)
    for label, line in LINES.items():
        axes.plot([], [], color="gray", linestyle=line, label=label)
    axes.errorbar([], [], yerr=[], fmt="o", color="gray", markersize=4, capsize=2, label="simulated, 95%")
    axes.set(xlabel="N", ylabel="P(the treasure is found)", ylim=(0, 1.03))
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return plots.save(figure, folder / "treasure")


def read_runs(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's row and the number of simulations it summarises."""
    return read(folder) | {"runs": np.atleast_1d(stored_whole(folder, "runs"))}


def found(curves: Curves) -> NDArray[np.bool_]:
    """Return whether each simulation of each seed found the treasure, of shape (seeds, runs)."""
    runs = curves["runs"]
    return np.asarray(np.arange(int(np.max(runs))) < np.round(curves["simulated"] * runs))


def all_runs(flags: NDArray[np.bool_]) -> Estimate:
    """Return the share of `True` over the pooled simulations of all seeds."""
    return share(flags.ravel())


def metric(name: str, title: str) -> Metric:
    """Return the metric of a formula. Cases are different problems, not methods, so they are not compared."""
    return Metric(name, title, lambda curves: average(curves[name], axis=1), ".3f", paired=False)


EXPERIMENT = Experiment(
    name="theorem-2",
    title="Theorem 2: how likely {steps} steps find the deep sea's treasure if the policy always goes left",
    takes="some minutes",
    lesson=(
        "The statement's formula exceeds the exact probability, so it is not a lower bound; the proof's formula, "
        "with half the factor, is a lower bound. The simulation agrees with the exact probability."
    ),
    cases={f"N={size} mu={mu:g}": TreasureSetting(size, mu) for mu in EXPONENTS for size in SIZES},
    metrics=(
        metric("statement", "as stated"),
        metric("proof", "as proved"),
        metric("exact", "exact"),
        Metric("simulated", "simulated", found, ".3f", all_runs, paired=False),
    ),
    draw=draw,
    seeds=range(10),
    read=read_runs,
)
