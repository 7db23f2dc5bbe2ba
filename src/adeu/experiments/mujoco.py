"""The paper's main table: TD3 with six exploration methods on six MuJoCo tasks, and controls."""

from __future__ import annotations

import dataclasses
import functools
import math
import pathlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

import adeu
from adeu.agents import Td3
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import MAX, MEAN, Experiment, Family, Metric
from adeu.experiments.lib.tables import main_table
from adeu.experiments.lib.training_setting import TrainingSetting, read_run
from adeu.experiments.lib.watch import TRAINED_SPREAD
from adeu.runs.statistics import Curves, iqm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENVIRONMENTS = ("Walker2d-v5", "Hopper-v5", "Swimmer-v5", "Ant-v5", "Humanoid-v5", "HumanoidStandup-v5")
C, LAM, RHO_RND, RHO_Q = 0.2, 1.0, 0.3, 0.1
CRITICS = 5
"""The number of critics if f or UCB uses their disagreement."""
ROWS = ("constant", "rnd", "q-std", "ucb", "rnd-bonus", "noisy-nets")
"""The table's rows, in order."""
PAPER = {
    "Walker2d-v5": ((564, 726), (745, 947), (413, 500), (355, 397), (1, 23), (519, 657)),
    "Hopper-v5": ((376, 631), (733, 1167), (293, 514), (245, 422), (10, 35), (429, 766)),
    "Swimmer-v5": ((40, 46), (52, 62), (36, 39), (32, 36), (-3, -2), (30, 35)),
    "Ant-v5": ((345, 980), (1072, 1341), (1134, 1500), (585, 790), (-2658, 980), (364, 981)),
    "Humanoid-v5": ((86, 132), (313, 345), (512, 658), (89, 149), (85, 132), (75, 88)),
    "HumanoidStandup-v5": (
        (61511, 64490),
        (73895, 79978),
        (72978, 80139),
        (54928, 56527),
        (55211, 56057),
        (62152, 63645),
    ),
}
"""Mean and max of each row."""
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"learning_rate": 5e-5, "capacity": 100_000},
    "td3": {"learning_rate": 3e-4, "capacity": 1_000_000},
}
HORIZONS = {"paper": 250_000, "td3": 100_000}
"""The number of training steps: chosen by `mujoco-reading`, and that of the published figures in `OTHERS`."""
OTHERS: dict[tuple[str, str], dict[str, dict[str, dict[str, float]]]] = {
    ("Hopper-v5", "td3"): {
        "authors, v1": {"constant-0.1": {"mean": 360, "max": 827}},
        "authors' code, v5": {"constant-0.1": {"mean": 194, "max": 404}},
    }
}
"""Figures of other sources over 100,000 steps, by environment and preset: the published curves of TD3's authors on
Hopper-v1, and results of their code on Hopper-v5 with 4 seeds."""


def q_std(lam: float, rho: float) -> adeu.Mechanism:
    return adeu.Rollouts(adeu.EnsembleStd(lam), rho, C)


ADAPTIVE: dict[str, tuple[adeu.Mechanism, dict[str, Any]]] = {
    "rnd": (adeu.Rollouts(adeu.Rnd.paper(), RHO_RND, C), {}),
    "q-std": (q_std(LAM, RHO_Q), {"critics": CRITICS}),
}
"""The rows with an adaptive f: f, and the agent's fields that it requires."""
U, OUTPUTS = 187.5, 32
TOP = 100.0
"""An uncertainty at which `Sigmoid(C)` is exactly C in floating point."""


def rnd_variants() -> dict[str, adeu.Mechanism]:
    """Return other readings of the f of `rnd`.

    `rnd-32`: RND's error is a sum over 32 outputs, with a fixed U. `rnd-mean`: it is their mean, U^2/32 times the
    sum. `rnd-rollout-c`: the spread of a rollout episode is c, g's ceiling, instead of g(c).
    """
    wide = adeu.Rnd(scale=U, hidden=(64, 64), features=OUTPUTS, learning_rate=1e-4)
    paper, _ = ADAPTIVE["rnd"]
    assert isinstance(paper, adeu.Rollouts)
    return {
        "rnd-32": adeu.Rollouts(wide, RHO_RND, C),
        "rnd-mean": adeu.Rollouts(dataclasses.replace(wide, scale=U / math.sqrt(OUTPUTS)), RHO_RND, C),
        "rnd-rollout-c": dataclasses.replace(paper, c=TOP),
    }


