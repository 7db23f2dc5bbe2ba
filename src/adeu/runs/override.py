"""Implements `--set path=value`, which changes a (nested) field of a setting, found by a suffix of its path."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeGuard

from adeu.core import check
from adeu.core.contract import Part
from adeu.core.json_data import Json, parse
from adeu.registry import read_part
from adeu.runs.spec import Setting, field_names, has_fields

WORDS: dict[str, Json] = {"True": True, "False": False, "None": None}
PLAIN = (bool, int, float, str, type(None))
NO_MATCH = object()


@dataclasses.dataclass
class Draft:
    """A mutable copy of a value, so that several fields can change before they are checked together."""

    kind: type
    fields: dict[str, object]

    def hint(self, name: str) -> object:
        """Returns the type of a field; elements of a tuple are parts."""
        hints: Mapping[str, object] = typing.get_type_hints(self.kind)
        return Part if self.kind is tuple else hints.get(name, Any)


class Place(NamedTuple):
    """A field: its path from the setting, and the draft that contains it."""

    path: tuple[str, ...]
    owner: Draft

    def __str__(self) -> str:
        return ".".join(self.path)

    @property
    def value(self) -> object:
        return self.owner.fields[self.path[-1]]

    def assign(self, path: str, text: str) -> None:
        name = self.path[-1]
        self.owner.fields[name] = to_draft(read(path, text, self.owner.hint(name)))


def override(cases: Mapping[str, Setting], assignments: Iterable[str]) -> dict[str, Setting]:
    """Returns the cases with `path=value` assigned in each case that has the path; rejects a path that no case has.

    All assignments are made before values are checked, so that checks of several fields do not depend on their order.
    """
    drafts = {case: draft_of(setting) for case, setting in cases.items()}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not (path and equals):
            check.refuse("--set", "an assignment", "path=value", assignment)
        places = [place for draft in drafts.values() if (place := find(draft, path))]
        if not places:
            raise ValueError(f"--set: no setting {path!r}{_why(path, list(drafts.values()))}")
        for place in places:
            place.assign(path, text)
    return {case: from_draft(draft) for case, draft in drafts.items()}


def settings(setting: Setting) -> dict[str, object]:
    """Returns every field that `--set` can change, except those with nested fields, by its full path."""
    return {str(place): place.value for place in _places(draft_of(setting)) if not isinstance(place.value, Draft)}


def changes(before: Setting, after: Setting) -> dict[str, object]:
    """Returns the values that differ in `after`, by the shortest path with which `override` finds each field."""
    draft = draft_of(after)
    return {_shortest(draft, path): value for path, value in _changes(draft_of(before), draft)}


def draft_of(value: object) -> Draft:
    """Returns a draft of a dataclass or a NamedTuple."""
    return Draft(type(value), {name: to_draft(getattr(value, name)) for name in field_names(value)})


def to_draft(value: object) -> object:
    """Returns a draft of a dataclass, a NamedTuple or a tuple of them; returns other values unchanged."""
    if has_fields(value):
        return draft_of(value)
    if isinstance(value, tuple) and value and all(map(has_fields, value)):
        return Draft(tuple, {str(place): to_draft(item) for place, item in enumerate(value)})
    return value


def from_draft(draft: object) -> Any:
    """Rebuilds a value from its draft."""
    if not isinstance(draft, Draft):
        return draft
    fields = {name: from_draft(item) for name, item in draft.fields.items()}
    return tuple(fields.values()) if draft.kind is tuple else draft.kind(**fields)


def find(draft: Draft, path: str) -> Place | None:
    """Returns the field whose path ends with `path`, nearest to the root; rejects several at the same depth."""
    matches = _matches(draft, path)
    depth = min((len(place.path) for place in matches), default=0)
    nearest = [place for place in matches if len(place.path) == depth]
    if len(nearest) > 1:
        raise ValueError(f"--set: {path!r} is ambiguous: {' or '.join(map(str, nearest))}")
    return nearest[0] if nearest else None


def _matches(draft: Draft, path: str) -> list[Place]:
    names = tuple(path.split("."))
    return [place for place in _places(draft) if place.path[-len(names) :] == names]


def _places(draft: Draft, path: tuple[str, ...] = ()) -> Iterator[Place]:
    for name, item in draft.fields.items():
        yield Place((*path, name), draft)
        if isinstance(item, Draft):
            yield from _places(item, (*path, name))


def _changes(before: Draft, after: Draft, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yields the full paths and new values of fields that differ; compares nested fields if the types are equal."""
    for name, new in after.fields.items():
        old, below = before.fields[name], (*path, name)
        if isinstance(old, Draft) and isinstance(new, Draft) and _form(old) == _form(new):
            yield from _changes(old, new, below)
        elif old != new:
            yield below, from_draft(new)


