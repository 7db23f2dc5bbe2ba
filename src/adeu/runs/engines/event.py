"""The events that engines report, and calling the watchers of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from adeu.runs.spec import Spec
from adeu.runs.work import Progress

ATTEMPTS = 2
"""The most attempts at a run whose workers die."""


class Event(NamedTuple):
    """What happened to a run: one of the last four is set."""

    spec: Spec
    progress: Progress | None = None
    finished: bool = False
    retried: str = ""
    """Why its worker died; the run resumes in another worker."""
    failed: str = ""
    """Why it failed: a line and, if there is one, a traceback below it."""


Watch = Callable[[Event], None]


def harmless(watch: Watch) -> Watch:
    """Calls a watcher; its errors do not affect the runs, and the first is logged in a line."""
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
