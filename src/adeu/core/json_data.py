"""JSON data: what `json.loads` returns."""

from __future__ import annotations

import json

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def parse(text: str | bytes) -> Json:
    """Parses a JSON text; raises ValueError if it is invalid."""
    data: Json = json.loads(text)
    return data
