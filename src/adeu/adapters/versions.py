"""The versions of a framework that an adapter supports, and the error for others."""

from __future__ import annotations

import importlib.metadata

RANGES = {
    "stable-baselines3": ("2.6", "3", "sb3"),
    "sbx-rl": ("0.28", "1", "sbx"),
    "torchrl": ("0.14", "1", "torchrl"),
    "tianshou": ("2.0", "3", "tianshou"),
    "pettingzoo": ("1.25", "2", "pettingzoo"),
}
"""From each distribution to the oldest version, the first one too new, and adeu's extra that installs it."""


def require(distribution: str) -> None:
    """Rejects a framework that is missing or of a version outside the range.

    Examples:
        >>> from adeu.adapters.versions import require
        >>> require("stable-baselines3")
    """
    oldest, too_new, extra = RANGES[distribution]
    takes = f"{distribution} >= {oldest}, < {too_new}: pip install 'adeu-rl[{extra}]'"
    try:
        found = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise ImportError(f"adeu.adapters.{extra} takes {takes}; it is not installed") from None
    if not _release(oldest) <= _release(found) < _release(too_new):
        raise ImportError(f"adeu.adapters.{extra} takes {takes}; found {found}")


def _release(version: str) -> tuple[int, ...]:
    """The numbers a version begins with: (2, 9, 2) for 2.9.2, (3, 0) for 3.0a1."""
    numbers = []
    for word in version.split("."):
        digits = len(word) - len(word.lstrip("0123456789"))
        if digits:
            numbers.append(int(word[:digits]))
        if digits < len(word):
            break
    return tuple(numbers)
