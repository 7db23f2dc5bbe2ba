"""Agents from settings, which repeat those of an agent's arguments that an experiment may want to change."""

from __future__ import annotations

import dataclasses
from typing import Any

import adeu


def agent_of(kind: Any, setting: Any, **others: Any) -> Any:
    """The agent that explores by the setting's f, g and D, with all that both call by one name, and `others`."""
    names = {field.name for field in dataclasses.fields(kind)} & {field.name for field in dataclasses.fields(setting)}
    explorer = adeu.Explorer(setting.f, setting.g, setting.D)
    return kind(explorer, **{name: getattr(setting, name) for name in names} | others)
