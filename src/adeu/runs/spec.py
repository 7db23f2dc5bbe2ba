"""A run as data: its experiment, case, seed and all settings."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from adeu.core.contract import Part
from adeu.core.json_data import Json
from adeu.registry import describe
from adeu.runs.names import check_identity
from adeu.runs.trainers.trainer import Arrays, Trainer


class Setting(Protocol):
    """The settings of a case: a frozen dataclass whose fields are stored as JSON and can be changed with `--set`."""

    def trainer(self, seed: int) -> Trainer:
        """Checks the settings and returns a trainer for this seed; it must be picklable."""
        ...


@typing.runtime_checkable
class DependsOnRun(Protocol):
    """A setting whose runs may start from data kept by runs of another case."""

    @property
    def source(self) -> str:
        """The case of the same experiment whose run with the same seed it starts from; empty if it needs none."""
        ...

    def trainer(self, seed: int, kept: Arrays | None = None) -> Trainer: ...


@typing.runtime_checkable
class Adopts(Protocol):
    """A setting whose fields have changed since earlier versions."""

    def adopt(self, stored: dict[str, Json]) -> dict[str, Json]:
        """Converts a stored setting to the current fields."""
        ...


@dataclasses.dataclass(frozen=True)
class Spec:
    """One run: a case of an experiment, with its seed and setting."""

    experiment: str
    case: str
    seed: int
    setting: Setting

    def __post_init__(self) -> None:
        check_identity(self.experiment, self.case, self.seed)

    @property
    def name(self) -> str:
        """The run's folder, relative to the root folder of all runs."""
        return f"{self.experiment}/{self.case}/seed-{self.seed}"

    def plain(self) -> dict[str, Json]:
        """Returns the spec as JSON data."""
        setting = plain(self.setting)
        return {"experiment": self.experiment, "case": self.case, "seed": self.seed, "setting": setting}


def plain(value: object) -> Json:
    """Returns settings as JSON data."""
    if isinstance(value, Part):
        return describe(value)
    if has_fields(value):
        return {name: plain(getattr(value, name)) for name in field_names(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return describe(value)


def has_fields(value: object) -> bool:
    """Returns whether a value is an instance of a dataclass or a NamedTuple."""
    return not isinstance(value, type) and (hasattr(value, "_fields") or dataclasses.is_dataclass(value))


def field_names(value: object) -> tuple[str, ...]:
    """Returns the argument names of a dataclass or a NamedTuple; empty for other values."""
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value) if field.init)
    names: tuple[str, ...] = getattr(value, "_fields", ())
    return names


class Difference(NamedTuple):
    """A difference of two specs in JSON.

    Args:
        words: a description of the difference.
        form: whether a setting exists in only one of them.
    """

    words: str
    form: bool = False


def differences(there: Json, here: Json, path: str = "") -> Iterator[Difference]:
    """Yields the differences of a stored spec (`there`) from the expected one (`here`)."""
    if not (isinstance(there, dict) and isinstance(here, dict)):
        if there != here:
            yield Difference(f"{path} is {_short(there)} there and {_short(here)} here")
    elif there.get("part") != here.get("part"):
        yield Difference(f"{path} is {_short(there.get('part'))} there and {_short(here.get('part'))} here")
    else:
        for name in here | there:
            below = f"{path}.{name}" if path else name
            if name in there and name in here:
                yield from differences(there[name], here[name], below)
            else:
                yield Difference(f"{below} is {'unknown here' if name in there else 'missing there'}", form=True)


def _short(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."
