"""What a case is made of, in words: its f, g and D in full, and every setting that is not the default."""

from __future__ import annotations

import dataclasses

from adeu.core.contract import Part
from adeu.runs.spec import Setting, has_fields


def composition(setting: Setting) -> dict[str, str]:
    """Each part by its role, with all its fields; then the agent and the setting, without fields at their default."""
    agent = getattr(setting, "agent", None)
    explorer = getattr(agent, "explorer", None)
    if agent is None or explorer is None:
        return {"setting": changed(setting)}
    roles = ("f", "g", "D", "guard")
    parts = {role: repr(part) for role in roles if (part := getattr(explorer, role)) is not None}
    return parts | {"agent": changed(agent, "explorer"), "setting": changed(setting, "agent")}


def changed(value: object, *left_out: str) -> str:
    """A dataclass as its constructor would be called."""
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


def named(value: object) -> str:
    """A part's name, and the fields that are not its defaults.

    Examples:
        >>> import adeu
        >>> named(adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2)), named(adeu.Sigmoid())
        ('Rollouts(f=Rnd,rho=0.3,c=0.2)', 'Sigmoid')
    """
    if not isinstance(value, Part):
        return str(value)
    fields = {field.name: (getattr(value, field.name), field.default) for field in dataclasses.fields(value)}
    words = [f"{name}={named(item)}" for name, (item, default) in fields.items() if item != default]
    return type(value).__name__ + (f"({','.join(words)})" if words else "")