def explored_by(
    env: str, preset: str, f: adeu.Mechanism, g: adeu.Normalizer | None = None, **agent: Any
) -> TrainingSetting:
    """Return the setting of TD3 with this f; without g, the spread is f itself."""
    explorer = adeu.Explorer(f, adeu.Identity() if g is None else g, adeu.Gaussian())
    return TrainingSetting(env, Td3(explorer, **PRESETS[preset], **agent), HORIZONS[preset])


def cases(env: str, preset: str) -> dict[str, TrainingSetting]:
    """Return the table's rows, the controls, the variants of the appendix, and other readings of `rnd`."""
    by, still = functools.partial(explored_by, env, preset), adeu.Constant(0.0)

    settings = {
        "constant": by(adeu.Constant(C)),
        **{case: by(f, adeu.Sigmoid(C), **fields) for case, (f, fields) in ADAPTIVE.items()},
        "ucb": by(still, center="ucb", critics=CRITICS),
        "rnd-bonus": by(still, bonus=adeu.Rnd(scale=1.0, hidden=(64, 64), learning_rate=1e-4)),
        "noisy-nets": by(still, center="noisy"),
        "constant-0.1": by(adeu.Constant(0.1)),
        "no-noise": by(still),
        "q-std-lam10": by(q_std(10.0, RHO_Q), adeu.Sigmoid(C), critics=CRITICS),
        "q-std-rho0": by(q_std(LAM, 0.0), adeu.Sigmoid(C), critics=CRITICS),
        **{case: by(f, adeu.Sigmoid(C)) for case, f in rnd_variants().items()},
    }
    for source in ADAPTIVE:
        settings |= controls(source, settings[source])
    return settings


def controls(case: str, setting: TrainingSetting) -> dict[str, TrainingSetting]:
    """Return the two controls of a case with rollout episodes; they differ from the case only in the spread.

    Outside rollout episodes, which each control draws independently, one uses the mean of the case's spreads and the
    other a permutation of them.
    """
    explorer = setting.agent.explorer
    assert isinstance(explorer.f, adeu.Rollouts)
    assert isinstance(explorer.f.c, float)
    f = adeu.Rollouts(adeu.Recorded(), explorer.f.rho, spread_of(explorer.g, explorer.f.c))
    agent = dataclasses.replace(setting.agent, explorer=dataclasses.replace(explorer, f=f, g=adeu.Identity()))
    mean = dataclasses.replace(setting, agent=agent, source=case)
    return {f"{case}-mean-matched": mean, f"{case}-shuffled": dataclasses.replace(mean, control="shuffled")}


@functools.cache
def spread_of(g: adeu.Normalizer, uncertainty: float) -> float:
    return float(g(jnp.asarray(uncertainty)))


METRICS = (
    dataclasses.replace(MEAN, title="mean"),
    dataclasses.replace(MAX, title="max of mean, biased up"),
    Metric("iqm", "IQM of runs", MEAN.of, over=iqm),
    TRAINED_SPREAD,
)


