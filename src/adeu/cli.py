"""The command line: `adeu list`, `adeu run`, `adeu train`, `adeu plot`, `adeu report`."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TextIO

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import adeu
from adeu.core import check
from adeu.experiments import NAMES, find, locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Experiment, Family
from adeu.experiments.lib.tables import table
from adeu.report import write_report
from adeu.runs.display import Display
from adeu.runs.engines.event import Event, Watch, harmless
from adeu.runs.names import printable
from adeu.runs.override import override
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep

INTERRUPTED = 130
MOST_SEEDS = 100_000
IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]")
"""package.module:Name, by itself or within JSON."""
NUMBA = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", "NUMBA_CHROME_TRACE", "NUMBA_CUDA_DRIVER")
"""What numba would otherwise take from a .numba_config.yaml in the working folder: code to load, a file to write."""


@dataclasses.dataclass(frozen=True)
class List:
    """Experiments and parts, each in a line; or the cases of one experiment, each with its composition."""

    experiment: tyro.conf.Positional[str] = ""
    """NAME of an experiment, or of one case of it; all experiments and parts if not given."""

    def __call__(self) -> int:
        from adeu.registry import PARTS

        if self.experiment:
            return self._list_cases()
        listed = Table.grid(padding=(0, 2))
        listed.add_row("[bold]experiments", "[bold]adeu run NAME")
        for name in NAMES:
            listed.add_row(name, find(name).title)
        listed.add_row("\n[bold]parts", "\n[bold]adeu.NAME")
        for name, part in sorted(PARTS.items()):
            listed.add_row(name, escape((part.__doc__ or "").strip().splitlines()[0]))
        Console().print(listed)
        return 0

    def _list_cases(self) -> int:
        """The cases of the experiment, of the first one where the name is that of a family."""
        from adeu.experiments.lib.composition import composition

        experiments = locate(self.experiment)
        if len(experiments) > 1:
            print(f"members: {', '.join(each.name for each in experiments)}; the cases of the first:\n")
        for case, setting in experiments[0].cases.items():
            print(case, *(f"    {role:8} {text}" for role, text in composition(setting).items()), sep="\n")
        return 0


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

    def run(self, out: TextIO, experiments: tuple[Experiment, ...], family: Family | None = None) -> int:
        """Runs the experiments, with settings changed, and shows the results; a family has a picture of all."""
        if self.set:
            experiments = tuple(changed(experiment, self.set) for experiment in experiments)
        seeds = read_seeds(self.seeds) if self.seeds else experiments[0].seeds
        specs = [spec for experiment in experiments for spec in experiment.specs(seeds)]
        if self.jobs is not None:
            check.as_whole("adeu run", "--jobs", self.jobs)
        if self.dry_run:
            return dry_run(specs, out)
        console = Console(quiet=self.quiet, stderr=self.json)
        failed = self._sweep(specs, console)
        if failed:
            errors = Console(stderr=True, highlight=False, soft_wrap=True)
            if self.quiet or self.json:
                for spec, why in failed.items():
                    errors.print(printable(f"{spec.name} failed: {why}"), markup=False)
            kept = "Complete runs are kept; run the same command to retry."
            errors.print(f"[red]{len(failed)} of {len(specs)} runs failed.[/] {kept}")
            return 1
        with plots.drawing():
            self._show(experiments, family, seeds, console, out)
        return 0

    def output(self) -> contextlib.AbstractContextManager[TextIO]:
        """Standard output, for the command's result alone where a program reads it."""
        return standard_output(alone=self.json or self.dry_run)

    def _show(
        self,
        experiments: tuple[Experiment, ...],
        family: Family | None,
        seeds: Sequence[int],
        console: Console,
        out: TextIO,
    ) -> None:
        """Writes the results, and prints them."""
        tables: dict[str, list[dict[str, Any]]] = {}
        files = []
        for each in experiments:
            experiment = each.comparable(self.out)
            rows, pictures = experiment.write(seeds, self.out)
            console.print(table(experiment, rows))
            tables[experiment.name] = rows
            files += [("plot", path) for path in pictures]
            files.append(("figures", self.out / experiment.name / "summary.json"))
        folder = self.out / experiments[0].name
        if family:
            folder = self.out / family.name
            files = [("plot", path) for path in family.draw_all(experiments, seeds, self.out)]
            if family.table:
                console.print(family.table(tables))
            if family.analysis:
                console.print(family.analysis(family.curves(experiments, seeds, self.out)))
        about = (
            f"With {', '.join(self.set)} in place of the experiment's own settings."
            if self.set
            else experiments[0].lesson
        )
        console.print(f"{about}\n", markup=False, highlight=False)
        for kind, path in [*files, ("report", write_report(folder))]:
            console.print(f"{kind:8} {path}", markup=False, highlight=False, soft_wrap=True)
        if self.json:
            print(json.dumps([row for rows in tables.values() for row in rows]), file=out)

    def _sweep(self, specs: list[Spec], console: Console) -> dict[Spec, str]:
        watchers: list[Watch] = []
        if self.tensorboard:
            from adeu.runs.tensorboard import EventFiles

            watchers.append(harmless(EventFiles(self.out)))

        def watch(event: Event) -> None:
            for watcher in watchers:
                watcher(event)

        with contextlib.ExitStack() as stack:
            if not (self.quiet or self.json):
                title = specs[0].experiment.partition("/")[0]
                watchers.append(harmless(stack.enter_context(Display(console, title, len(specs)))))
            return sweep(specs, self.out, self.jobs, watch, self.engine, self.address)


