"""What the experiments with Gymnasium's small control tasks share: DQN whose loop is compiled with the task.

A run ends when it has solved its task; in the figure it goes on as it ended.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adeu.agents import Dqn
from adeu.core import check
from adeu.core.contract import Distribution, Mechanism, Normalizer
from adeu.envs import JaxCartPole, JaxMountainCar
from adeu.experiments import plots
from adeu.experiments.experiment import SOLVED, SPREAD, Metric, first_solved
from adeu.experiments.from_setting import agent_of
from adeu.runs.compiled import CompiledTrainer
from adeu.runs.statistics import Curves, median

TASKS = {
    "CartPole-v1": (JaxCartPole(), 475.0),
    "MountainCar-v0": (JaxMountainCar(), -110.0),
    "MountainCar-v0, sparse": (JaxMountainCar(sparse=True), 0.95),
}
"""Each with the mean return at which it is solved: Gymnasium's own threshold; where only the hill pays, 95 of 100."""


@dataclasses.dataclass(frozen=True)
class ControlSetting:
    """DQN in a control task.

    Args:
        f: the uncertainty.
        g: the normaliser.
        D: the distribution.
        task: one of `TASKS`.
        steps: how many, a multiple of `evaluate_every`.
        hidden: the sizes of the hidden layers.
        learning_rate: of Adam.
        gamma: the discount.
        capacity: how many transitions the replay holds.
        batch: how many an update takes.
        update_every: environment steps per update.
        target_every: environment steps per copy into the target network.
        evaluate_every: environment steps per evaluation.
        evaluate_episodes: greedy episodes in one.
        from_zero: whether every value is 0 at first.
    """

    f: Mechanism
    g: Normalizer
    D: Distribution
    task: str
    steps: int = 100_000
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    gamma: float = 0.99
    capacity: int = 50_000
    batch: int = 64
    update_every: int = 2
    target_every: int = 500
    evaluate_every: int = 2_500
    evaluate_episodes: int = 100
    from_zero: bool = False

    def trainer(self, seed: int) -> CompiledTrainer:
        if self.task not in TASKS:
            check.refuse("a run", "task", " or ".join(TASKS), self.task)
        env, goal = TASKS[self.task]
        return CompiledTrainer(agent_of(Dqn, self, double=True), env, seed, self.steps, goal, enough=1)


METRICS = (
    dataclasses.replace(SOLVED, name="solved_rate", title="solved"),
    Metric(
        "first_solved",
        "first solved at step, median",
        lambda curves: first_solved(curves, "step"),
        over=median,
        better="less",
    ),
    Metric("best", "best evaluation, mean of seeds", lambda curves: curves["return"].max(axis=1), ".1f"),
    SPREAD,
)


def draw_returns(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """The mean return of greedy episodes over steps."""
    return _draw(
        curves,
        plots.plot_mean,
        lambda curve: curve["return"],
        "return, mean of greedy episodes",
        plots.about(curves.values()),
        folder,
    )


def draw_solved(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """The share of seeds that have solved the task, over steps: for cases whose returns are of different kinds."""
    return _draw(
        curves,
        plots.plot_share,
        lambda curve: np.maximum.accumulate(curve["solved"], axis=1),
        "share of seeds solved",
        "band: Wilson's 95% interval",
        folder,
    )


def _draw(
    curves: Mapping[str, Curves],
    plot: Callable[..., None],
    of: Callable[[Curves], Any],
    label: str,
    about: str,
    folder: pathlib.Path,
) -> list[pathlib.Path]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    styles = plots.style(curves)
    for case, curve in curves.items():
        plot(axes, curve["step"][0], of(curve), *styles[case], case)
    axes.set(xlabel="steps", ylabel=label)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_title(about, fontsize=9, loc="left", color="gray")
    return plots.save(figure, folder / "curves")
