"""f as an intrinsic reward: Gymnasium wrappers that pay for reaching uncertain states."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper

from adeu.behavior.payer import Payer, PayerSettings
from adeu.core import check
from adeu.core.contract import Mechanism, State, Transition

INFO = "adeu/bonus"
"""The key of the bonus in `info`."""


class _Paying(RecordConstructorArgs):
    """What both wrappers share. They keep their arguments, so that Gymnasium can recreate them from their `spec`."""

    payer: Payer

    @property
    def f(self) -> Mechanism:
        """The f, bound to the spaces."""
        return self.payer.f

    @property
    def state(self) -> State:
        """What f has learned."""
        return self.payer.state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what f has learned, the last steps and the deviation, without pickle."""
        self.payer.save(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Resumes from a file that a bonus of an equal f saved, with as many environments. Reset them afterwards."""
        self.payer.load(path)


class Bonus(gymnasium.Wrapper[Any, Any, Any, Any], _Paying):
    """Adds an intrinsic reward to an environment's own: how uncertain f is in the state that a step led to.

        r' = r + scale * f(s') / deviation

    f measures s' with what it knew before the step, then learns it: counts from every step, networks from the last
    `batch` steps, every `every` steps. The state in which an episode ends is measured and learned like any other.
    The deviation is the running standard deviation of the discounted sum of f, as in RND; a scale then has about the
    same effect for every f. `info["adeu/bonus"]` is the amount added.

    A vector of environments shares one f: `Bonus(vector, f)` returns a `VectorBonus`, in any autoreset mode. f sees
    observations, and a cost where `info` has one. An f that needs an agent (`EnsembleStd`, `TdError`) is rejected,
    and so is one that remembers earlier steps of an episode. `Rollouts(f)` pays as f does.

    Args:
        env: a Gymnasium environment or a vector of them.
        f: a `Mechanism`.
        scale: the reward for one deviation of f, >= 0.
        normalize: whether f is divided by the deviation; False pays scale * f(s').
        gamma: the discount of the sum whose deviation is taken.
        every: the number of steps between two updates of f; in a vector, the steps of all environments count.
        batch: how many of the last steps an update learns from; the first update waits for as many.
        seed: of f's random numbers.
        encoder: from a batch of observations to one vector, or one state index, for each; see `Behavior`.

    Examples:
        >>> import adeu, gymnasium
        >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
        >>> env = adeu.Bonus(lake, adeu.Counts(beta=1.0), scale=0.5, normalize=False)
        >>> obs, info = env.reset(seed=0)
        >>> [round(env.step(action)[1], 3) for action in (2, 0, 2)]  # the third leads to the same state as the first
        [0.5, 0.5, 0.354]

    Reference: Burda et al., "Exploration by Random Network Distillation", 2019.
    """

    def __new__(cls, env: Any = None, *arguments: Any, **settings: Any) -> Any:
        """A vector of environments gets a `VectorBonus`."""
        return VectorBonus(env, *arguments, **settings) if isinstance(env, VectorEnv) else super().__new__(cls)

    def __init__(
        self,
        env: Any,
        f: Mechanism,
        scale: float = 1.0,
        *,
        normalize: bool = True,
        gamma: float = 0.99,
        every: int = 16,
        batch: int = 256,
        seed: int = 0,
        encoder: Callable[[Any], Any] | None = None,
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            check.refuse("Bonus", "env", "a Gymnasium environment or a gymnasium.vector.VectorEnv", env)
        settings = PayerSettings(
            normalize=normalize, gamma=gamma, every=every, batch=batch, seed=seed, encoder=encoder
        )
        RecordConstructorArgs.__init__(self, f=f, scale=scale, **settings)
        gymnasium.Wrapper.__init__(self, env)
        self.payer = Payer(env, f, scale, **settings)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.payer.begin()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        bonus, _ = self.payer.pay(Transition(obs, action, reward, obs, terminated, truncated), info)
        paid = float(bonus[0])
        return obs, float(reward) + paid, terminated, truncated, info | {INFO: paid}


class VectorBonus(VectorWrapper[Any, Any, Any, Any, Any], _Paying):
    """`Bonus` for a vector of environments, with one f for all; see there.

    The step in which an environment only resets (autoreset NEXT_STEP) is neither paid nor learned from. Under
    SAME_STEP the last observation of an episode is the one in `info["final_obs"]`. `info["adeu/bonus"]` has a number
    for each environment, `info["_adeu/bonus"]` which of them were paid.
    """

    def __init__(
        self, env: VectorEnv[Any, Any, Any], f: Mechanism, scale: float = 1.0, **settings: Unpack[PayerSettings]
    ) -> None:
        RecordConstructorArgs.__init__(self, f=f, scale=scale, **settings)
        VectorWrapper.__init__(self, env)
        self.payer = Payer(env, f, scale, **settings)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.payer.begin((options or {}).get("reset_mask"))
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        obs, rewards, terminated, truncated, info = self.env.step(actions)
        bonus, paid = self.payer.pay(Transition(obs, actions, rewards, obs, terminated, truncated), info)
        return obs, np.asarray(rewards) + bonus, terminated, truncated, info | {INFO: bonus, f"_{INFO}": paid}
