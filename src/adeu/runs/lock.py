"""One command at a time works in an experiment's folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import time
from collections.abc import Iterator

PATIENCE_SECONDS = 10.0


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[int]:
    """Holds the folder's lock; yields its file descriptor, to hand on to workers.

    The system lets go of it when the last process that has it open is gone, however that came about. The workers of a
    command that was just killed need a moment to end, so it waits a little.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        begun = time.monotonic()
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - begun > PATIENCE_SECONDS:
                    raise ValueError(
                        f"another command works in {folder}; wait for it, or choose another --out"
                    ) from None
                time.sleep(0.1)
        yield descriptor
    finally:
        os.close(descriptor)
