"""Check that a part is a value: equal to another part if, and only if, class and fields are equal.

Compiled functions are cached by part. If two different parts compared equal, the second would run the functions of
the first, with the wrong hyper-parameters. A part that is unequal to a copy of itself would be recompiled each time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

from adeu.core import check

REASON = "equal parts share one compilation"


def check_value(value: Any) -> None:
    """Reject a dataclass that is not a value, or that has one in its fields; the error names class and field."""
    kind: Any = type(value)
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for name, item in fields.items():
        for inner in _dataclasses_in(item):
            check_value(inner)
        try:
            hash(item)
        except TypeError:
            check.refuse(value, name, "a hashable value (a tuple instead of a list or an array)", item)
    if kind.__eq__ is not object.__eq__:  # objects compared by identity need no check
        _check_attributes(value, fields)
        _check_comparison(value, fields)


def _dataclasses_in(item: Any) -> Iterator[Any]:
    if isinstance(item, tuple | frozenset):
        for each in item:
            yield from _dataclasses_in(each)
    elif dataclasses.is_dataclass(item) and not isinstance(item, type):
        yield item


def _check_attributes(value: Any, fields: dict[str, Any]) -> None:
    kind = type(value)
    slots = {name for base in kind.__mro__ for name in _slots(base) if hasattr(value, name)}
    for name in sorted(slots.union(vars(value) if hasattr(value, "__dict__") else ()) - fields.keys()):
        cached = isinstance(getattr(kind, name, None), functools.cached_property)
        if not cached and not name.startswith("__"):
            raise ValueError(
                f"{kind.__name__}: the attribute {name} is not a field, so parts that differ in it compare equal, "
                f"and {REASON}. Declare the class with @dataclasses.dataclass(frozen=True), the attribute as a field"
            )


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _check_comparison(value: Any, fields: dict[str, Any]) -> None:
    name = type(value).__name__
    for field in fields:
        if _equal(value, _copy(value, fields | {field: object()})) is not False:
            raise ValueError(
                f"{name}: the field {field} is not compared, and {REASON}: this part would use the {field} "
                f"of an earlier one. Declare {name} without eq=False, {field} without compare=False, and no __eq__ "
                "that leaves it out"
            )
    twin, ordinary = _copy(value, fields), all(item == item for item in fields.values())  # no NaN
    if ordinary and (_equal(value, twin) is not True or hash(value) != hash(twin)):
        raise ValueError(
            f"{name}: it differs from a part with equal fields, so it would be recompiled each time. "
            f"Declare {name} without __eq__ and __hash__"
        )


def _copy(value: Any, fields: dict[str, Any]) -> Any:
    """Return an object of the same class with these fields, without calling any of its methods."""
    twin = object.__new__(type(value))
    for name, item in fields.items():
        object.__setattr__(twin, name, item)
    return twin


def _equal(one: Any, other: Any) -> bool | None:
    """Return whether they are equal, None if the comparison fails."""
    try:
        return bool(one == other)
    except Exception:
        return None
