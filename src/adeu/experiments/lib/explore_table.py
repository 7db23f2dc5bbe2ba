"""One table of all exploration tasks: a row for each case, a column for each task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from adeu.experiments.lib.tables import best, span

Rows = list[dict[str, Any]]


def explore_table(members: Mapping[str, Rows]) -> Table:
    """Return a table of each case's final performance, with its interval and the difference from the reference."""
    shown = Table(
        title="Final performance, scaled to [0, 1]", title_justify="left", title_style="bold", box=box.SIMPLE
    )
    shown.caption_justify = "left"
    shown.caption = (
        "IQM of seeds with its 95% interval; below, the difference from the reference case, seed by seed; "
        "bold: within a tenth of the best"
    )
    shown.show_lines = True
    shown.add_column("", no_wrap=True)
    for name in members:
        shown.add_column(name.rpartition("/")[2], justify="right")
    final = {name: [row for row in rows if row["metric"] == "final"] for name, rows in members.items()}
    bold = {name: best(rows, "final") for name, rows in final.items()}
    for case in dict.fromkeys(row["case"] for rows in final.values() for row in rows):
        found = {name: next((row for row in rows if row["case"] == case), None) for name, rows in final.items()}
        shown.add_row(case, *(_entry(row, case in bold[name]) for name, row in found.items()))
    return shown


def _entry(row: dict[str, Any] | None, bold: bool) -> str:
    if row is None or row["value"] is None:
        return "-"
    value = f"{row['value']:.2f}"
    lines = [f"[bold]{value}[/]" if bold else value]
    if found := span(row["low"], row["high"], ".2f"):
        lines.append(f"[dim]{found}[/]")
    if row["difference"] is not None:
        beyond = span(row["difference_low"], row["difference_high"], ".2f", sign="+")
        lines.append(f"[dim]{row['difference']:+z.2f}{f' ({beyond})' if beyond else ''}[/]")
    return "\n".join(lines)
