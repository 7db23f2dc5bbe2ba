"""`adeu suggest ENV`: suggests f, g and D for an environment."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from adeu.cli.commands import Suggest
from adeu.experiments.lib.composition import changed
from adeu.experiments.lib.gym_env import make_env
from adeu.suggestions import suggest


def main(command: Suggest) -> int:
    found = suggest(make_env(command.env))
    shown = Table(
        title=f"Which f, g and D in {command.env}?", title_justify="left", title_style="bold", box=box.SIMPLE
    )
    shown.show_lines = True
    for title in ("if", "take", "expect a spread of", "look at", "shown by"):
        shown.add_column(title, overflow="fold")
    for each in found:
        composition = "\n".join(f"{role}={changed(getattr(each.explorer, role))}" for role in ("f", "g", "D"))
        needs = f"\nThe agent must provide {each.needs}." if each.needs else ""
        shown.add_row(each.symptom, composition + needs, each.expect, each.look_at, each.evidence)
    console = Console(highlight=False)
    console.print(shown)
    console.print("The first row is the default, which ExplorerCallback() uses if no explorer is given.")
    return 0
