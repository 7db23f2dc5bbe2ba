"""The parts whose numbers are computed outside of what is compiled."""

from __future__ import annotations

from collections.abc import Iterable

from adeu.core.contract import LearningPart
from adeu.mechanisms.custom import FromHost


def hosts_of(parts: Iterable[LearningPart]) -> list[FromHost]:
    """Every `from_host` in these parts, each with a name of its own."""

    def find(part: LearningPart) -> list[FromHost]:
        return [part] if isinstance(part, FromHost) else [host for inner in part.parts for host in find(inner)]

    hosts = [host for part in parts for host in find(part)]
    names = [host.name for host in hosts]
    if len(set(names)) < len(names):
        raise ValueError(f"each from_host takes a name of its own, got {names}")
    return hosts
