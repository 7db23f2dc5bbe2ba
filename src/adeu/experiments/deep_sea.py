"""The DeepSea figure: steps until the treasure is found reliably, over the sea's size; DQN over tables."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu.envs import Sea, deep_sea_mdp
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Experiment, Family, Metric
from adeu.runs.spec import Setting
from adeu.runs.statistics import Curves, median, share
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.runs.trainers.trainer import Row
from adeu.tabular import TableDqn

SIZES = tuple(range(10, 101, 10))
EVALUATE_STEPS = 1_000
WINDOW = 100_000
"""Steps over which every greedy episode must find the treasure."""
NEVER = 1.6e6
"""The y coordinate of runs that never solved the task."""


@dataclasses.dataclass(frozen=True)
class SeaSetting:
    """DQN over tables in a deep sea.

    Args:
        agent: the agent.
        sea: the environment.
        steps: the number of training steps, rounded down to whole episodes.
        traced: the episodes to record step by step, counted from 1.
    """

    agent: TableDqn
    sea: Sea
    steps: int = 1_000_000
    traced: tuple[int, ...] = (50, 500, 5000)

    def trainer(self, seed: int) -> SeaTrainer:
        size = self.sea.size
        job = self.agent.job(
            adeu.tabular.from_mdp(deep_sea_mdp(self.sea)),
            episodes=self.steps // size,
            max_steps=size,
            seed=seed,
            evaluate_every=max(1, EVALUATE_STEPS // size),
        )
        return SeaTrainer(job, goal=self.sea.treasure / 2, traced=self.traced)


@dataclasses.dataclass
class SeaTrainer(TabularTrainer):
    """Adds the step at which training first found the treasure; 0 if it has not."""

    def _row(self, first: int) -> Row:
        clock = self._training.arguments.learner.clock
        hit = int(clock.highest_at[0]) if clock.highest[0] >= self.goal else 0
        return dict(super()._row(first)) | {"first_hit": hit}


def solved_at(curves: Curves) -> NDArray[np.float64]:
    """Return each seed's first step of the first window in which every greedy episode found the treasure, or inf."""
    step, solved = curves["step"], curves["solved"] > 0
    rows = max(1, round(WINDOW / float(step[0, 1] - step[0, 0])))
    if solved.shape[1] < rows:
        return np.full(len(solved), np.inf)
    all_solved: NDArray[np.bool_] = np.all(np.lib.stride_tricks.sliding_window_view(solved, rows, axis=1), axis=2)
    first = step[np.arange(len(step)), all_solved.argmax(axis=1)]
    return np.where(all_solved.any(axis=1), first, np.inf)


def first_hit(curves: Curves) -> NDArray[np.float64]:
    hit = curves["first_hit"][:, -1]
    return np.where(hit > 0, hit, np.inf)


METRICS = (
    Metric("solved_rate", "solved", lambda curves: np.isfinite(solved_at(curves)), ".0%", share),
    Metric("steps_to_solve", "steps to solve, median", solved_at, over=median, better="less"),
    Metric("first_hit", "first hit, median", first_hit, over=median, better="less"),
)


def options(size: int, *, mu: float = 2.0, carried: bool) -> SeaSetting:
    """Return the setting of ez-adeu: with probability 1/(N + 1) it starts an option of zeta-distributed length."""
    f = adeu.Constant(1 / (size + 1))
    return SeaSetting(TableDqn(adeu.Explorer(f, adeu.Identity(), adeu.Options(mu, carried=carried))), Sea(size))


def coin(size: int, epsilon: float, **agent: Any) -> SeaSetting:
    """Return the setting of epsilon-greedy; `agent` has further fields of the agent."""
    explorer = adeu.Explorer(adeu.Constant(epsilon), adeu.Identity(), adeu.Bernoulli())
    return SeaSetting(TableDqn(explorer, **agent), Sea(size))


