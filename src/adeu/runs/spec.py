"""A run as data: which experiment, case and seed, and every setting; and what `--set` changes."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from adeu.core import check
from adeu.core.contract import Part
from adeu.registry import describe
from adeu.runs.names import check_identity
from adeu.runs.trainer import Arrays, Trainer


class Setting(Protocol):
    """All that a case fixes: a frozen dataclass, whose fields go to JSON and may be `--set`."""

    def trainer(self, seed: int) -> Trainer:
        """What trains with this seed, all arguments checked. It is sent to a worker, so it must be picklable."""
        ...


@typing.runtime_checkable
class Following(Protocol):
    """A setting whose runs may start from what those of another case kept."""

    @property
    def source(self) -> str:
        """The case of the same experiment whose run of the same seed it starts from; empty: none."""
        ...

    def trainer(self, seed: int, kept: Arrays | None = None) -> Trainer: ...


@dataclasses.dataclass(frozen=True)
class Spec:
    experiment: str
    case: str
    seed: int
    setting: Setting

    def __post_init__(self) -> None:
        check_identity(self.experiment, self.case, self.seed)

    @property
    def name(self) -> str:
        """The run's folder below OUT."""
        return f"{self.experiment}/{self.case}/seed-{self.seed}"

    def plain(self) -> dict[str, Any]:
        """The spec as JSON data."""
        head = {"experiment": self.experiment, "case": self.case, "seed": self.seed}
        return head | {"setting": plain(self.setting)}


def plain(value: Any) -> Any:
    """Settings as JSON data."""
    if isinstance(value, Part):
        return describe(value)
    if dataclasses.is_dataclass(value) or _fields(value):
        return {name: plain(getattr(value, name)) for name in _fields(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return describe(value)


def differences(one: Any, other: Any, path: str = "") -> Iterable[str]:
    """Where two specs in JSON differ, in words."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one | other:
            below = f"{path}.{name}" if path else name
            yield from differences(one.get(name), other.get(name), below)
    elif one != other:
        yield f"{path} is {_short(one)} there and {_short(other)} here"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."


def override(cases: Mapping[str, Setting], assignments: Iterable[str]) -> dict[str, Setting]:
    """The cases with `path=value` assigned in each that has the path; one that none has is refused."""
    changed = dict(cases)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not (path and equals):
            check.refuse("--set", "an assignment", "path=value", assignment)
        missing = []
        for case, setting in changed.items():
            try:
                changed[case] = assign(setting, path, text)
            except LookupError as error:
                missing.append(str(error))
        if len(missing) == len(changed):
            raise ValueError(f"--set: {max(missing, key=lambda message: 'did you mean' in message)}")
    return changed


def assign(setting: Any, path: str, text: str, whole: str = "") -> Any:
    """A copy with the field at `path` set to what the text says. LookupError: there is no such field."""
    name, _, rest = path.partition(".")
    whole = whole or path
    if name not in _fields(setting):
        raise LookupError(f"no setting {whole!r} at {name!r}; {check.nearest(name, _fields(setting))}")
    value = getattr(setting, name)
    if rest and not _fields(value):
        raise LookupError(f"no setting {whole!r}: {name} is {value!r}")
    new = assign(value, rest, text, whole) if rest else _read(whole, text, value, _hints(type(setting)).get(name))
    if isinstance(setting, tuple):
        return setting._replace(**{name: new})  # type: ignore[attr-defined]
    return dataclasses.replace(setting, **{name: new})


def _fields(value: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in dataclasses.fields(value) if field.init)
    return getattr(value, "_fields", ())


def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(path: str, text: str, value: Any, hint: Any) -> Any:
    """The text as what the field takes."""
    if _fields(value):
        raise ValueError(f"--set: {path} takes values for its fields: {', '.join(_fields(value))}; got {text!r}")
    try:
        read = json.loads(text)
    except ValueError:
        read = {"True": True, "False": False, "None": None}.get(text, text)
    kinds = [kind for kind in _kinds(hint) if kind in (bool, int, float, str, tuple, type(None))]
    if type(read) is list and tuple in kinds:
        return tuple(read)
    if type(read) is int and int not in kinds and float in kinds:
        return float(read)
    if type(read) is float and read.is_integer() and int in kinds and float not in kinds:
        return int(read)
    if type(read) not in kinds and str in kinds:
        return text
    if kinds and type(read) not in kinds:
        takes = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        check.refuse("--set", path, takes, text)
    return read


def _kinds(hint: Any) -> list[Any]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return [kind for option in typing.get_args(hint) for kind in _kinds(option)]
    return [typing.get_origin(hint) or hint]
