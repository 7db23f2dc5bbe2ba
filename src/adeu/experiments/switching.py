"""The switch within an episode: the policy's action, the agent's action, and the spread, over one episode."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adeu.experiments.lib import lake_setting as lake
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Experiment, Metric, read
from adeu.experiments.lib.naming import base
from adeu.runs.load import read_metrics
from adeu.runs.statistics import Curves, known_mean
from adeu.runs.statistics.estimate import average

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPISODES = 2_500
"""About half of the path is known after these."""
TRACED = tuple(episode / EPISODES for episode in range(EPISODES - 9, EPISODES + 1))
LAST = 40
"""The number of last steps in the close-up."""
LONGEST = 20_000
"""The number of last steps that are read of an episode."""
ACTIONS = ("up", "right", "down", "left")


def read_longest(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's metrics and its longest traced episode, which got furthest beyond the known path."""
    traces = [read_metrics(path, folder) for path in sorted((folder / "traces").glob("*.csv"))]
    longest = max(traces, key=lambda trace: len(trace["state"]))
    whole = {name: column.astype(float)[-LONGEST:] for name, column in longest.items()}
    spread, deviates = whole["spread"], (whole["action"] != whole["best"]).astype(float)
    summary = {
        "known_spread": known_mean(spread[:-LAST], 0),
        "end_spread": known_mean(spread[-LAST:], 0),
        "known_deviates": known_mean(deviates[:-LAST], 0),
        "end_deviates": known_mean(deviates[-LAST:], 0),
        "length": np.array(len(deviates)),
    }
    padded = {
        f"trace_{name}": np.pad(column, (0, LONGEST - len(column)), constant_values=np.nan)
        for name, column in whole.items()
    }
    return read(folder) | {name: np.atleast_1d(value) for name, value in (summary | padded).items()}


def draw(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw a picture of each case, named after its changed settings."""
    return [
        path
        for case, curve in curves.items()
        for path in draw_episode(curve, folder / f"switching{case.removeprefix(base(case))}")
    ]


def draw_episode(curve: Curves, path: pathlib.Path) -> list[pathlib.Path]:
    """Draw the first seed's episode, and its last steps enlarged."""
    from matplotlib.figure import Figure

    length = int(curve["length"][0, 0])
    best, action, spread = (curve[f"trace_{name}"][0, :length] for name in ("best", "action", "spread"))
    figure = Figure(figsize=(10, 5), layout="constrained")
    axes: list[list[Axes]] = figure.subplots(2, 2, sharex="col", width_ratios=(3, 2), height_ratios=(3, 2)).tolist()
    (whole, end), (below_whole, below_end) = axes
    for actions, spreads, first in ((whole, below_whole, 0), (end, below_end, max(0, length - LAST))):
        steps = np.arange(first, length)
        actions.step(
            steps, action[first:], where="mid", color=plots.COLORS[0], linewidth=2.6, label="the action taken"
        )
        actions.step(steps, best[first:], where="mid", color=plots.COLORS[1], linewidth=1.2, label="$\\pi(s)$")
        actions.set(yticks=range(4), yticklabels=ACTIONS, ylim=(-0.4, 3.4))
        spreads.fill_between(steps, spread[first:], step="mid", color=plots.COLORS[2], alpha=0.5, linewidth=0)
        spreads.set(xlabel="step of the episode", ylim=(0, 1))
    whole.set_title("the whole episode", loc="left", fontsize=10)
    end.set_title(f"its last {min(LAST, length)} steps", loc="left", fontsize=10)
    below_whole.set_ylabel("spread $g(f(s))$")
    end.legend(loc="upper right", fontsize=9)
    return plots.save(figure, path)


def _of(name: str) -> Callable[[Curves], NDArray[np.float64]]:
    return lambda curves: average(curves[name], axis=1)


EXPERIMENT = Experiment(
    name="switching",
    title="the switch within an episode: frozen-lake's ADEU agent around episode {episodes}",
    takes="seconds",
    lesson=(
        "The longest of ten episodes. On the known part of the path the spread is small and the agent follows its "
        f"policy; in the last {LAST} steps, in rarely visited states, the spread is large and it explores."
    ),
    cases={"adeu": dataclasses.replace(lake.adeu_counts(), episodes=EPISODES, traced=TRACED)},
    metrics=(
        Metric("length", "steps", _of("length")),
        Metric("known_spread", "spread before the end", _of("known_spread"), ".4f"),
        Metric("end_spread", "spread at the end", _of("end_spread"), ".4f"),
        Metric("known_deviates", "off-policy before the end", _of("known_deviates"), ".2%"),
        Metric("end_deviates", "off-policy at the end", _of("end_deviates"), ".2%"),
    ),
    draw=draw,
    read=read_longest,
)