def ensemble(size: int, center: Literal["sampled", "ucb"], start: float, ucb: float = 0.0) -> SeaSetting:
    return coin(size, 0.0, tables=10, start=start, center=center, ucb=ucb)


def cases(size: int) -> dict[str, SeaSetting]:
    return {
        "ez-cut": options(size, carried=False),
        "ez-carried": options(size, carried=True),
        "bdqn": ensemble(size, "sampled", start=0.1),
        "ucb": ensemble(size, "ucb", start=0.1, ucb=3.0),
        "eps-greedy": coin(size, 1 / (size + 1)),
    }


def shuffled(setting: SeaSetting) -> SeaSetting:
    return dataclasses.replace(setting, sea=dataclasses.replace(setting.sea, actions="shuffled"))


def draw_one(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the share of seeds whose greedy episode finds the treasure, over steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    styles = plots.style(curves)
    for case, curve in curves.items():
        plots.plot_share(axes, curve["step"][0, :], curve["solved"], *styles[case], case)
    axes.set(xlabel="steps", xscale="log", ylabel="seeds whose greedy episode finds it", ylim=(-0.03, 1.03))
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_title("band: Wilson's 95% interval", fontsize=9, loc="left", color="gray")
    return plots.save(figure, folder / "solved")


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw steps to solve over N: medians with intervals, or single runs.

    A cross marks a size that at least half of the seeds never solved.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    names = list(next(iter(members.values())))
    styles, about = plots.style(names), ["x: at least half of the seeds never solved it"]
    for place, case in enumerate(names):
        points = [(int(name.rpartition("/")[2]), curves[case]) for name, curves in members.items() if case in curves]
        sizes = np.array([size for size, _ in points]) + 0.4 * (place - 2)
        runs = [np.minimum(solved_at(curve), NEVER) for _, curve in points]
        medians = np.array([median(solved_at(curve)) for _, curve in points], float)  # None becomes NaN
        value, low, high = medians[:, 0], medians[:, 1], medians[:, 2]
        color, line = styles[case]
        axes.plot(sizes, value, color=color, linestyle=line, marker="o", markersize=4, label=case)
        if np.isfinite(low).any():
            axes.vlines(sizes, low, np.where(np.isnan(high), NEVER, high), color=color, linewidth=1.2)
            about.append("vertical lines: 95% intervals, up to the top if open")
        for size, each in ((size, each) for size, each, end in zip(sizes, runs, low, strict=True) if np.isnan(end)):
            axes.plot(np.full(len(each), size), each, ".", color=color, alpha=0.5, markersize=4)
            about.append("small dots: single runs")
        never = sizes[np.isnan(value)]
        axes.plot(never, np.full(len(never), NEVER * 1.06**place), "x", color=color)
    axes.set_yscale("log")
    axes.axhline(1e6, color="gray", linewidth=0.8, linestyle=":")
    axes.set(xlabel="N", ylabel="steps to solve, median")
    axes.set_title("; ".join(dict.fromkeys(about)), fontsize=9, loc="left", color="gray")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return plots.save(figure, folder / "steps-to-solve")


def member(
    name: str, size: int, settings: Mapping[str, Setting], title: str, takes: str = "about a minute"
) -> Experiment:
    """Return the experiment for one size."""
    return Experiment(
        name=f"{name}/{size}",
        title=f"{title}, N = {{size}}",
        takes=takes,
        lesson=LESSON,
        cases=settings,
        metrics=METRICS,
        draw=draw_one,
        seeds=range(10),
        reference="bdqn" if "bdqn" in settings else "",
    )


LESSON = (
    "Solved: every greedy episode within 100,000 steps found the treasure. ez-adeu occasionally starts an option, a "
    "repeated action; cut options end with their episode, carried ones continue in the next."
)

EXPERIMENT = Family(
    name="deep-sea",
    title="DeepSea: steps to solve over the sea's size",
    members=tuple(member("deep-sea", size, cases(size), "DeepSea") for size in SIZES),
    draw=draw_all,
)