@dataclasses.dataclass(frozen=True)
class Run(Work):
    """Runs an experiment, all of it or one case. Skips complete runs, resumes interrupted ones."""

    experiment: tyro.conf.Positional[str]
    """NAME, or one case of it: NAME/CASE, such as frozen-lake/adeu, deep-sea/40/ucb; `adeu list` knows the names."""
    steps: int | None = None
    """How many to train, where the experiment counts steps: short for --set steps=..."""

    def __call__(self) -> int:
        experiments = locate(self.experiment)
        if self.steps is None:
            search_working_folder(self.set)
            with self.output() as out:
                return self.run(out, experiments, family_of(self.experiment))
        if not any(hasattr(setting, "steps") for each in experiments for setting in each.cases.values()):
            takes = f"no value for {self.experiment}, which counts no steps: --set episodes=..., for example"
            check.refuse("adeu run", "--steps", takes, self.steps)
        longer = dataclasses.replace(self, set=(*self.set, f"steps={self.steps}"), steps=None)
        return longer()


@dataclasses.dataclass(frozen=True)
class Train(Work):
    """Trains an agent in a Gymnasium environment, beside those of earlier calls."""

    env: tyro.conf.Positional[str]
    """The environment's registered name."""
    agent: str | None = None
    """The agent, such as dqn or td3; the one for the environment's spaces if not given."""
    f: str | None = None
    """The uncertainty: a part's name, its import path package.module:Name, or its JSON; the agent's if not given."""
    g: str | None = None
    """The normaliser."""
    D: str | None = None
    """The distribution."""
    steps: int | None = None
    """How many to train, for an agent that counts them."""

    def __call__(self) -> int:
        from adeu.experiments.lib.train import training

        search_working_folder((self.env, self.f, self.g, self.D, *self.set))
        with self.output() as out:
            return self.run(out, (training(self.env, self.agent, self.f, self.g, self.D, self.steps, self.set),))


@dataclasses.dataclass(frozen=True)
class Plot:
    """Redraws the pictures of an experiment from its complete runs, or draws the paper's normalisers."""

    what: tyro.conf.Positional[str]
    """NAME of an experiment, or `normalizers`."""
    out: pathlib.Path = pathlib.Path("runs")
    """The folder of all runs, to which the pictures go too."""
    seeds: str = ""
    """Which seeds; the experiment's own if not given."""

    def __call__(self) -> int:
        with plots.drawing():
            for path in self._draw():
                print(path)
        return 0

    def _draw(self) -> list[pathlib.Path]:
        if self.what == "normalizers":
            from adeu.experiments.lib import normalizer_figure

            return normalizer_figure.draw(self.out)
        experiments, family = locate(self.what), family_of(self.what)
        seeds = read_seeds(self.seeds) if self.seeds else experiments[0].seeds
        paths = [
            path for each in experiments for path in each.draw(each.all_curves(seeds, self.out), self.out / each.name)
        ]
        return paths + (family.draw_all(experiments, seeds, self.out) if family else [])


