"""Identifies the run in a folder: compares its spec.json with a spec, and records the code version."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.metadata
import json
import pathlib
import platform
import subprocess

from adeu.core.contract import Part
from adeu.core.json_data import Json, parse
from adeu.registry import describe_part
from adeu.runs.folder import RERUN, SPEC, Folder, digest, stored_spec, to_json
from adeu.runs.spec import Adopts, Spec, field_names, has_fields, plain

PACKAGES = ("adeu-rl", "numpy", "numba", "jax", "gymnasium")
RESUMED = "resumed"
"""The entry of spec.json that lists the code versions that resumed the run, if they differ."""


def to_data(value: object) -> Json:
    """Returns a setting, or a value in one, after a round trip through JSON."""
    return parse(json.dumps(plain(value)))


def spec_data(spec: Spec) -> dict[str, Json]:
    """Returns a spec after a round trip through JSON."""
    return spec.plain() | {"setting": to_data(spec.setting)}


def fill_in(stored: Json, value: object) -> Json:
    """Converts a stored setting to the current fields, with defaults for fields that were added since.

    Args:
        stored: a setting, or a value in one, as JSON data.
        value: the current setting or value to compare it with.
    """
    if isinstance(stored, list) and isinstance(value, tuple) and len(stored) == len(value):
        return [fill_in(one, other) for one, other in zip(stored, value, strict=True)]
    names = field_names(value) if has_fields(value) else ()
    if not isinstance(stored, dict) or not names:
        return stored
    if isinstance(value, Adopts):
        stored = value.adopt(stored)
    if isinstance(value, Part) and stored.get("part") != describe_part(value)["part"]:
        return stored
    filled = {name: to_data(default) for name, default in _defaults(value).items()} | stored
    return {name: fill_in(item, getattr(value, name)) if name in names else item for name, item in filled.items()}


def record(spec: Spec, out: pathlib.Path) -> None:
    """Writes spec.json; if it exists and another code version ran last, adds the current version."""
    stored = stored_spec(out / spec.name, out)
    if stored is None:
        new = spec.plain() | provenance()
    else:
        resumed = stored.get(RESUMED)
        later = resumed if isinstance(resumed, list) else []
        last = later[-1] if later else stored
        if isinstance(last, dict) and {name: last.get(name) for name in provenance()} == provenance():
            return
        new = stored | {RESUMED: [*later, provenance()]}
    Folder(out / spec.name, out).write(SPEC, to_json(new))


def stored_digest(spec: Spec, out: pathlib.Path) -> str:
    """Returns the digest of the spec in the run's folder."""
    stored = stored_spec(out / spec.name, out)
    if stored is None:
        raise ValueError(f"{out / spec.name / SPEC} is missing; {RERUN}")
    return digest(stored)


@functools.cache
def provenance() -> dict[str, Json]:
    """Returns the versions of Python and packages, and the git commit."""
    versions: dict[str, Json] = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    command = ["git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {"versions": versions, "commit": commit}


def _defaults(value: object) -> dict[str, object]:
    """Returns the defaults of the fields of a dataclass or a NamedTuple."""
    if not dataclasses.is_dataclass(value):
        defaults: dict[str, object] = getattr(value, "_field_defaults", {})
        return defaults
    fields = [field for field in dataclasses.fields(value) if field.init]
    found = {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}
    made = {each.name: each.default_factory() for each in fields if each.default_factory is not dataclasses.MISSING}
    return found | made
