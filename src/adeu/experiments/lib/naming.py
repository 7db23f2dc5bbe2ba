"""Unique names of cases: short words that need no quotes in a shell."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator

from adeu.core.contract import Part
from adeu.core.json_data import Json
from adeu.runs.override import changes
from adeu.runs.spec import Setting

LONGEST = 80
"""The maximal length of the name of a case, without its digest."""


def word(value: object) -> str:
    """Return a value as a word; a part as its name and the fields that differ from the defaults.

    Examples:
        >>> import adeu
        >>> word(adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2)), word(adeu.Sigmoid()), word((64, 64)), word("1/n")
        ('rollouts-f=rnd-rho=0.3-c=0.2', 'sigmoid', '64+64', '1-n')
    """
    if isinstance(value, Part):
        fields = [field for field in dataclasses.fields(value) if field.init]
        given = [(field.name, getattr(value, field.name), field.default) for field in fields]
        words = [f"{name}={word(item)}" for name, item, default in given if item != default]
        return "-".join([type(value).__name__.lower(), *words])
    if isinstance(value, tuple | list):
        return "+".join(map(word, value)) or "none"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    text: str = getattr(value, "__name__", str(value))
    return re.sub(r"[^\w.=+-]+", "-", text.removesuffix(".0"))


def variant(case: str, before: Setting, after: Setting) -> str:
    """Return the name of a case with a changed setting: it ends with the changes, written as for `--set`."""
    words = (f"{path}={word(value)}" for path, value in changes(before, after).items())
    return shorten("-".join([word(case), *words]))


def base(case: str) -> str:
    """Return the name without the changes that `variant` appended.

    Examples:
        >>> base("eps-greedy-size=60-episodes=600"), base("adeu-eq1")
        ('eps-greedy', 'adeu-eq1')
    """
    return re.split(r"-(?=[^\W\d][\w.]*=)", case)[0]


def disambiguate(case: str, theirs: Json, mine: Json) -> str:
    """Return a unique name for a setting whose name is taken: it ends with the first field in which they differ."""
    taken = dict(_leaves(theirs))
    for path, value in _leaves(mine):
        if path not in taken or taken[path] != value:
            field = path[-1]
            module = str(value).partition(":")[0].rpartition(".")[2]
            return shorten(f"{case}-{word(module) if field in ('part', 'function') else f'{field}={word(value)}'}")
    return f"{case}-{_digest(json.dumps(mine))}"


def shorten(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}-{_digest(name)}"


def _leaves(data: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(data, dict):
        for name, item in data.items():
            yield from _leaves(item, (*path, name))
    else:
        yield path, data


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