@dataclasses.dataclass(frozen=True)
class Report:
    """Writes one page about all experiments in a folder, to open in a browser; it needs no network."""

    runs: tyro.conf.Positional[pathlib.Path] = pathlib.Path("runs")
    """The folder of all runs, or that of one experiment."""
    html: pathlib.Path | None = None
    """Where to write the page; report.html in that folder if not given."""

    def __call__(self) -> int:
        print(write_report(self.runs, self.html))
        return 0


def family_of(path: str) -> Family | None:
    """The family that a path names as a whole."""
    found = find(path) if path in NAMES else None
    return found if isinstance(found, Family) else None


def changed(experiment: Experiment, assignments: tuple[str, ...]) -> Experiment:
    """The experiment with settings changed; the figures of the paper and of others are not for those."""
    return dataclasses.replace(experiment, cases=override(experiment.cases, assignments), paper={}, others={})


def search_working_folder(texts: Sequence[str | None]) -> None:
    """Lets an import path among the texts name a module in the working folder, which is searched last of all."""
    if any(IMPORT_PATH.search(text) for text in texts if text):
        sys.path.append(os.getcwd())


@contextlib.contextmanager
def standard_output(alone: bool) -> Iterator[TextIO]:
    """Standard output. `alone`: what anybody else prints goes to standard error, until the process ends."""
    with contextlib.ExitStack() as stack:
        out: TextIO = sys.stdout
        if alone:
            if sys.__stdout__ is out:  # not replaced by a test
                out.flush()
                out = stack.enter_context(os.fdopen(os.dup(1), "w"))
                os.dup2(2, 1)
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield out


def read_seeds(text: str) -> list[int]:
    """0:5 is 0, 1, 2, 3, 4; several parts are joined by commas."""
    ranges = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        try:
            ranges.append(range(int(first), int(last) if colon else int(first) + 1))
        except ValueError:
            check.refuse("adeu run", "--seeds", "a range such as 0:5, a number, or several: 0,3,7", text)
    within = all(each.start >= 0 and each.stop <= check.LARGEST_SEED + 1 for each in ranges)
    if within and sum(map(len, ranges)) > MOST_SEEDS:
        check.refuse("adeu run", "--seeds", f"at most {MOST_SEEDS:,} seeds", text)
    seeds = [seed for each in ranges for seed in each] if within else []
    if not seeds or len(set(seeds)) < len(seeds):
        takes = f"at least one seed, each from 0 to {check.LARGEST_SEED} and only once"
        check.refuse("adeu run", "--seeds", takes, text)
    return seeds


def dry_run(specs: list[Spec], out: TextIO) -> int:
    cases = {(spec.experiment, spec.case): spec for spec in reversed(specs)}
    print(json.dumps([spec.plain() for spec in cases.values()], indent=2), file=out)
    seeds = sorted({spec.seed for spec in specs})
    steps = len(seeds) * sum(spec.setting.trainer(spec.seed).most_steps for spec in cases.values())
    amounts = f"{len(specs)} runs: {len(cases)} cases, seeds {seeds}; at most {steps:,} steps"
    Console(stderr=True).print(amounts, markup=False, highlight=False)
    return 0


def main() -> None:
    """Runs a command; ends with 0, with 1 after an error, with 2 if it is misspelt, with 130 after Ctrl-C."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:  # an ignored signal stays ignored, as SIGINT does
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.path[:] = filter(None, sys.path)  # `python -c` would search the working folder
    os.environ |= {name: os.environ.get(name, "") for name in NUMBA}
    if sys.argv[1:] == ["--version"]:
        print(adeu.__version__)
        sys.exit()
    command: Any = tyro.cli(
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Run, tyro.conf.subcommand("run")]
        | Annotated[Train, tyro.conf.subcommand("train")]
        | Annotated[Plot, tyro.conf.subcommand("plot")]
        | Annotated[Report, tyro.conf.subcommand("report")],
        prog="adeu",
        description="Adaptive exploration via uncertainty: a ~ D(pi(s), g(f(s))).",
    )
    errors = Console(stderr=True, highlight=False)
    warnings.showwarning = lambda message, *_: errors.print(
        printable(str(message)), style="yellow", markup=False, soft_wrap=True
    )
    try:
        sys.exit(command())
    except (ValueError, TypeError, OSError) as error:
        errors.print(printable(f"adeu: {error}"), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        errors.print("\nInterrupted. Complete runs are kept; run the same command to resume.")
        sys.exit(INTERRUPTED)
