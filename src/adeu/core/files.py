"""Read files in untrusted folders safely, and write files atomically.

`read` accepts only regular files of a bounded size; `write` writes a temporary file, then renames it. Neither
follows symbolic links: neither the file nor any folder between it and `below` may be a link.
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
"""The largest size of a text file, in bytes."""
DEEPEST = 16
"""The largest depth that `walk` descends to."""


def largest_arrays() -> int:
    """Return the largest size of a file of arrays, in bytes.

    It is half of the memory, because writing a file takes more memory than its size.
    """
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def inside(root: pathlib.Path, *names: str) -> pathlib.Path | None:
    """Join the names to the root; return None if the path leaves the root, contains a link or does not exist."""
    try:
        path = root.joinpath(*names)
        return path if not (_leaves(path, root) or path.is_symlink()) and path.exists() else None
    except (ValueError, OSError):  # an invalid file name
        return None


def open_regular(path: pathlib.Path, below: pathlib.Path | None = None) -> BinaryIO:
    """Open a file for reading. Reject links, pipes and devices without blocking on them.

    Args:
        path: the path of the file.
        below: the folder that the path must stay in. The default is the parent folder.
    """
    _check_below(path, below)
    return os.fdopen(open_descriptor(path, os.O_RDONLY), "rb")


def open_descriptor(path: pathlib.Path, flags: int) -> int:
    """Open a regular file with these flags and return its descriptor; reject anything else."""
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
    """Return the content of a regular file. Reject a file of more than `limit` bytes before reading it."""
    with open_regular(path, below) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ValueError(f"{path} is too large: {size:,} bytes; it takes at most {limit:,}")
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{path} changed while it was read")
    return content


def write(path: pathlib.Path, content: bytes, below: pathlib.Path | None = None) -> None:
    """Write a file atomically: it has either the old content or the new one. A link is replaced.

    The content is written to a temporary file with a random name, synced, then renamed. Temporary files that killed
    processes left in the folder are removed.
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
    """Make a folder and its parents, if they do not exist."""
    if below is not None:
        _check_below(path / "any", below)
    path.mkdir(parents=True, exist_ok=True)


def remove(path: pathlib.Path, below: pathlib.Path | None = None) -> None:
    """Remove a file, if it exists."""
    _check_below(path, below)
    path.unlink(missing_ok=True)


def remove_asides(folder: pathlib.Path) -> None:
    """Remove temporary files that killed processes left in a folder. Files in use are locked, and stay."""
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
    """Yield the root and all folders below it, sorted, each with the names of its files. Do not follow links."""
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
    """Return whether a path may lead out of a folder: by its name, or because a folder on the way is a link."""
    if not path.is_relative_to(below):
        return True
    parts = path.relative_to(below).parts
    return not parts or ".." in parts or any(below.joinpath(*parts[:i]).is_symlink() for i in range(1, len(parts)))


def _create_aside(folder: pathlib.Path) -> tuple[pathlib.Path, int]:
    """Create a temporary file; return its path and its locked descriptor."""
    while True:
        aside = folder / f"{ASIDE}{secrets.token_hex(8)}"
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        locked = True
        with contextlib.suppress(OSError):  # a file system without locks; leftovers are not removed there
            locked = _lock(descriptor)
        if locked and os.fstat(descriptor).st_nlink:
            return aside, descriptor
        os.close(descriptor)  # another process found it before it was locked, and removes it


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed; return False if another process holds the lock."""
    import fcntl  # not on Windows, where the rest of adeu can still be imported

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync(folder: pathlib.Path) -> None:
    """Sync a folder, so that a renaming survives a power failure, if the file system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
