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
    """The settings of a case: a frozen dataclass, whose fields go to JSON and can be changed with `--set`."""

    def trainer(self, seed: int) -> Trainer:
        """The trainer for this seed, with all arguments checked. It is sent to a worker, so it must be picklable."""
        ...


@typing.runtime_checkable
class DependsOnRun(Protocol):
    """A setting whose runs may start from what the runs of another case kept."""

    @property
    def source(self) -> str:
        """The case of the same experiment whose run of the same seed it starts from; empty: none."""
        ...

    def trainer(self, seed: int, kept: Arrays | None = None) -> Trainer: ...


@typing.runtime_checkable
class Adopts(Protocol):
    """A setting whose form has changed since the first runs."""

    def adopt(self, stored: dict[str, Json]) -> dict[str, Json]:
        """What was stored of one, in today's form."""
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
        """The run's folder below OUT."""
        return f"{self.experiment}/{self.case}/seed-{self.seed}"

    def plain(self) -> dict[str, Json]:
        """The spec as JSON data."""
        setting = plain(self.setting)
        return {"experiment": self.experiment, "case": self.case, "seed": self.seed, "setting": setting}


def plain(value: object) -> Json:
    """Settings as JSON data."""
    if isinstance(value, Part):
        return describe(value)
    if has_fields(value):
        return {name: plain(getattr(value, name)) for name in field_names(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return describe(value)


def has_fields(value: object) -> bool:
    """Whether it is a dataclass or a NamedTuple."""
    return not isinstance(value, type) and (hasattr(value, "_fields") or dataclasses.is_dataclass(value))


def field_names(value: object) -> tuple[str, ...]:
    """The arguments of a dataclass or a NamedTuple; empty for anything else."""
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value) if field.init)
    names: tuple[str, ...] = getattr(value, "_fields", ())
    return names


class Difference(NamedTuple):
    """Where two specs in JSON differ.

    Args:
        words: what differs, there and here.
        form: whether one has a setting that the other does not know.
    """

    words: str
    form: bool = False


def differences(there: Json, here: Json, path: str = "") -> Iterator[Difference]:
    """Where a spec that was found differs from the expected one."""
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
