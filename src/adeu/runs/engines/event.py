"""What engines tell of their runs."""

from __future__ import annotations

from typing import NamedTuple

from adeu.runs.spec import Spec
from adeu.runs.work import Progress

ATTEMPTS = 2
"""How often a run is begun, if its workers die."""


class Event(NamedTuple):
    """What happened to a run: at most one of the last three is set."""

    spec: Spec
    progress: Progress | None = None
    finished: bool = False
    retried: str = ""
    """Why its worker died; the run goes on in another one."""
    failed: str = ""
    """Why it was given up."""
