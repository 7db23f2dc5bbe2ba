"""The composition of a case as text: its f, g and D in full, and every setting that differs from the default."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from adeu.core.json_data import Json
from adeu.runs.spec import Setting, has_fields

ROLES = ("f", "g", "D", "guard")


def composition(setting: Setting) -> dict[str, str]:
    """Return each part by its role with all fields; the agent and the setting without fields at their defaults."""
    agent = getattr(setting, "agent", None)
    explorer = getattr(agent, "explorer", None)
    if agent is None or explorer is None:
        return {"setting": changed(setting)}
    parts = {role: repr(part) for role in ROLES if (part := getattr(explorer, role)) is not None}
    return parts | {"agent": changed(agent, "explorer"), "setting": changed(setting, "agent")}


def changed(value: object, *left_out: str) -> str:
    """Return a dataclass as a constructor call, without fields at their defaults."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return repr(value)
    fields = [field for field in dataclasses.fields(value) if field.init and field.name not in left_out]
    values = {field.name: getattr(value, field.name) for field in fields}
    words = [
        f"{field.name}={changed(values[field.name]) if has_fields(values[field.name]) else repr(values[field.name])}"
        for field in fields
        if values[field.name] != field.default
    ]
    return f"{type(value).__name__}({', '.join(words)})"


def footnote(setting: Setting, cases: Mapping[str, Json]) -> dict[str, dict[str, str]]:
    """Return the fields in which the cases of a table differ, and under "all of them" those they share.

    Args:
        setting: the setting of the first case.
        cases: the setting of each case, as JSON data.
    """
    lines = {case: dict(_lines(data)) for case, data in cases.items()}
    first = next(iter(lines.values()))
    same = {name for name, text in first.items() if all(line.get(name) == text for line in lines.values())}
    differing = {case: {name: line[name] for name in line if name not in same} for case, line in lines.items()}
    shared = {role: text for role, text in composition(setting).items() if role in same or role not in ROLES}
    return differing | {"all of them": shared}


def _lines(data: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield each part by its role and each other setting by its path."""
    for name, value in data.items() if isinstance(data, dict) else ():
        if isinstance(value, dict) and not (path[-1:] == ("explorer",) and name in ROLES):
            yield from _lines(value, (*path, name))
        elif path[-1:] == ("explorer",):
            if name in ROLES and value is not None:
                yield name, written(value)
        else:
            yield ".".join((*path, name)), written(value)


def written(value: Json) -> str:
    """Return JSON data as a Python expression, a part as its constructor call."""
    if isinstance(value, list):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if not isinstance(value, dict):
        return repr(value)
    if isinstance(function := value.get("function"), str):
        return function
    fields = (f"{name}={written(item)}" for name, item in value.items() if name != "part")
    return f"{value.get('part', '')}({', '.join(fields)})"
