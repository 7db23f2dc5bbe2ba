"""Reads files of untrusted folders within bounds, and writes files atomically.

`read` opens regular files only, of a bounded size; `write` writes a temporary file, then renames it. Neither
follows a link: not the file itself, nor a folder on the way to it from the one that the path has to stay below.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

ASIDE = ".aside-"
"""The prefix of temporary files."""
LARGEST_TEXT = 50_000_000
"""The most bytes of a text file."""
DEEPEST = 16
"""The most levels of folders that `walk` descends."""


def largest_arrays() -> int:
    """The most bytes of a file of arrays: half of the memory, because writing one takes more than its size."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def inside(root: pathlib.Path, *names: str) -> pathlib.Path | None:
    """The path below the root that the names lead to; None if it leads out, has a link in it or does not exist."""
    try:
        path = root.joinpath(*names)
        return path if not (_leaves(path, root) or path.is_symlink()) and path.exists() else None
    except (ValueError, OSError):  # a name that no file can have
        return None


def open_regular(path: pathlib.Path, below: pathlib.Path | None = None) -> BinaryIO:
    """Opens a file for reading. Rejects links, pipes and devices, without waiting for any of them.

    Args:
        path: of the file.
        below: the folder that the path has to stay below; the file's own if not given.
    """
    _check_below(path, below)
    return os.fdopen(open_descriptor(path, os.O_RDONLY), "rb")


def open_descriptor(path: pathlib.Path, flags: int) -> int:
    """The descriptor of a regular file, opened with these flags; rejects anything else."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            raise ValueError(f"{path} is not a regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{path} is not a regular file")
    return descriptor


def read(path: pathlib.Path, below: pathlib.Path | None = None, limit: int = LARGEST_TEXT) -> bytes:
    """The content of a regular file. Rejects one of more than `limit` bytes before reading it."""
    with open_regular(path, below) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ValueError(f"{path} is too large: {size:,} bytes; it takes at most {limit:,}")
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{path} changed while it was read")
    return content


def write(path: pathlib.Path, content: bytes, below: pathlib.Path | None = None) -> None:
    """Writes a file atomically: it has either the new content or the old one. Replaces a link.

    The content is written to a temporary file with a random name, synced, then renamed. Files that killed
    writers left in the folder are removed.
    """
    _check_below(path, below)
    make_folder(path.parent)
    remove_asides(path.parent)
    aside, descriptor = _create_aside(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(aside, path)  # still locked, so that no other writer removes it as a leftover
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def make_folder(path: pathlib.Path, below: pathlib.Path | None = None) -> None:
    """Makes a folder and those above it, if they do not exist."""
    if below is not None:
        _check_below(path / "any", below)
    path.mkdir(parents=True, exist_ok=True)


def remove(path: pathlib.Path, below: pathlib.Path | None = None) -> None:
    """Removes a file, if it exists."""
    _check_below(path, below)
    path.unlink(missing_ok=True)


def remove_asides(folder: pathlib.Path) -> None:
    """Removes the files that killed writers left in a folder. A running writer holds a lock on its file."""
    left: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        left = [each.path for each in entries if each.name.startswith(ASIDE) and each.is_file(follow_symlinks=False)]
    for path in left:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _lock(descriptor):
                    os.unlink(path)
            finally:
                os.close(descriptor)


def walk(root: pathlib.Path) -> Iterator[tuple[pathlib.Path, list[str]]]:
    """The folders at and below the root, sorted, each with the names of its files. Links are not followed."""
    for name, folders, names in os.walk(root):
        folder = pathlib.Path(name)
        folders.sort()
        if len(folder.parts) - len(root.parts) >= DEEPEST:
            folders.clear()
        yield folder, names


def _check_below(path: pathlib.Path, below: pathlib.Path | None) -> None:
    if below is not None and _leaves(path, below):
        raise ValueError(f"{path} is not inside {below}: links and '..' are not followed")


def _leaves(path: pathlib.Path, below: pathlib.Path) -> bool:
    """Whether a path leads, or could lead, out of a folder: by its name, or through a folder that is a link."""
    if not path.is_relative_to(below):
        return True
    parts = path.relative_to(below).parts
    return not parts or ".." in parts or any(below.joinpath(*parts[:i]).is_symlink() for i in range(1, len(parts)))


def _create_aside(folder: pathlib.Path) -> tuple[pathlib.Path, int]:
    """A new file and its locked descriptor."""
    while True:
        aside = folder / f"{ASIDE}{secrets.token_hex(8)}"
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        locked = True
        with contextlib.suppress(OSError):  # a disk without locks, where leftovers are not removed
            locked = _lock(descriptor)
        if locked and os.fstat(descriptor).st_nlink:
            return aside, descriptor
        os.close(descriptor)  # another writer saw it before it was locked, and removes it


def _lock(descriptor: int) -> bool:
    """Locks a file until it is closed; False if another process holds the lock."""
    import fcntl  # not on Windows, where the rest of adeu can still be imported

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync(folder: pathlib.Path) -> None:
    """Makes a renaming survive a power failure, where the disk can sync a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
