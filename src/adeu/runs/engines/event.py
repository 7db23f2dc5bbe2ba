"""What engines tell of their runs, and those who watch."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from adeu.runs.spec import Spec
from adeu.runs.work import Progress

ATTEMPTS = 2
"""How often a run is tried, if its workers die."""


class Event(NamedTuple):
    """What happened to a run: one of the last four is set."""

    spec: Spec
    progress: Progress | None = None
    finished: bool = False
    retried: str = ""
    """Why its worker died; the run resumes in another one."""
    failed: str = ""
    """Why it was given up: a line and, where there is one, a traceback below it."""


Watch = Callable[[Event], None]


def harmless(watch: Watch) -> Watch:
    """Calls a watcher whose errors stop nobody: the first is logged, in a line."""
    logged = False

    def call(event: Event) -> None:
        nonlocal logged
        try:
            watch(event)
        except Exception as error:
            if not logged:
                logged = True
                name = getattr(watch, "__qualname__", type(watch).__qualname__)
                message = " ".join(f"{type(error).__name__}: {error}".split())
                logging.getLogger("adeu").error("%s failed, the runs continue: %s", name, message)

    return call
