"""Results on the screen."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table

from adeu.experiments.experiment import Experiment, Metric

FIGURES = ("value", "low", "high", "paper")


def table(experiment: Experiment, rows: list[dict[str, Any]]) -> Table:
    """Our figures with their intervals, and the paper's beside them."""
    metrics = {metric.name: metric for metric in experiment.metrics}
    shown = Table(
        title=experiment.title, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE
    )
    shown.show_lines = bool(experiment.paper)
    shown.add_column("case", no_wrap=True)
    for metric in metrics.values():
        shown.add_column(metric.title, justify="right")
    for case in dict.fromkeys(row["case"] for row in rows):
        shown.add_row(case, *(cell(row, metrics[row["metric"]]) for row in rows if row["case"] == case))
    return shown


def cell(row: dict[str, Any], metric: Metric) -> str:
    """The figure, its interval where it is wider than a point, and the paper's figure."""
    value, low, high, paper = ("-" if row[name] is None else format(row[name], metric.form) for name in FIGURES)
    lines = [value]
    if low != high:
        lines.append(f"[dim]{low} to {high}[/]")
    if row["paper"] is not None:
        lines.append(f"[dim italic]paper {paper}[/]")
    return "\n".join(lines)
