"""Results on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from adeu.experiments.experiment import Experiment
from adeu.experiments.plots import WIDEST

FIGURES = ("value", "low", "high", "paper")
NEAR = 0.1
"""How far from the best, by its size, a figure still is among the best."""

Rows = list[dict[str, Any]]


def table(experiment: Experiment, rows: Rows) -> Table:
    """Our figures with their intervals, and the paper's and others' beside them."""
    metrics = {metric.name: metric for metric in experiment.metrics}
    shown = Table(
        title=experiment.title, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE
    )
    shown.show_lines = bool(experiment.paper)
    width = min(WIDEST, max(len(row["case"]) for row in rows))
    shown.add_column("case", width=width, overflow="fold")
    for metric in metrics.values():
        shown.add_column(metric.title, justify="right")
    bold = best(rows, experiment.bold)
    for case in dict.fromkeys(row["case"] for row in rows):
        cells = []
        for row in rows:
            if row["case"] == case:
                others = {who: of.get(case, {}).get(row["metric"]) for who, of in experiment.others.items()}
                cells.append(cell(row, metrics[row["metric"]].form, others))
        shown.add_row(escape(case), *cells, style="bold" if case in bold else None)
    return shown


def cell(row: Mapping[str, Any], form: str, others: Mapping[str, float | None] | None = None) -> str:
    """The figure, its interval where it is wider than a point, and the figures of the paper and others."""
    value, low, high, _ = ("-" if row[name] is None else format(row[name], form) for name in FIGURES)
    lines = [value]
    if low != high:
        lines.append(f"[dim not bold]{low} to {high}[/]")
    for who, figure in {"paper": row["paper"], **(others or {})}.items():
        if figure is not None:
            lines.append(f"[dim italic not bold]{who} {figure:{form}}[/]")
    return "\n".join(lines)


def best(rows: Rows, metric: str) -> set[str]:
    """The cases within a tenth of the best of a metric."""
    values = {row["case"]: row["value"] for row in rows if row["metric"] == metric and row["value"] is not None}
    top = max(values.values(), default=0.0)
    return {case for case, value in values.items() if value >= top - NEAR * abs(top)}


def main_table(title: str, cases: Sequence[str], members: Mapping[str, Rows]) -> Table:
    """In the paper's form: a row for each member, "mean; max" of each case; below, the IQM with its interval."""
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE)
    shown.show_lines = True
    shown.caption, shown.caption_justify = "mean; max, bold within a tenth of the best mean; IQM of runs", "left"
    shown.add_column("", no_wrap=True)
    for case in cases:
        shown.add_column(case, justify="right")
    for name, rows in members.items():
        ours = [row for row in rows if row["case"] in cases]
        figures = {(row["case"], row["metric"]): row for row in ours}
        bold = best(ours, "mean")
        shown.add_row(name.rpartition("/")[2], *(_pair(figures, case, case in bold) for case in cases))
    return shown


def _pair(figures: Mapping[tuple[str, str], Mapping[str, Any]], case: str, bold: bool) -> str:
    if (case, "mean") not in figures:
        return "-"
    mean, top, iqm = (figures[case, metric] for metric in ("mean", "max", "iqm"))
    pair = f"{mean['value']:,.0f}; {top['value']:,.0f}"
    lines = [f"[bold]{pair}[/]" if bold else pair, f"[dim]IQM {iqm['value']:,.0f}[/]"]
    if iqm["low"] is not None:
        lines.append(f"[dim]{iqm['low']:,.0f} to {iqm['high']:,.0f}[/]")
    if mean["paper"] is not None:
        lines.append(f"[dim italic]paper {mean['paper']:,.0f}; {top['paper']:,.0f}[/]")
    return "\n".join(lines)
