"""Event files for TensorBoard beside each metrics.csv, which stays as it is."""

from __future__ import annotations

import math
import pathlib
import time
from typing import Any

from adeu.runs.engines.event import Event
from adeu.runs.folder import METRICS
from adeu.runs.load import read_metrics
from adeu.runs.spec import Spec

NAME = "events.out.tfevents.adeu"


class EventFiles:
    """Watches a sweep: each column of metrics.csv is a scalar over steps, from when the run's next rows are on disk.

    `tensorboard --logdir OUT` shows them; a run is called as its folder.

    Args:
        out: the folder of all runs.
    """

    def __init__(self, out: pathlib.Path) -> None:
        try:
            from tensorboard.compat.proto.event_pb2 import Event as Record
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "tensorboard":
                raise
            raise ValueError(
                "event files need TensorBoard, which is not installed: pip install 'adeu-rl[tensorboard]'"
            ) from None
        self._record, self._summary, self._writer = Record, Summary, RecordWriter
        self._out = out
        self._rows: dict[Spec, int] = {}
        self._seen: dict[Spec, int] = {}

    def __call__(self, event: Event) -> None:
        if not (event.finished or event.progress):
            return
        path = self._out / event.spec.name / METRICS
        changed = path.stat().st_mtime_ns if path.exists() else 0
        if changed and self._seen.get(event.spec) != changed:
            self._seen[event.spec] = changed
            self._append(event.spec, path)

    def _append(self, spec: Spec, metrics: pathlib.Path) -> None:
        """Adds the rows that are new. What an earlier command left is written anew: it may end within a row."""
        columns, first = read_metrics(metrics), self._rows.get(spec)
        with open(metrics.with_name(NAME), "wb" if first is None else "ab") as file:
            writer = self._writer(file)
            if first is None:
                self._write(writer, file_version="brain.Event:2")
            steps = columns.pop("step")
            for row in range(first or 0, len(steps)):
                scalars = {name: float(column[row]) for name, column in columns.items()}
                values = [
                    self._summary.Value(tag=name, simple_value=value)
                    for name, value in scalars.items()
                    if not math.isnan(value)
                ]
                self._write(writer, step=int(steps[row]), summary=self._summary(value=values))
        self._rows[spec] = len(steps)

    def _write(self, writer: Any, **fields: Any) -> None:
        writer.write(self._record(wall_time=time.time(), **fields).SerializeToString())
