"""`adeu suggest ENV`: suggests f, g and D for an environment."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from adeu.cli.commands import Suggest
from adeu.experiments.lib.composition import changed
from adeu.experiments.lib.gym_env import make_env
from adeu.suggestions import suggest


def main(command: Suggest) -> int:
    console = Console(highlight=False)
    console.print(f"[bold]Which f, g and D in {escape(command.env)}?[/]")
    for each in suggest(make_env(command.env)):
        composition = ", ".join(f"{role}={changed(getattr(each.explorer, role))}" for role in ("f", "g", "D"))
        console.print(f"\n[bold]If[/] {escape(each.symptom)}:")
        console.print(f"  [bold]{escape(composition)}[/]", soft_wrap=True)  # in one line, to be copied
        notes = {
            "the agent must provide": each.needs,
            "spread": each.expect,
            "look at": each.look_at,
            "shown by": each.evidence,
        }
        for title, text in notes.items():
            if text:
                console.print(Padding(f"{title}: {escape(text)}", (0, 0, 0, 2)))
    console.print("\nThe first one is the default, which ExplorerCallback() uses if no explorer is given.")
    return 0
