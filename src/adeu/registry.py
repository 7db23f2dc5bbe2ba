"""Look up parts by name, and convert them to JSON and back.

A part is a JSON object: `"part"` is the name of a part of adeu, or the import path `package.module:Name` of a custom
one; the other members are its fields. A function is `{"function": "package.module:name"}`. A function that cannot be
imported by name, such as a lambda in a part `mine`, has the path of the field, `package.module:mine.function`.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
from typing import Any

import numpy as np

from adeu import distributions, guards, mechanisms, normalizers
from adeu.core import check
from adeu.core.contract import Part
from adeu.core.explorer import Explorer
from adeu.core.json_data import Json

_FILES = (
    f"{package.__name__}.{module.name}"
    for package in (mechanisms, distributions)
    for module in pkgutil.iter_modules(package.__path__)
)
_MODULES = (*map(importlib.import_module, _FILES), normalizers, guards)

PARTS: dict[str, type[Part]] = {"Explorer": Explorer} | {
    name: value
    for module in _MODULES
    for name, value in vars(module).items()
    if isinstance(value, type)
    and issubclass(value, Part)
    and value.__module__ == module.__name__
    and not name.startswith("_")
}


@dataclasses.dataclass(frozen=True)
class Imported:
    """A function without an import path, found by the path of a part and its field; loaded when it is called.

    Args:
        path: for example `package.module:mine.function`; elements of a tuple are named by their index.
    """

    path: str

    def __call__(self, *arguments: Any) -> Any:
        return _load(self.path)(*arguments)


def find_part(name: str) -> type[Part]:
    """Return the class of a part, given its name or its import path `package.module:Name`.

    Examples:
        >>> find_part("Rnd").__name__
        'Rnd'
        >>> find_part("Rdn")
        Traceback (most recent call last):
        ValueError: unknown part 'Rdn'; did you mean 'Rnd'? Known: Bernoulli, ...
    """
    if ":" not in name:
        if name not in PARTS:
            raise ValueError(f"unknown part {name!r}; {check.nearest(name, PARTS)}, or package.module:Name")
        return PARTS[name]
    found = _load(name)
    if not (isinstance(found, type) and issubclass(found, Part)):
        how = "a function becomes one by adeu.from_function or adeu.from_host"
        raise ValueError(f"{name!r} is not a part: a Mechanism, Normalizer, Distribution or Guard; {how}")
    return found


def read_part(argument: str, text: str) -> Any:
    """Return the part that an argument describes: by its name in any case, by its import path, or as JSON.

    The import path is that of a class or of a part, for example one that `adeu.from_host` returned.

    Examples:
        >>> read_part("--f", "counts"), read_part("--f", '{"part": "Constant", "c": 0.1}')
        (Counts(num_states=None, beta=0.9), Constant(c=0.1))
    """
    if text.lstrip().startswith("{"):
        return from_json(text)
    if ":" in text and isinstance(found := _load(text), Part):
        return _with_paths(found, text)
    kind = find_part({name.lower(): name for name in PARTS}.get(text.lower(), text))
    try:
        return kind()
    except TypeError as error:
        form = f'{{"part": "{kind.__name__}", ...}}'
        raise ValueError(f"{argument}: {error}; give it as JSON, {form}") from None


def to_json(part: Part) -> str:
    """Return a part as JSON text; `from_json` converts it back to an equal part.

    Examples:
        >>> import adeu
        >>> adeu.to_json(adeu.Rollouts(adeu.Constant(0.5), rho=0.3, c=0.2))
        '{"part": "Rollouts", "f": {"part": "Constant", "c": 0.5}, "rho": 0.3, "c": 0.2}'
    """
    if not isinstance(part, Part):
        check.refuse("to_json", "part", "a part", part)
    _require_paths(part)
    return json.dumps(describe(part), allow_nan=False)


def from_json(text: str) -> Any:
    """Return the part that `to_json` wrote. Use it with trusted text only: it imports the modules named there."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not a part's JSON: {error}") from None
    if not (isinstance(value, dict) and "part" in value):
        raise ValueError(f"not a part's JSON: it takes an object with a member 'part', got {text[:80]!r}")
    return _decode(value)


def describe_part(part: Part) -> dict[str, Json]:
    """Return a part as plain JSON data, even if a function in it cannot be imported."""
    fields = {f.name: describe(getattr(part, f.name)) for f in dataclasses.fields(part) if f.init}
    return {"part": _name(type(part))} | fields


def describe(value: object) -> Json:
    """Return a field's value as plain JSON data."""
    if isinstance(value, Part):
        return describe_part(value)
    if isinstance(value, np.generic):
        number: Json = value.item()
        return number
    if isinstance(value, tuple):
        return [describe(item) for item in value]
    if callable(value):
        return {"function": _path(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"JSON takes fields that are a number, text, tuple, part, function or None, got {value!r}")


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {"function"}:
        return _with_paths(_load(value["function"]), value["function"])
    if not isinstance(value.get("part"), str):
        raise ValueError(f"not a part's JSON: {value!r} has no member 'part' with its name")
    kind = find_part(value["part"])
    known = {field.name for field in dataclasses.fields(kind)}
    fields = {name: _decode(item) for name, item in value.items() if name != "part"}
    for name in fields:
        if name not in known:
            raise ValueError(f"{kind.__name__} has no field {name!r}; {check.nearest(name, known)}")
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}") from None


def _name(kind: type[Part]) -> str:
    return kind.__name__ if PARTS.get(kind.__name__) is kind else _path(kind)


def _path(value: Any) -> str:
    if isinstance(value, Imported):
        return value.path
    return f"{value.__module__}:{getattr(value, '__qualname__', type(value).__qualname__)}"


def _load(path: Any) -> Any:
    if not isinstance(path, str):
        raise ValueError(f"a function's path takes package.module:name, got {path!r}")
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for attribute in name.split("."):
            found = found[int(attribute)] if attribute.isdigit() else getattr(found, attribute)
    except (ImportError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path!r} cannot be imported ({error}); it takes package.module:Name") from None
    return found


def _require_paths(value: Any) -> None:
    """Reject a part with a class or function that another process could not import."""
    if isinstance(value, tuple):
        for item in value:
            _require_paths(item)
    elif isinstance(value, Part):
        if _name(type(value)) not in PARTS:
            _require_path(type(value))
        for field in dataclasses.fields(value):
            _require_paths(getattr(value, field.name))
    elif callable(value):
        _require_path(value)


def _require_path(value: Any) -> None:
    if not _is_importable(value):
        raise ValueError(f"{_path(value)} cannot be imported; define it by name at the top level of a module")


def _is_importable(value: Any) -> bool:
    path = _path(value)
    try:
        found = None if path.startswith("__main__:") else _load(path)
    except ValueError:
        return False
    return found is value or isinstance(value, Imported)


def _with_paths(value: Any, path: str) -> Any:
    """Return a part loaded by a path; functions that cannot be imported by name are replaced by `Imported`."""
    if isinstance(value, Part):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        fields = {name: _with_paths(getattr(value, name), f"{path}.{name}") for name in names}
        return dataclasses.replace(value, **fields)
    if isinstance(value, tuple):
        return tuple(_with_paths(item, f"{path}.{place}") for place, item in enumerate(value))
    return Imported(path) if callable(value) and not _is_importable(value) else value
