"""Gymnasium environments by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adeu.core.environments import SingleEnv

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.envs.registration import EnvSpec

ENDLESS = 1_000
"""The step limit of episodes in environments without a limit."""


def make_env(name: str) -> Env[Any, Any]:
    """Make a Gymnasium environment by its registered name, with a step limit; reject an unknown name."""
    import gymnasium

    try:
        env: Env[Any, Any] = gymnasium.make(name)
        if env.spec is not None and env.spec.max_episode_steps is None:
            env = gymnasium.make(name, max_episode_steps=ENDLESS)
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        raise ValueError(f"env takes a registered name, got {name!r}: {error}") from None
    return env


def name_of(env: Env[Any, Any]) -> str:
    return env.spec.id if env.spec else str(env)


def max_steps_of(env: Env[Any, Any]) -> int:
    """Return the step limit of episodes."""
    limit = env.spec.max_episode_steps if env.spec else None
    return ENDLESS if limit is None else limit


def goal_of(env: SingleEnv) -> float:
    """Return the reward threshold of an environment, or infinity if it has none."""
    spec: EnvSpec | None = getattr(env, "spec", None)
    threshold = spec.reward_threshold if spec else None
    return float("inf") if threshold is None else float(threshold)
