"""Executes one run in a worker.

resume from the checkpoint, if there is one
until training is complete:
    train a piece, add its rows
    every few seconds: save a checkpoint
write metrics.csv, then done.json
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from adeu.core import check, npz
from adeu.runs.folder import (
    CHECKPOINT,
    DONE,
    KEPT,
    METRICS,
    Metrics,
    Store,
    UnusableError,
    done,
    load_checkpoint,
    save_checkpoint,
    to_csv,
)
from adeu.runs.trainers.trainer import KeepsArrays, Row, Trainer

CHECKPOINT_SECONDS = 5.0
SECONDS_VARIABLE = "ADEU_CHECKPOINT_SECONDS"
TELL_SECONDS = 0.2
LARGEST_SHARE = 0.01
"""The largest share of time spent on checkpoints; slow checkpoints are written less often."""


def checkpoint_seconds() -> float:
    """Returns the time between checkpoints: the environment variable ADEU_CHECKPOINT_SECONDS, or 5 seconds."""
    text = os.environ.get(SECONDS_VARIABLE)
    if text is None:
        return CHECKPOINT_SECONDS
    try:
        return check.as_number("adeu", SECONDS_VARIABLE, float(text), at_least=0)
    except ValueError:
        check.refuse("adeu", SECONDS_VARIABLE, "a finite number >= 0", text)


class Progress(NamedTuple):
    """The progress of a run."""

    done: int
    total: int
    steps: int
    row: Row
    """The last row of metrics.csv; empty before the first."""


def work(
    store: Store,
    trainer: Trainer,
    tell: Callable[[Progress], None],
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    spec: str = "",
) -> None:
    """Trains a run from its checkpoint, or from the start, to its end.

    Args:
        store: the run's files.
        trainer: a new trainer.
        tell: called with the progress of the run.
        checkpoint_seconds: the time between checkpoints; 0 saves one after each piece.
        spec: the digest of the run's spec; a checkpoint with another digest is rejected.
    """
    metrics, row = Metrics(), dict[str, float]()
    if saved := load_checkpoint(store, spec):
        arrays, text = saved
        try:
            trainer.restore(arrays)
        except (ValueError, TypeError, LookupError) as error:
            raise UnusableError(
                f"{CHECKPOINT} does not belong to this run ({error}); delete it to restart this run"
            ) from error
        metrics = Metrics(text)
    tell(Progress(trainer.done, trainer.total, trainer.steps, row))
    told = kept = time.monotonic()
    cost = 0.0
    while trainer.done < trainer.total:
        piece = trainer.advance()
        rows = [{name: _number(value) for name, value in each.items()} for each in piece.rows]
        metrics.add(rows)
        row = rows[-1] if rows else row
        for name, columns in piece.traces.items():
            store.write(f"traces/{name}.csv", to_csv(columns).encode())
        now = time.monotonic()
        if now - kept >= (checkpoint_seconds and max(checkpoint_seconds, cost / LARGEST_SHARE)):
            if arrays := trainer.arrays():
                save_checkpoint(store, arrays, metrics.text, spec)
            if metrics.text:
                store.write(METRICS, metrics.text.encode())
            kept = time.monotonic()
            cost = kept - now
        if now - told >= TELL_SECONDS:
            tell(Progress(trainer.done, trainer.total, trainer.steps, row))
            told = now
    store.write(METRICS, metrics.text.encode())
    left = trainer.kept() if isinstance(trainer, KeepsArrays) else {}
    content = npz.pack(left) if left else b""
    if content:
        store.write(KEPT, content)
    store.write(DONE, done(metrics.text, trainer.steps, content, spec))
    store.remove(CHECKPOINT)
    tell(Progress(trainer.done, trainer.total, trainer.steps, row))


def _number(value: float | np.generic) -> float:
    """Converts a numpy number to a Python number, because rows are sent as JSON."""
    number: float = value.item() if isinstance(value, np.generic) else value
    return number
