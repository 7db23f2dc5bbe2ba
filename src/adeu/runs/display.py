"""Shows the progress of runs and the remaining time on the screen."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column

from adeu.runs.engines.event import Event
from adeu.runs.names import printable
from adeu.runs.spec import Spec

PLAIN: Any = {"markup": False, "highlight": False, "soft_wrap": True}
LINES = 20
"""The approximate number of lines printed without a terminal."""
BAR = 10
FIXED = BAR + 4 + 7 + 4
"""The width of the bar, the percentage, the remaining time and the gaps; texts share the rest."""


class Display:
    """Shows a bar for all runs and one per active run; without a terminal, prints a line for some ended runs."""

    def __init__(self, console: Console, title: str, total: int) -> None:
        self._console, self._title, self._total = console, title, total
        self._bars: dict[Spec, tuple[TaskID, float, int]] = {}
        self._ended = 0
        columns = (
            TextColumn("{task.description}", table_column=_cut(round(0.35 * (console.width - FIXED)), 40)),
            BarColumn(table_column=Column(width=BAR)),
            TextColumn("{task.percentage:>3.0f}%", table_column=Column(width=4)),
            TextColumn("{task.fields[note]}", "dim", table_column=_cut(round(0.65 * (console.width - FIXED)), 48)),
            TimeRemainingColumn(table_column=Column(width=7)),
        )
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._all = self._progress.add_task(f"[bold]{escape(title)}[/]", total=total, note=f"0 of {total} runs")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        if event.progress:
            self._move(event)
        elif event.retried:
            line = printable(f"{event.spec.name}: {event.retried}; trying again")
            self._console.print(line, style="yellow", **PLAIN)
        else:
            self._end(event)
        partly = sum(bar.completed / bar.total for bar in self._progress.tasks[1:] if bar.total)
        note = f"{self._ended} of {self._total} runs"
        self._progress.update(self._all, completed=self._ended + partly, note=note)

    def _move(self, event: Event) -> None:
        now, progress = time.monotonic(), event.progress
        assert progress
        if event.spec not in self._bars:
            bar = self._progress.add_task(
                f"  seed {event.spec.seed}, {escape(event.spec.case)}", total=progress.total, note=""
            )
            self._bars[event.spec] = bar, now, progress.steps
        bar, begun, first = self._bars[event.spec]
        speed = (progress.steps - first) / (now - begun) if now > begun else 0.0
        note = f"{speed / 1e6:5.1f} M steps/s" if speed > 1e5 else f"{speed:,.0f} steps/s"
        if "return" in progress.row:
            note += f", return {progress.row['return']:,.0f}"
        if not math.isnan(progress.row.get("spread", math.nan)):
            note += f", spread {progress.row['spread']:.3f}"
        self._progress.update(bar, completed=progress.done, note=note)

    def _end(self, event: Event) -> None:
        if event.spec in self._bars:
            self._progress.remove_task(self._bars.pop(event.spec)[0])
        self._ended += 1
        if event.failed:
            self._console.print(printable(f"{event.spec.name} failed: {event.failed}"), style="red", **PLAIN)
        elif not self._console.is_terminal and (LINES * self._ended) % self._total < LINES:
            self._console.print(f"{self._ended} of {self._total}: {event.spec.name}", **PLAIN)


def _cut(width: int, most: int) -> Column:
    """Returns a column for text, which is cropped if the screen is narrow."""
    return Column(width=max(1, min(width, most)), overflow="ellipsis", no_wrap=True)
