"""What `adeu run family-tuning` chose for each task and method, on seeds of its own."""

from __future__ import annotations

TUNED: dict[str, dict[str, float]] = {}
