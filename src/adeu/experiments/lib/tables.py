"""Tables of results for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import WHOLE, Experiment, Metric
from adeu.runs.statistics import FEWEST, share

WIDEST = 20
"""The maximal number of letters of a case's name in one line."""
NEAR = 0.1
"""The relative distance from the best figure within which a case is printed bold."""

HUGE = 1e15
"""Numbers of at least this size are printed in scientific notation."""

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]


def table(experiment: Experiment, rows: Rows) -> Group:
    """Return a table of our figures with intervals beside others', and tables of differences seed by seed."""
    shown = start(escape(experiment.heading), rows, "seeds")
    shown.show_lines = bool(experiment.paper)
    metrics = {metric.name: metric for metric in experiment.metrics}
    for metric in metrics.values():
        shown.add_column(metric.title, justify="right")
    bold = best(rows, experiment.bold)
    for case, mine in by_case(rows).items():
        others = {who: of.get(case, {}) for who, of in experiment.others.items()}
        cells = [cell(row, metrics[row["metric"]], others) for row in mine]
        shown.add_row(in_lines(case), str(mine[0]["seeds"]), *cells, style="bold" if case in bold else None)
    return Group(shown, *comparison(experiment.metrics, rows))


def footnote_table(notes: Mapping[str, Mapping[str, str]]) -> Table:
    """Return the composition of the cases of a table; see `composition.footnote`."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold", style="dim")
    for case, note in notes.items():
        shown.add_row(
            in_lines(case, plots.WIDEST), escape(", ".join(f"{name} = {text}" for name, text in note.items()))
        )
    return shown


def comparison(metrics: Sequence[Metric], rows: Rows) -> list[Table]:
    """Return a table for each case that others are compared with, seed by seed; an empty list if there is none."""
    found = [row for row in rows if row["common_seeds"]]
    references = dict.fromkeys(row["reference"] for row in found)
    return [_compared(metrics, [row for row in found if row["reference"] == each]) for each in references]


def _compared(metrics: Sequence[Metric], rows: Rows) -> Table:
    reference = escape(rows[0]["reference"])
    title = f"difference from {reference} seed by seed, and probability of improvement; with intervals"
    shown = start(title, rows, "common seeds")
    paired = {row["metric"] for row in rows}
    forms = {metric.name: metric.form for metric in metrics}
    for metric in metrics:
        if metric.name in paired:
            shown.add_column(metric.title, justify="right")
    for case, mine in by_case(rows).items():
        cells = ("\n".join(pair(row, forms[row["metric"]])) for row in mine)
        shown.add_row(in_lines(case), str(mine[0]["common_seeds"]), *cells)
    return shown


def start(title: str, rows: Rows, seeds: str) -> Table:
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE)
    shown.add_column("case", width=min(WIDEST, max(len(row["case"]) for row in rows)), overflow="fold")
    shown.add_column(seeds, justify="right")
    return shown


def in_lines(case: str, width: int = WIDEST) -> str:
    return escape(textwrap.fill(case, width))


def by_case(rows: Rows) -> dict[str, Rows]:
    return {case: [row for row in rows if row["case"] == case] for case in dict.fromkeys(row["case"] for row in rows)}


def cell(row: Row, metric: Metric, others: Mapping[str, Mapping[str, float]]) -> str:
    """Return the figure, its interval or its single runs, and the figures of the paper and others."""
    lines = [number(row["value"], metric.form), *(f"[dim not bold]{text}[/]" for text in under(row, metric))]
    theirs = {"paper": row["paper"]} | {who: of.get(metric.name) for who, of in others.items()}
    lines += [
        f"[dim italic not bold]{who} {number(figure, metric.form)}[/]"
        for who, figure in theirs.items()
        if figure is not None
    ]
    return "\n".join(lines)


def under(row: Row, metric: Metric) -> list[str]:
    """Return the lines below a figure: the counts of a share, the interval, or the single runs if there are few."""
    runs = list((row["runs"] or {}).values())
    found = span(row["low"], row["high"], metric.form)
    if metric.over is share and runs:
        return [f"{runs.count(1.0)} of {len(runs)}", found]
    if found:
        return [found]
    never = "never" if metric.better == "less" else "-"
    few = 1 < len(runs) <= FEWEST and len(set(runs)) > 1
    return [", ".join(number(run, metric.form, never) for run in runs)] if few else []


def pair(row: Row, form: str) -> list[str]:
    """Return the lines of a comparison: difference and probability of improvement, each with its interval."""
    lines = [
        number(row["difference"], form, sign="+"),
        span(row["difference_low"], row["difference_high"], form, sign="+"),
    ]
    if row["improvement"] is not None:
        found = span(row["improvement_low"], row["improvement_high"], ".0%")
        lines.append(f"better {row['improvement']:.0%} ({found})")
    return [line for line in lines if line]


def span(low: float | None, high: float | None, form: str, sign: str = "") -> str:
    """Return an interval, which may be open at one end; empty if both ends are None."""
    ends = {"at least": low, "at most": high}
    known = {word: number(end, form, sign=sign) for word, end in ends.items() if end is not None}
    return " to ".join(known.values()) if len(known) == 2 else "".join(f"{word} {end}" for word, end in known.items())


def number(value: float | None, form: str, missing: str = "-", sign: str = "") -> str:
    """Format a number, never as -0; `sign="+"` also prints the sign of positive numbers.

    A form without decimals gets two for numbers below 1.
    """
    if value is None:
        return missing
    if form == WHOLE and 0 < abs(value) < 1:
        form = ".2f"
    return format(value, f"{sign}z{form if abs(value) < HUGE else '.4g'}")


def best(rows: Rows, metric: str) -> set[str]:
    """Return the cases within a tenth of the best value of a metric."""
    values = {row["case"]: row["value"] for row in rows if row["metric"] == metric and row["value"] is not None}
    top = max(values.values(), default=0.0)
    return {case for case, value in values.items() if value >= top - NEAR * abs(top)}


def main_table(title: str, cases: Sequence[str], members: Mapping[str, Rows]) -> Table:
    """Return a table in the paper's form: a row per member with "mean; max" of each case, and the IQM below."""
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE)
    shown.show_lines = True
    shown.caption_justify = "left"
    shown.caption = (
        "mean; max of the average run, which is biased up with few seeds; bold: within a tenth of the best mean; "
        "IQM of runs with its 95% interval or, with fewer than 5 seeds, each run's mean"
    )
    shown.add_column("", no_wrap=True)
    for case in cases:
        shown.add_column(case, justify="right")
    for name, rows in members.items():
        ours = [row for row in rows if row["case"] in cases]
        figures = {(row["case"], row["metric"]): row for row in ours}
        bold = best(ours, "mean")
        shown.add_row(name.rpartition("/")[2], *(_entry(figures, case, case in bold) for case in cases))
    return shown


def _entry(figures: Mapping[tuple[str, str], Row], case: str, bold: bool) -> str:
    if (case, "mean") not in figures:
        return "-"
    mean, top, iqm = (figures[case, metric] for metric in ("mean", "max", "iqm"))
    values = f"{mean['value']:,.0f}; {top['value']:,.0f}"
    lines = [f"[bold]{values}[/]" if bold else values, f"[dim]IQM {iqm['value']:,.0f}[/]"]
    if found := span(iqm["low"], iqm["high"], ",.0f"):
        lines.append(f"[dim]{found}[/]")
    else:
        lines.append(f"[dim]{', '.join(number(run, ',.0f') for run in (mean['runs'] or {}).values())}[/]")
    if mean["paper"] is not None:
        lines.append(f"[dim italic]paper {mean['paper']:,.0f}; {top['paper']:,.0f}[/]")
    return "\n".join(lines)