def draw_one(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw each case's runs; then f, g, saturation of g, exploration and deviation of actions over training."""
    from matplotlib.figure import Figure

    styles = plots.style(curves)
    paths = draw_runs(curves, styles, folder)
    traces = Figure(figsize=(8, 9), layout="constrained")
    names = {"uncertainty": "f(s)", "spread": "g(f(s))", "saturated": "g saturated"}
    names |= {"explored": "explored", "deviation": "deviation"}
    for axes, (name, label) in zip(traces.subplots(len(names), 1, sharex=True), names.items(), strict=True):
        _plot(axes, curves, styles, name, label)
        plots.crop(axes)
        axes.label_outer()
        if name == "uncertainty":
            axes.set_yscale("symlog", linthresh=0.1)
            axes.set_ylim(bottom=0)
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return paths + plots.save(traces, folder / "traces")


def draw_runs(
    curves: Mapping[str, Curves], styles: Mapping[str, tuple[str, plots.Line]], folder: pathlib.Path
) -> list[pathlib.Path]:
    """Draw a panel for each case: single runs differ so much that the bands of a few seeds would hide the curves."""
    from matplotlib.figure import Figure

    columns = min(math.ceil(math.sqrt(len(curves))), 4)
    rows = math.ceil(len(curves) / columns)
    figure = Figure(figsize=(3.6 * columns, 2.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes, (case, curve) in zip(grid.flat, curves.items(), strict=False):
        _plot(axes, {case: curve}, styles, "return", "return", plots.plot_runs)
        seeds = len(curve["seed"])
        axes.set_title(f"{plots.label(case)}, {seeds} seed{'s' * (seeds > 1)}", fontsize=9, loc="left")
        axes.set(xlabel="", ylabel="")
        axes.tick_params(labelbottom=True)
    for axes in grid.flat[len(curves) :]:
        axes.remove()
    _describe(figure)
    return plots.save(figure, folder / "curves")


def _plot(
    axes: Axes,
    curves: Mapping[str, Curves],
    styles: Mapping[str, tuple[str, plots.Line]],
    name: str,
    label: str,
    draw: Callable[..., None] = plots.plot_mean,
) -> None:
    from matplotlib.ticker import MaxNLocator

    for case, curve in curves.items():
        if name in curve:  # runs of earlier versions have fewer columns
            draw(axes, curve["step"][0, :], curve[name], *styles[case], case)
    axes.set(xlabel="steps", ylabel=label)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.25)


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw a panel with the runs of each domain; a case has the same colour in each."""
    from matplotlib.figure import Figure

    columns = min(len(members), 3)
    rows = math.ceil(len(members) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    styles = plots.style(dict.fromkeys(case for curves in members.values() for case in curves))
    for axes, (name, curves) in zip(grid.flat, members.items(), strict=False):
        _plot(axes, curves, styles, "return", "", plots.plot_runs)
        axes.set_title(name.rpartition("/")[2], fontsize=10, loc="left")
        axes.set(xlabel="")
    for axes in grid.flat[len(members) :]:
        axes.remove()
    lines = {
        label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(lines.values()), list(lines), loc="outside right upper", fontsize=9)
    _describe(figure)
    folder.mkdir(parents=True, exist_ok=True)
    return plots.save(figure, folder / "domains")


def _describe(figure: Figure) -> None:
    figure.supxlabel("steps", fontsize=10)
    figure.supylabel("return of greedy episodes", fontsize=10)
    figure.suptitle("thin lines: single runs; thick: their mean", fontsize=9, color="gray")


def paper_figures(env: str) -> dict[str, dict[str, float]]:
    return {row: {"mean": mean, "max": top} for row, (mean, top) in zip(ROWS, PAPER[env], strict=True)}


def member(name: str, env: str, preset: str) -> Experiment:
    return Experiment(
        name=f"{name}/{env}",
        title=f"TD3 on {env}, preset {preset!r}",
        takes="15 minutes to an hour for a run on one core",
        lesson=LESSON,
        cases=cases(env, preset),
        metrics=METRICS,
        draw=draw_one,
        paper=paper_figures(env),
        others=OTHERS.get((env, preset), {}),
        bold="mean",
        seeds=range(3),
        read=read_run,
    )


LESSON = (
    "mean: over seeds and all evaluations, of 10 greedy episodes each; max: the highest point of the mean curve. "
    "ADEU's spread lies between 0.1 and 0.2, never above the 0.2 of `constant`. The controls constant-0.1, "
    "mean-matched and shuffled test whether the states with noise matter, and not only its amount. "
    "`adeu list mujoco/Hopper-v5` shows the full composition of each case."
)


def family(name: str, preset: str) -> Family:
    return Family(
        name=name,
        title=f"TD3 on six MuJoCo tasks, the paper's main table, with its controls; preset {preset!r}",
        members=tuple(member(name, env, preset) for env in ENVIRONMENTS),
        draw=draw_all,
        table=functools.partial(main_table, "Mean; max of the average run", ROWS),
    )


EXPERIMENT = family("mujoco", "paper")
