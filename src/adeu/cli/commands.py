"""The commands, each a dataclass of its arguments.

This module is cheap to import. Each command names the module that implements it, which is imported after the
arguments are parsed.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Annotated, Any, ClassVar, Literal

import tyro


@dataclasses.dataclass(frozen=True)
class List:
    """Lists all experiments, parts and recipes, or describes one of them."""

    name: tyro.conf.Positional[str] = ""
    """An experiment, such as frozen-lake or deep-sea/40, a part, such as Rnd, or a recipe."""

    module: ClassVar = "adeu.cli.listing"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """The arguments that `adeu run` and `adeu train` share."""

    seeds: str = ""
    """A range such as 0:5, a number, or several: 0,3,7; default: the seeds of the experiment."""
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """path=value changes a setting, such as lake.size=100, beta=0.5 or f=rnd; repeatable."""
    out: pathlib.Path = pathlib.Path("runs")
    """The root folder of all runs."""
    jobs: int | None = None
    """The number of parallel runs, which share the cores; default: one per core."""
    engine: Literal["local", "ray"] = "local"
    """Where to run: on this machine, or as tasks of a Ray cluster."""
    address: str | None = None
    """The address of the Ray cluster: auto, HOST:PORT or ray://HOST:PORT; default: starts one on this machine."""
    tensorboard: bool = False
    """Writes TensorBoard event files next to each metrics.csv; view them with `tensorboard --logdir OUT`."""
    dry_run: bool = False
    """Prints the runs without executing them."""
    json: bool = False
    """Prints the table as JSON, like summary.json."""
    quiet: bool = False
    """Prints nothing but errors."""
    steps: int | None = None
    """The number of training steps; same as --set steps=..."""

    module: ClassVar = "adeu.cli.running"


@dataclasses.dataclass(frozen=True)
class Run(Work):
    """Runs an experiment or one case of it. Skips complete runs, resumes interrupted ones."""

    experiment: tyro.conf.Positional[str]
    """NAME, or one case of it: NAME/CASE, such as frozen-lake/adeu, deep-sea/40/ucb; `adeu list` prints the names."""


@dataclasses.dataclass(frozen=True)
class Train(Work):
    """Trains an agent in a Gymnasium environment with one or several f, and compares them."""

    env: tyro.conf.Positional[str]
    """The environment's registered name."""
    agent: str | None = None
    """The agent, such as dqn or td3; default: the one that fits the environment's spaces."""
    f: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """The uncertainty: a part's name, its import path package.module:name, or its JSON. Repeatable: each is
    compared with the first. Default, if f, g and D are all omitted: adeu.recipes.default, or Counts in a table."""
    g: str | None = None
    """The normaliser."""
    D: str | None = None
    """The distribution."""


@dataclasses.dataclass(frozen=True)
class Plot:
    """Redraws the plots of an experiment from its complete runs, or draws the paper's normalisers."""

    what: tyro.conf.Positional[str]
    """NAME of an experiment, train/ENV, or `normalizers`."""
    out: pathlib.Path = pathlib.Path("runs")
    """The root folder of all runs; plots are written there too."""
    seeds: str = ""
    """The seeds to plot; default: all complete ones."""

    module: ClassVar = "adeu.cli.drawing"


@dataclasses.dataclass(frozen=True)
class Report:
    """Writes one HTML page about all experiments in a folder; the page works offline."""

    runs: tyro.conf.Positional[pathlib.Path] = pathlib.Path("runs")
    """The root folder of all runs, or the folder of one experiment."""
    html: pathlib.Path | None = None
    """Where to write the page; default: report.html in that folder."""

    module: ClassVar = "adeu.cli.reporting"


@dataclasses.dataclass(frozen=True)
class Suggest:
    """Suggests f, g and D for an environment, by symptom."""

    env: tyro.conf.Positional[str]
    """The environment's registered name."""

    module: ClassVar = "adeu.cli.suggesting"


def read_command() -> Any:
    """Parses the arguments of the process; exits with 2 if they are invalid."""
    return tyro.cli(
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Run, tyro.conf.subcommand("run")]
        | Annotated[Train, tyro.conf.subcommand("train")]
        | Annotated[Plot, tyro.conf.subcommand("plot")]
        | Annotated[Report, tyro.conf.subcommand("report")]
        | Annotated[Suggest, tyro.conf.subcommand("suggest")],
        prog="adeu",
        description="Adaptive exploration via uncertainty: a ~ D(pi(s), g(f(s))).",
    )
