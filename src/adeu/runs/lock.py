"""Locks an experiment's folder, so that only one command at a time runs in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import time
from collections.abc import Iterator

from adeu.core import files

PATIENCE_SECONDS = 10.0


@contextlib.contextmanager
def locked(folder: pathlib.Path, out: pathlib.Path) -> Iterator[int]:
    """Holds the folder's lock; yields its file descriptor, to pass to workers.

    Waits a few seconds if the folder is locked, because the workers of a command that was just killed need a moment
    to end. The system releases the lock when the last process that has it open ends.

    Args:
        folder: the folder of the experiment.
        out: the root folder of all runs; links below it are not followed.
    """
    files.make_folder(folder, out)
    descriptor = files.open_descriptor(folder / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        begun = time.monotonic()
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - begun > PATIENCE_SECONDS:
                    raise ValueError(
                        f"another command is running in {folder}; wait for it, or choose another --out"
                    ) from None
                time.sleep(0.1)
        yield descriptor
    finally:
        os.close(descriptor)
