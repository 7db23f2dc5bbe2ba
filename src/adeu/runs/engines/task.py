"""Executes a run as a task on a cluster; sends its files and progress to an inbox that the caller reads.

This module imports only what every run needs, so that a node loads no framework for a tabular run.
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
    """A task's message: its progress, or the new content of a file; with `content=None`, the file is removed."""

    attempt: int
    """The number of the attempt that sent it."""
    progress: Progress | None = None
    name: str = ""
    content: bytes | None = None


class Inbox:
    """A Ray actor that stores messages in order of arrival until the caller collects them."""

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
        """Sends a message and waits for its arrival, so that messages of a task stay in order."""
        ray.get(self._inbox.put.remote(message))


def task(inbox: Any, attempt: int, job: WorkerJob, files: dict[str, bytes], folders: list[str]) -> str:
    """Executes a run to its end; returns the error if it failed, else an empty string.

    Args:
        inbox: the inbox for messages.
        attempt: the number of this attempt.
        job: the run.
        files: the existing files of the run, by name.
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
