"""A run as a task of a cluster: it sends its files and progress to an inbox, and the caller collects them.

It imports nothing that the run does not need, so that a node loads no framework for a tabular run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import ray

from adeu.runs.engines.worker_job import WorkerJob, explain, perform
from adeu.runs.work import Progress


class Message(NamedTuple):
    """A task's message: its progress, or the new content of a file; None removes the file."""

    attempt: int
    """The attempt at a run that sent it."""
    progress: Progress | None = None
    name: str = ""
    content: bytes | None = None


class Inbox:
    """An actor that stores messages in the order of arrival until the caller collects them."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._arrived = asyncio.Event()

    async def put(self, message: Message) -> None:
        self._messages.append(message)
        self._arrived.set()

    async def take(self, timeout_seconds: float) -> list[Message]:
        """Returns and clears all messages; waits up to `timeout_seconds` for the first."""
        if not self._messages:
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), timeout_seconds)
        messages, self._messages = self._messages, []
        return messages


class RemoteStore:
    """A store that starts with the caller's files and sends each change to the inbox."""

    def __init__(self, inbox: Any, attempt: int, files: dict[str, bytes]) -> None:
        self._inbox, self._attempt, self._files = inbox, attempt, files

    def read(self, name: str) -> bytes | None:
        return self._files.get(name)

    def write(self, name: str, content: bytes) -> None:
        self.send(Message(self._attempt, name=name, content=content))

    def remove(self, name: str) -> None:
        self.send(Message(self._attempt, name=name))

    def send(self, message: Message) -> None:
        """Returns when the message has arrived, so that the messages of a task stay in order."""
        ray.get(self._inbox.put.remote(message))


def task(inbox: Any, attempt: int, job: WorkerJob, files: dict[str, bytes], folders: list[str]) -> str:
    """Executes a run to its end; returns why it failed, if it did.

    Args:
        inbox: where to send messages.
        attempt: at the run.
        job: the run.
        files: the run's files that the caller has.
        folders: appended to the search path for modules.
    """
    sys.path += [folder for folder in folders if folder not in sys.path]
    store = RemoteStore(inbox, attempt, files)
    try:
        with _printing_nothing():
            perform(job, store, lambda progress: store.send(Message(attempt, progress)))
    except ray.exceptions.RayError:
        raise
    except BaseException as error:  # an environment may call sys.exit()
        return explain(error)
    return ""


@contextlib.contextmanager
def _printing_nothing() -> Iterator[None]:
    """Discards printed output, which a node would otherwise write to its disk."""
    before = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, descriptor in enumerate(before, start=1):
            os.dup2(descriptor, number)
        for descriptor in (nowhere, *before):
            os.close(descriptor)
