"""Writes event files for TensorBoard next to each metrics.csv."""

from __future__ import annotations

import io
import math
import pathlib
import time
from typing import Any

from numpy.typing import NDArray

from adeu.core import files
from adeu.runs.engines.event import Event
from adeu.runs.folder import METRICS, Folder
from adeu.runs.load import read_metrics
from adeu.runs.spec import Spec

NAME = "events.out.tfevents.adeu"


class EventFiles:
    """Watches a sweep and writes each column of metrics.csv as a scalar over steps, whenever new rows are on disk.

    New rows are written to a new file, because a running TensorBoard does not reopen a file that was replaced.
    `tensorboard --logdir OUT` shows each run under the name of its folder.

    Args:
        out: the root folder of all runs.
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
        self._files: dict[Spec, int] = {}
        self._seen: dict[Spec, int] = {}

    def __call__(self, event: Event) -> None:
        if not (event.finished or event.progress):
            return
        path = files.inside(self._out, event.spec.name, METRICS)
        changed = path.stat().st_mtime_ns if path and path.stat().st_size else 0
        if path and changed and self._seen.get(event.spec) != changed:
            self._seen[event.spec] = changed
            self._add(event.spec, read_metrics(path))

    def _add(self, spec: Spec, columns: dict[str, NDArray[Any]]) -> None:
        """Writes the new rows; replaces the files of earlier commands by one with all rows."""
        folder, steps, first = Folder(self._out / spec.name, self._out), columns.pop("step"), self._rows.get(spec, 0)
        if spec not in self._files:
            for old in folder.path.glob(f"{NAME}*"):
                folder.remove(old.name)
        if first < len(steps):
            number = self._files[spec] = self._files.get(spec, 0) + 1
            folder.write(f"{NAME}.{number:06}", self._content(steps, columns, first))
            self._rows[spec] = len(steps)

    def _content(self, steps: NDArray[Any], columns: dict[str, NDArray[Any]], first: int) -> bytes:
        """Returns an event file with the rows from index `first` on."""
        buffer = io.BytesIO()
        writer = self._writer(buffer)
        self._write(writer, file_version="brain.Event:2")
        for row in range(first, len(steps)):
            scalars = {name: float(column[row]) for name, column in columns.items()}
            values = [
                self._summary.Value(tag=name, simple_value=value)
                for name, value in scalars.items()
                if not math.isnan(value)
            ]
            self._write(writer, step=int(steps[row]), summary=self._summary(value=values))
        return buffer.getvalue()

    def _write(self, writer: Any, **fields: Any) -> None:
        writer.write(self._record(wall_time=time.time(), **fields).SerializeToString())
