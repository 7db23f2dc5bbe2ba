"""Titles with placeholders for settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def filled(title: str, cases: Iterable[Mapping[str, object]]) -> str:
    """Replace names of settings in braces by their values: `{size}` is the setting that `--set size=...` changes.

    Args:
        title: the text, with names in braces.
        cases: the settings of each case, by full path.

    Examples:
        >>> filled("a lake of size {size}", [{"lake.size": 60}, {"lake.size": 1500}, {"lake.size": 60}])
        'a lake of size 60 and 1500'
    """
    settings = list(cases)

    def values(match: re.Match[str]) -> str:
        texts = {_written(case[path]) for case in settings if (path := _nearest(case, match[1]))}
        return " and ".join(sorted(texts, key=lambda text: (len(text), text))) or "?"

    return re.sub(r"\{([\w.]+)\}", values, title)


def _nearest(case: Mapping[str, object], name: str) -> str:
    """Return the shortest path that ends with the name."""
    paths = (path for path in case if path == name or path.endswith(f".{name}"))
    return min(paths, key=lambda path: path.count("."), default="")


def _written(value: object) -> str:
    text = str(value)
    return f"{int(text):,}" if re.fullmatch(r"\d{5,15}", text) else text
