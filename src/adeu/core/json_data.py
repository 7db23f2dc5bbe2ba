"""The type of JSON data, as `json.loads` returns it."""

from __future__ import annotations

import json

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def parse(text: str | bytes) -> Json:
    """Parse JSON text; raise ValueError if it is invalid."""
    data: Json = json.loads(text)
    return data
