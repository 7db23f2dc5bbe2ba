"""Mechanisms that are computed outside of JAX (`from_host`), and their learned states."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adeu.behavior import storage
from adeu.core.contract import LearningPart
from adeu.mechanisms.custom import FromHost


def hosts_of(parts: Iterable[LearningPart]) -> list[FromHost]:
    """Return all `FromHost` mechanisms, at any depth in the parts; reject duplicate names."""

    def find(part: LearningPart) -> list[FromHost]:
        return [part] if isinstance(part, FromHost) else [host for inner in part.parts for host in find(inner)]

    hosts = [host for part in parts for host in find(part)]
    names = [host.name for host in hosts]
    if len(set(names)) < len(names):
        raise ValueError(f"each from_host takes a different name, got {names}")
    return hosts


def host_states(hosts: Sequence[FromHost], stacklevel: int = 3) -> dict[str, Any]:
    """Return the states to save, by name; warn of a host that learns but has no `state`."""
    for host in hosts:
        if host.learn is not None and host.state is None:
            warnings.warn(
                f"The learned state of {host!r} is not saved, and load() will not restore it: pass from_host(..., "
                "state=..., set_state=...), or as state an object with state_dict and load_state_dict, such as a "
                "torch module.",
                stacklevel=stacklevel,
            )
    return {host.name: host.state() for host in hosts if host.state is not None}


def restore_hosts(source: str, hosts: Sequence[FromHost], states: Mapping[str, Any]) -> None:
    """Restore the saved states of all hosts; if a host rejects its state, restore none."""
    kept = [host for host in hosts if host.name in states]
    # state() may return views of the object's memory, so copies are kept for a rollback.
    before = storage.unpack_hosts(
        {entry: array.copy() for entry, array in storage.pack_hosts(host_states(kept)).items()}, list(states)
    )
    try:
        for host in kept:
            _set(host, states[host.name])
    except Exception as error:
        for each in kept:
            _set(each, before[each.name])
        raise ValueError(f"{source}: {host.name} rejects the saved state ({error})") from error


def _set(host: FromHost, state: Any) -> None:
    assert host.set_state is not None
    host.set_state(state)