def _form(draft: Draft) -> tuple[type, tuple[str, ...]]:
    return draft.kind, tuple(draft.fields)


def _shortest(draft: Draft, path: tuple[str, ...]) -> str:
    """Returns the shortest suffix of a path with which `find` returns that field."""
    for length in range(1, len(path)):
        end = ".".join(path[-length:])
        nearest = sorted(_matches(draft, end), key=lambda place: len(place.path))[:2]
        if nearest[0].path == path and len({len(place.path) for place in nearest}) == len(nearest):
            return end
    return ".".join(path)


def _why(path: str, drafts: list[Draft]) -> str:
    """Returns the end of the error message for a path that no case has."""
    parent = path.rpartition(".")[0]
    for place in (place for draft in drafts for place in _matches(draft, parent) if parent):
        if not isinstance(place.value, Draft):
            return f": {place} is {place.value!r}"
    length = len(path.split("."))
    known = {".".join(place.path[-length:]) for draft in drafts for place in _places(draft)}
    return f"; {check.nearest(path, known)}"


def read(path: str, text: str, hint: object) -> object:
    """Parses a text (JSON, a Python constant, a string or the name of a part) as a value of the hinted type."""
    try:
        data = parse(text)
    except ValueError:
        data = WORDS.get(text, text)
    value = _fit(path, data, hint)
    if value is NO_MATCH and str in _kinds(hint):
        return text
    if value is NO_MATCH:
        check.refuse("--set", path, " or ".join(map(_takes, _kinds(hint))), text)
    return value


def _fit(path: str, data: Json, hint: object) -> object:
    """Converts JSON data to the hinted type; returns NO_MATCH if it does not fit."""
    kinds = _kinds(hint)
    choices = [choice for kind in kinds if typing.get_origin(kind) is Literal for choice in _arguments(kind)]
    if type(data) in kinds or data in choices:
        return data
    if type(data) is int and float in kinds:
        return float(data)
    if type(data) is float and data.is_integer() and int in kinds:
        return int(data)
    for kind in kinds:
        if isinstance(data, list) and (typing.get_origin(kind) or kind) is tuple:
            arguments = _arguments(kind)
            element = arguments[0] if arguments[1:] == (...,) else Any
            items = [_fit(path, item, element) for item in data]
            return NO_MATCH if any(item is NO_MATCH for item in items) else tuple(items)
        if isinstance(data, str | dict) and _is_part(kind):
            part = read_part(f"--set {path}", data if isinstance(data, str) else json.dumps(data))
            return part if isinstance(part, kind) else NO_MATCH
    return NO_MATCH if all(map(_is_known, kinds)) else data


def _kinds(hint: object) -> list[object]:
    """Returns the members of a union, or the single type."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return [kind for option in _arguments(hint) for kind in _kinds(option)]
    return [hint]


def _arguments(hint: object) -> tuple[object, ...]:
    return typing.get_args(hint)


def _is_part(kind: object) -> TypeGuard[type[Part]]:
    return isinstance(kind, type) and issubclass(kind, Part)


def _is_known(kind: object) -> bool:
    """Returns whether `_fit` can check this type; other types are checked by the owner of the field."""
    return kind in PLAIN or (typing.get_origin(kind) or kind) in (Literal, tuple) or dataclasses.is_dataclass(kind)


def _takes(kind: object) -> str:
    if kind is type(None):
        return "None"
    if typing.get_origin(kind):
        choices = _arguments(kind)
        return " or ".join(map(repr, choices)) if typing.get_origin(kind) is Literal else str(kind)
    if _is_part(kind):
        return f"a {kind.__name__} (its name or JSON)"
    if dataclasses.is_dataclass(kind):
        return f"values for its fields ({', '.join(field_names(kind))})"
    return str(getattr(kind, "__name__", kind))
