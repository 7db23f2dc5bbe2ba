"""The callback of `adeu.adapters.sb3` for SBX (Stable-Baselines3 in JAX)."""

from __future__ import annotations

from typing import Any

from adeu.adapters.sb3 import ExplorerCallback
from adeu.adapters.versions import require

require("sbx-rl")

__all__ = ["ExplorerCallback", "models"]


def models() -> tuple[type[Any], ...]:
    """Returns the supported algorithms."""
    from sbx import DDPG, DQN, SAC, TD3

    return DDPG, DQN, SAC, TD3
