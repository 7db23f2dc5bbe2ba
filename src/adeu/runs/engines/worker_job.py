"""The data of a run that is sent to a worker, and the error that is sent back.

This module imports only what every run needs, so that a worker loads no framework for a tabular run.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import NamedTuple

from adeu.runs.folder import Store, UnusableError
from adeu.runs.work import Progress, work

LONGEST = 20_000
"""The maximum length of an error message, and of its traceback."""


class WorkerJob(NamedTuple):
    """The data that a worker needs for a run."""

    trainer: bytes
    """Pickled separately, so that a worker that fails to load it can report the error."""
    spec: str
    """The digest of the run's spec."""
    checkpoint_seconds: float
    alone: bool = False
    """Whether the worker process ends after this run."""


def perform(job: WorkerJob, store: Store, tell: Callable[[Progress], None]) -> None:
    """Executes a run to its end."""
    work(store, pickle.loads(job.trainer), tell, job.checkpoint_seconds, job.spec)


def explain(error: BaseException) -> str:
    """Returns an error as one line, followed by its traceback; without traceback for an `UnusableError`."""
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
