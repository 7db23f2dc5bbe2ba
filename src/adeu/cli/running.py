"""`adeu run` and `adeu train`: run experiments, write their results and print them."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from rich.console import Console

from adeu.cli.commands import Run, Train, Work
from adeu.core import check
from adeu.experiments import NAMES, find, locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.composition import footnote
from adeu.experiments.lib.experiment import Experiment, Family
from adeu.experiments.lib.naming import base
from adeu.experiments.lib.tables import footnote_table, table
from adeu.experiments.lib.variants import changed, stored_settings
from adeu.report import write_report
from adeu.runs.display import Display
from adeu.runs.engines.event import Event, Watch, without_errors
from adeu.runs.names import printable
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep

MOST_SEEDS = 100_000
IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]")
"""Matches package.module:Name, alone or within JSON."""


def main(command: Run | Train) -> int:
    # If a program reads standard output, only the command's result goes there.
    with standard_output(alone=command.json or command.dry_run) as out:
        if isinstance(command, Train):
            return run(command, out, (trained(command),))
        return run(command, out, chosen(command), family_of(command.experiment))


def trained(command: Train) -> Experiment:
    """Returns the experiment that `adeu train` describes."""
    from adeu.experiments.lib.train import training

    search_working_folder((command.env, *command.f, command.g, command.D, *command.set))
    given = command.env, command.agent, command.f, command.g, command.D
    return training(*given, command.steps, command.set, command.out)


def chosen(command: Run) -> tuple[Experiment, ...]:
    """Returns the experiments that `adeu run` names, with the changes of `--set` and `--steps`."""
    experiments, changes = locate(command.experiment), command.set
    if command.steps is not None:
        if not any(hasattr(setting, "steps") for each in experiments for setting in each.cases.values()):
            takes = f"no value for {command.experiment}, which has no steps setting (try --set episodes=...)"
            check.refuse("adeu run", "--steps", takes, command.steps)
        changes = *changes, f"steps={command.steps}"
    search_working_folder(changes)
    return tuple(changed(experiment, changes, command.out) for experiment in experiments)


def run(command: Work, out: TextIO, experiments: tuple[Experiment, ...], family: Family | None = None) -> int:
    """Runs the experiments, then writes and prints the results; for a family, also plots all members together."""
    seeds = read_seeds(command.seeds) if command.seeds else experiments[0].seeds
    specs = [spec for experiment in experiments for spec in experiment.specs(seeds)]
    if command.jobs is not None:
        check.as_whole("adeu run", "--jobs", command.jobs)
    if command.dry_run:
        return dry_run(specs, out)
    console = Console(quiet=command.quiet, stderr=command.json)
    failed = watched(command, specs, console)
    if failed:
        errors = Console(stderr=True, highlight=False, soft_wrap=True)
        if command.quiet or command.json:
            for spec, why in failed.items():
                errors.print(printable(f"{spec.name} failed: {why}"), markup=False)
        kept = "Complete runs are kept; run the same command to retry."
        errors.print(f"[red]{len(failed)} of {len(specs)} runs failed.[/] {kept}")
        return 1
    with plots.drawing():
        show(command, experiments, family, seeds, console, out)
    return 0


def show(
    command: Work,
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
        experiment = each.comparable(command.out)
        rows, pictures = experiment.write(seeds, command.out)
        console.print(table(experiment, rows))
        if isinstance(command, Train):
            console.print(footnote_table(notes(experiment, rows, command.out)))
        tables[experiment.name] = rows
        files += [("plot", path) for path in pictures]
        files.append(("figures", command.out / experiment.name / "summary.json"))
    folder = command.out / experiments[0].name
    if family:
        folder = command.out / family.name
        curves = {each.name: each.curves(seeds, command.out) for each in experiments}
        files = [("plot", path) for path in family.draw(curves, folder)]
        if family.table:
            console.print(family.table({each.name: own_rows(each, tables[each.name]) for each in experiments}))
        if family.analysis:
            console.print(family.analysis(curves))
    changes = f"With changed settings: {', '.join(command.set)}."
    console.print(f"{changes if command.set else experiments[0].lesson}\n", markup=False, highlight=False)
    for kind, path in [*files, ("report", write_report(folder))]:
        console.print(f"{kind:8} {path}", markup=False, highlight=False, soft_wrap=True)
    if command.json:
        print(json.dumps([row for rows in tables.values() for row in rows]), file=out)


def own_rows(experiment: Experiment, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows of this call's cases, under their original case names."""
    return [row | {"case": base(row["case"])} for row in rows if row["case"] in experiment.cases]


def notes(experiment: Experiment, rows: list[dict[str, Any]], out: pathlib.Path) -> dict[str, dict[str, str]]:
    """Returns the composition of each case in a table, for its footnotes."""
    stored = stored_settings(out / experiment.name)
    cases = {case: stored[case] for case in dict.fromkeys(row["case"] for row in rows)}
    return footnote(experiment.cases[experiment.compared_with], cases)


def watched(command: Work, specs: list[Spec], console: Console) -> dict[Spec, str]:
    """Runs the specs, shows their progress, and returns the failed ones with their errors."""
    watchers: list[Watch] = []
    if command.tensorboard:
        from adeu.runs.tensorboard import EventFiles

        watchers.append(without_errors(EventFiles(command.out)))

    def watch(event: Event) -> None:
        for watcher in watchers:
            watcher(event)

    with contextlib.ExitStack() as stack:
        if not (command.quiet or command.json):
            title = specs[0].experiment.partition("/")[0]
            watchers.append(without_errors(stack.enter_context(Display(console, title, len(specs)))))
        return sweep(specs, command.out, command.jobs, watch, command.engine, command.address)


def family_of(path: str) -> Family | None:
    """Returns the family that a path names, or None."""
    found = find(path) if path in NAMES else None
    return found if isinstance(found, Family) else None


def search_working_folder(texts: Sequence[str | None]) -> None:
    """Appends the working folder to the search path if one of the texts is an import path."""
    if any(IMPORT_PATH.search(text) for text in texts if text):
        sys.path.append(os.getcwd())


@contextlib.contextmanager
def standard_output(alone: bool) -> Iterator[TextIO]:
    """Yields standard output. With `alone`, all other output goes to standard error until the process ends."""
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
    """Parses seeds: 0:5 is 0, 1, 2, 3, 4; several parts are separated by commas."""
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
