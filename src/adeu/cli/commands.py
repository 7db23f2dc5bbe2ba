"""The commands, each a dataclass of its arguments, cheap to import.

The module that a command names is imported once the arguments are read, and its `main` does the work.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Annotated, Any, ClassVar, Literal

import tyro


@dataclasses.dataclass(frozen=True)
class List:
    """Lists experiments and parts, each in a line; or one experiment's cases, seeds and settings."""

    name: tyro.conf.Positional[str] = ""
    """An experiment, such as frozen-lake or deep-sea/40, or a part, such as Rnd."""

    module: ClassVar = "adeu.cli.listing"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """What the commands that run something have in common."""

    seeds: str = ""
    """A range such as 0:5, a number, or several: 0,3,7; the experiment's own if not given."""
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """path=value changes a setting, such as lake.size=100, beta=0.5 or f=rnd; may be given again."""
    out: pathlib.Path = pathlib.Path("runs")
    """The folder of all runs."""
    jobs: int | None = None
    """How many runs at once, sharing the cores as threads; one per core if not given."""
    engine: Literal["local", "ray"] = "local"
    """Where to run: on this machine, or as tasks of a Ray cluster."""
    address: str | None = None
    """Of the Ray cluster: auto, HOST:PORT or ray://HOST:PORT; one is started here if not given."""
    tensorboard: bool = False
    """Writes event files beside each run's metrics.csv, for `tensorboard --logdir OUT`."""
    dry_run: bool = False
    """Prints what would run, and runs nothing."""
    json: bool = False
    """Prints the table for programs: what summary.json holds."""
    quiet: bool = False
    """Prints nothing but errors."""
    steps: int | None = None
    """How many to train, where the experiment counts steps: short for --set steps=..."""

    module: ClassVar = "adeu.cli.running"


@dataclasses.dataclass(frozen=True)
class Run(Work):
    """Runs an experiment, all of it or one case. Skips complete runs, resumes interrupted ones."""

    experiment: tyro.conf.Positional[str]
    """NAME, or one case of it: NAME/CASE, such as frozen-lake/adeu, deep-sea/40/ucb; `adeu list` prints the names."""


@dataclasses.dataclass(frozen=True)
class Train(Work):
    """Trains agents that differ in their f in a Gymnasium environment, and compares them."""

    env: tyro.conf.Positional[str]
    """The environment's registered name."""
    agent: str | None = None
    """The agent, such as dqn or td3; the one for the environment's spaces if not given."""
    f: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """The uncertainty: a part's name, its import path package.module:name, or its JSON. May be given again: each is
    compared with the first. If none of f, g and D is given: adeu.recipes.default, in a table Counts."""
    g: str | None = None
    """The normaliser."""
    D: str | None = None
    """The distribution."""


@dataclasses.dataclass(frozen=True)
class Plot:
    """Redraws the pictures of an experiment from its complete runs, or draws the paper's normalisers."""

    what: tyro.conf.Positional[str]
    """NAME of an experiment, train/ENV, or `normalizers`."""
    out: pathlib.Path = pathlib.Path("runs")
    """The folder of all runs, to which the pictures go too."""
    seeds: str = ""
    """Which seeds; all that are complete if not given."""

    module: ClassVar = "adeu.cli.drawing"


@dataclasses.dataclass(frozen=True)
class Report:
    """Writes one page about all experiments in a folder, to open in a browser; it needs no network."""

    runs: tyro.conf.Positional[pathlib.Path] = pathlib.Path("runs")
    """The folder of all runs, or that of one experiment."""
    html: pathlib.Path | None = None
    """Where to write the page; report.html in that folder if not given."""

    module: ClassVar = "adeu.cli.reporting"


@dataclasses.dataclass(frozen=True)
class Suggest:
    """Prints which f, g and D to take in an environment, by symptom."""

    env: tyro.conf.Positional[str]
    """The environment's registered name."""

    module: ClassVar = "adeu.cli.suggesting"


def read_command() -> Any:
    """The command that the arguments of the process name; exits with 2 if they name none."""
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
