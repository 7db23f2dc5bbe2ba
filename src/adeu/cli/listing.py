"""`adeu list`: prints all names with a summary line; `adeu list NAME`: prints the details of one name.

Summary lines are read from the source files without importing them.
"""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import adeu
from adeu.cli.commands import List
from adeu.core import check
from adeu.experiments import NAMES, locate, unquoted

if TYPE_CHECKING:
    from adeu.experiments.lib.experiment import Experiment

SOURCES = pathlib.Path(adeu.__file__).parent
FEW = 3
"""The largest number of cases listed by name."""
ROOMS = ("mechanisms", "normalizers", "distributions", "guards")


def main(command: List) -> int:
    console = Console(highlight=False)
    if not command.name:
        console.print(_overview())
    elif command.name in (parts := dict(_parts())):
        console.print(inspect.getdoc(getattr(adeu, command.name)), markup=False, soft_wrap=True)
    elif command.name in (recipes := dict(_recipes())):
        console.print(inspect.getdoc(getattr(adeu.recipes, command.name)), markup=False, soft_wrap=True)
    elif command.name.partition("/")[0] in NAMES:
        _describe(command.name, console)
    else:
        raise ValueError(f"unknown name {command.name!r}; {check.nearest(command.name, [*NAMES, *parts, *recipes])}")
    return 0


def _describe(path: str, console: Console) -> None:
    """Prints the cases and settings of an experiment; for a family, its members and the details of the first."""
    members = locate(path)
    first = members[0]
    console.print(first.heading, style="bold", markup=False)
    if len(members) > 1:
        console.print(f"members   {', '.join(member.name for member in members)}; below: {first.name}", markup=False)
    console.print(f"seeds     {_written(first.seeds)}")
    console.print(f"takes     {first.takes or 'not measured'}", markup=False)
    if first.smaller:
        console.print(f"smaller   {first.smaller}", markup=False, soft_wrap=True)
    console.print()
    console.print(_cases(first), _settings(first))


def _written(seeds: Sequence[int]) -> str:
    """Returns the seeds in the format of --seeds."""
    together = list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    return f"{seeds[0]}:{seeds[-1] + 1}" if together else ",".join(map(str, seeds))


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _cases(experiment: Experiment) -> Table:
    """Returns a table of the parts of each case, and at the end the other settings that all cases share."""
    from adeu.experiments.lib.composition import ROLES, composition

    shown = _grid()
    shown.add_row("[bold]cases", f"[bold]adeu run {experiment.name}/CASE")
    made = {case: composition(setting) for case, setting in experiment.cases.items()}
    rest = {role: text for role, text in next(iter(made.values())).items() if role not in ROLES}
    same = {role: text for role, text in rest.items() if all(each.get(role) == text for each in made.values())}
    for case, of in made.items():
        shown.add_row(escape(unquoted(case)), _roles({role: text for role, text in of.items() if role not in same}))
    if same:
        shown.add_row("all of them", _rounded(_roles(same)))
    return shown


def _roles(texts: Mapping[str, str]) -> str:
    return "\n".join(f"[dim]{role}[/] {escape(text)}" for role, text in texts.items())


def _rounded(text: str) -> str:
    """Shortens long decimal fractions to four digits."""
    return re.sub(r"\b\d+\.\d{7,}\b", lambda match: f"{float(match[0]):.4g}", text)


def _settings(experiment: Experiment) -> Table:
    """Returns a table of settings with their values, and the cases that have them if not all do."""
    from adeu.runs.override import settings

    values: dict[str, dict[str, str]] = {}
    for case, setting in experiment.cases.items():
        for name, value in settings(setting).items():
            values.setdefault(name, {})[case] = repr(value)
    shown = _grid()
    shown.add_row("\n[bold]settings", "\n[bold]--set SETTING=VALUE; the end of a name suffices")
    for name, found in values.items():
        text = (
            escape(_rounded(next(iter(found.values())))) if len(set(found.values())) == 1 else "[dim]differs by case"
        )
        which = ", ".join(found) if len(found) <= FEW else f"{len(found)} of {len(experiment.cases)} cases"
        shown.add_row(escape(name), text + f" [dim]in {escape(which)}" * (len(found) < len(experiment.cases)))
    return shown


def _overview() -> Table:
    listed = _grid()
    listed.add_row("[bold]experiments", "[bold]adeu run NAME")
    for name in NAMES:
        listed.add_row(name, escape(_first_line(_parse(SOURCES / "experiments" / f"{name.replace('-', '_')}.py"))))
    listed.add_row("\n[bold]parts", "\n[bold]adeu.NAME")
    for name, line in sorted(_parts()):
        listed.add_row(name, escape(line))
    listed.add_row("\n[bold]recipes", "\n[bold]adeu.recipes.NAME")
    for name, line in sorted(_recipes()):
        listed.add_row(name, escape(line))
    return listed


def _parts() -> Iterator[tuple[str, str]]:
    """Yields the name and summary of each public part: the classes in ROOMS that adeu exports."""
    for room in ROOMS:
        for path in (*SOURCES.glob(f"{room}.py"), *SOURCES.glob(f"{room}/*.py")):
            for node in _parse(path).body:
                if isinstance(node, ast.ClassDef) and node.name in dir(adeu):
                    yield node.name, _first_line(node)


def _recipes() -> Iterator[tuple[str, str]]:
    """Yields the name and summary of each recipe: the functions that return an explorer."""
    for node in _parse(SOURCES / "recipes.py").body:
        if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "Explorer":
            yield node.name, _first_line(node)


def _parse(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _first_line(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]
