"""One table of all exploration tasks: a row for each case, a column for each task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from adeu.experiments.lib.tables import best, span

Rows = list[dict[str, Any]]
ENOUGH = 0.5
"""Runs with at least this final performance, scaled to [0, 1], are counted."""


def explore_table(members: Mapping[str, Rows]) -> Table:
    """Return a table of each case's final performance and, below, the number of seeds with at least `ENOUGH`."""
    shown = Table(
        title="Final performance, scaled to [0, 1]", title_justify="left", title_style="bold", box=box.SIMPLE
    )
    shown.caption_justify = "left"
    shown.caption = (
        f"IQM of seeds; below, the number of seeds with at least {ENOUGH}, with Wilson's 95% interval of their "
        "share; bold: within a tenth of the best"
    )
    shown.show_lines = True
    shown.add_column("", no_wrap=True)
    for name in members:
        shown.add_column(name.rpartition("/")[2], justify="right")
    found = {name: {(row["case"], row["metric"]): row for row in rows} for name, rows in members.items()}
    bold = {name: best(rows, "final") for name, rows in members.items()}
    for case in dict.fromkeys(row["case"] for rows in members.values() for row in rows):
        shown.add_row(case, *(_entry(rows, case, case in bold[name]) for name, rows in found.items()))
    return shown


def _entry(rows: Mapping[tuple[str, str], dict[str, Any]], case: str, bold: bool) -> str:
    if (case, "final") not in rows or rows[case, "final"]["value"] is None:
        return "-"
    value, enough = f"{rows[case, 'final']['value']:.2f}", rows[case, "enough"]
    count = f"{sum(enough['runs'].values()):.0f} of {enough['seeds']}"
    interval = span(enough["low"], enough["high"], ".0%")
    return f"{f'[bold]{value}[/]' if bold else value}\n[dim]{count}\n{interval}[/]"
