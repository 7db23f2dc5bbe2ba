"""The events that engines report to watchers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from adeu.runs.spec import Spec
from adeu.runs.work import Progress

ATTEMPTS = 2
"""The maximum number of attempts at a run whose workers die."""


class Event(NamedTuple):
    """An event of a run; one of the last four fields is set."""

    spec: Spec
    progress: Progress | None = None
    finished: bool = False
    retried: str = ""
    """The reason why its worker died; the run is tried again in another worker."""
    failed: str = ""
    """The reason why it failed: one line, followed by a traceback if there is one."""


Watch = Callable[[Event], None]


def without_errors(watch: Watch) -> Watch:
    """Wraps a watcher so that its errors do not affect the runs; logs the first error."""
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
