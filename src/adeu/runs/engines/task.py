"""A run as a task of a cluster: it posts its files and how far it is, and the caller collects them.

It imports nothing that the run does not need, so that a node loads no framework for a tabular run.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
from typing import Any, NamedTuple

import ray

from adeu.runs.work import Progress, work


class Letter(NamedTuple):
    """What a task tells: how far it is, or a file's new content, None if the file is to go."""

    ticket: int
    """Which attempt at which run it comes from."""
    progress: Progress | None = None
    name: str = ""
    content: bytes | None = None


class Mailbox:
    """An actor that keeps letters, in the order they came, until the caller takes them."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []
        self._arrived = asyncio.Event()

    async def put(self, letter: Letter) -> None:
        self._letters.append(letter)
        self._arrived.set()

    async def take(self, patience: float) -> list[Letter]:
        """All letters; waits a while if there are none."""
        if not self._letters:
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), patience)
        letters, self._letters = self._letters, []
        return letters


class Post:
    """A store that begins with the caller's files and posts each that changes."""

    def __init__(self, mailbox: Any, ticket: int, files: dict[str, bytes]) -> None:
        self._mailbox, self._ticket, self._files = mailbox, ticket, files

    def read(self, name: str) -> bytes | None:
        return self._files.get(name)

    def write(self, name: str, content: bytes) -> None:
        self.send(Letter(self._ticket, name=name, content=content))

    def remove(self, name: str) -> None:
        self.send(Letter(self._ticket, name=name))

    def send(self, letter: Letter) -> None:
        """Returns when the letter is in the mailbox, so that what a task posts stays in order."""
        ray.get(self._mailbox.put.remote(letter))


def task(mailbox: Any, ticket: int, trainer: bytes, files: dict[str, bytes], checkpoint_seconds: float) -> str:
    """Works on a run to its end; returns why it failed, if it did."""
    post = Post(mailbox, ticket, files)
    try:
        work(
            post,
            pickle.loads(trainer),
            lambda progress: post.send(Letter(ticket, progress)),
            checkpoint_seconds,
        )
    except ray.exceptions.RayError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
