"""A run as it is sent to a worker, and an error as it is sent back.

It imports nothing that the run does not need, so that a worker loads no framework for a tabular run.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import NamedTuple

from adeu.runs.folder import Store, UnusableError
from adeu.runs.work import Progress, work

LONGEST = 20_000
"""The most characters of an error and its traceback."""


class WorkerJob(NamedTuple):
    """What a worker needs for a run."""

    trainer: bytes
    """Pickled separately, so that a worker that cannot load it can report so."""
    spec: str
    """The digest of the run's spec."""
    checkpoint_seconds: float
    alone: bool = False
    """Whether the worker ends with it."""


def perform(job: WorkerJob, store: Store, tell: Callable[[Progress], None]) -> None:
    """Executes a run to its end."""
    work(store, pickle.loads(job.trainer), tell, job.checkpoint_seconds, job.spec)


def explain(error: BaseException) -> str:
    """An error in a line and, below it, its traceback; no traceback for an unusable file."""
    try:
        line = f"{type(error).__name__}: {error}"
    except Exception:  # an error that cannot be printed
        line = type(error).__name__
    if isinstance(error, UnusableError):
        return line
    frames = "".join(traceback.format_exception(error))
    return f"{_shorten(line)}\n{_shorten(frames)}".rstrip()


def _shorten(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n...\n{text[-half:]}"
