"""Which run a folder holds: comparing its spec.json with a spec, and noting which code ran it."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.metadata
import json
import pathlib
import platform
import subprocess
from typing import Any

from adeu.core.contract import Part
from adeu.registry import describe
from adeu.runs.folder import SPEC, Folder, digest, read_json, to_json
from adeu.runs.spec import Spec, plain

PACKAGES = ("adeu-rl", "numpy", "numba", "jax", "gymnasium")
RESUMED = "resumed"
"""The entry of spec.json that lists the code of later calls, where it was another."""


def to_data(value: Any) -> Any:
    """A spec or a setting as it comes back from a JSON file."""
    return json.loads(json.dumps(value.plain() if isinstance(value, Spec) else plain(value)))


def fill_in(stored: Any, value: Any) -> Any:
    """A stored setting with the defaults of the fields it lacks, which were added since it was stored.

    Args:
        stored: a setting, or a part of one, as JSON data.
        value: the one it is to be compared with.
    """
    if isinstance(stored, list) and isinstance(value, tuple) and len(stored) == len(value):
        return [fill_in(one, other) for one, other in zip(stored, value, strict=True)]
    names = _field_names(value)
    if not isinstance(stored, dict) or not names:
        return stored
    if isinstance(value, Part) and stored.get("part") != describe(value)["part"]:
        return stored
    filled = {name: to_data(default) for name, default in _defaults(value).items()} | stored
    return {name: fill_in(item, getattr(value, name)) if name in names else item for name, item in filled.items()}


def record(spec: Spec, out: pathlib.Path) -> None:
    """Writes spec.json, or adds this code to the one of a run that other code began."""
    stored = read_json(out / spec.name / SPEC, out)
    if stored is None:
        new = spec.plain() | provenance()
    else:
        last = (stored.get(RESUMED) or [stored])[-1]
        if {name: last.get(name) for name in provenance()} == provenance():
            return
        new = stored | {RESUMED: [*stored.get(RESUMED, ()), provenance()]}
    Folder(out / spec.name, out).write(SPEC, to_json(new))


def stored_digest(spec: Spec, out: pathlib.Path) -> str:
    """Of the spec as the run's folder holds it."""
    return digest(read_json(out / spec.name / SPEC, out))


@functools.cache
def provenance() -> dict[str, Any]:
    """Which code runs here."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    command = ["git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {"versions": versions, "commit": commit}


def _field_names(value: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in dataclasses.fields(value) if field.init)
    return getattr(value, "_fields", ())


def _defaults(value: Any) -> dict[str, Any]:
    """The defaults of the fields of a dataclass or a NamedTuple."""
    if not dataclasses.is_dataclass(value):
        return dict(value._field_defaults)
    fields = [field for field in dataclasses.fields(value) if field.init]
    found = {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}
    made = {each.name: each.default_factory() for each in fields if each.default_factory is not dataclasses.MISSING}
    return found | made
