"""Names of cases: short words that need no quotes in a shell, each for one composition alone."""

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
"""Letters in the name of a case."""


def word(value: object) -> str:
    """A value as a word; a part by its name and the fields that are not its defaults.

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
    """The name of a case whose setting was changed, with the changes as `--set` makes them."""
    words = (f"{path}={word(value)}" for path, value in changes(before, after).items())
    return shorten("-".join([word(case), *words]))


def base(case: str) -> str:
    """The name without the changes that `variant` adds.

    Examples:
        >>> base("eps-greedy-size=60-episodes=600"), base("adeu-eq1")
        ('eps-greedy', 'adeu-eq1')
    """
    return re.split(r"-(?=[^\W\d][\w.]*=)", case)[0]


def told_apart(case: str, theirs: Json, mine: Json) -> str:
    """A name for a setting, where another one has the name: it ends with the first field in which they differ."""
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
