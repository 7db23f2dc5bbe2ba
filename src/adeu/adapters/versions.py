"""Checks that the installed version of a framework is supported."""

from __future__ import annotations

import importlib.metadata

RANGES = {
    "stable-baselines3": ("2.6", "3", "sb3"),
    "sbx-rl": ("0.28", "1", "sbx"),
    "torchrl": ("0.14", "1", "torchrl"),
    "tianshou": ("2.0", "3", "tianshou"),
    "pettingzoo": ("1.25", "2", "pettingzoo"),
}
"""For each distribution: the oldest supported version, the first unsupported newer one, and adeu's extra."""


def require(distribution: str) -> None:
    """Raises an `ImportError` if a framework is missing or its version is not supported.

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
    """Returns the leading numbers of a version: (2, 9, 2) for 2.9.2, (3, 0) for 3.0a1."""
    numbers = []
    for word in version.split("."):
        digits = len(word) - len(word.lstrip("0123456789"))
        if digits:
            numbers.append(int(word[:digits]))
        if digits < len(word):
            break
    return tuple(numbers)
