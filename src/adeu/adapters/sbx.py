"""SBX, Stable-Baselines3 in JAX: the same callback; Q-values come from the policy's `qf_state`."""

from __future__ import annotations

from typing import Any

from adeu.adapters.sb3 import ExplorerCallback
from adeu.adapters.versions import require

require("sbx-rl")

__all__ = ["ExplorerCallback", "models"]


def models() -> tuple[type[Any], ...]:
    """The algorithms it explores for."""
    from sbx import DDPG, DQN, SAC, TD3

    return DDPG, DQN, SAC, TD3
