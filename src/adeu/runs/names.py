"""Checks the names of experiments and cases, which are used as folder names, in output and as labels in plots."""

from __future__ import annotations

from adeu.core import check

LONGEST = 255
"""The maximum length of a folder name, in bytes."""


def check_name(owner: str, argument: str, name: object) -> None:
    """Rejects a name that leads out of its folder, is not a valid folder name, or has control characters."""
    takes = (
        f"names of folders joined by '/', printable, none of them empty, '.' or '..', at most {LONGEST} bytes each"
    )
    if not isinstance(name, str) or not name.isprintable():
        check.refuse(owner, argument, takes, name)
    if any(part in ("", ".", "..") or len(part.encode()) > LONGEST for part in name.split("/")):
        check.refuse(owner, argument, takes, name)


def check_identity(experiment: object, case: object, seed: object) -> None:
    """Rejects an invalid experiment, case or seed."""
    check_name("Spec", "experiment", experiment)
    check_name("Spec", "case", case)
    check.as_whole("Spec", "seed", seed, at_least=0, at_most=check.LARGEST_SEED)


def printable(text: str) -> str:
    """Escapes control characters in a text, except newlines and tabs."""
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)
