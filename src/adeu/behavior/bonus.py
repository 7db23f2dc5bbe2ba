"""f as an intrinsic reward: Gymnasium wrappers that reward reaching uncertain states."""

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
    """The base class of both wrappers. It records their arguments: Gymnasium can recreate them from `spec`."""

    payer: Payer

    @property
    def f(self) -> Mechanism:
        """The f, bound to the spaces."""
        return self.payer.f

    @property
    def state(self) -> State:
        """The learned state of f."""
        return self.payer.state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the learned state of f, the last steps and the deviation to a file, without pickle."""
        self.payer.save(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Resume from a file saved with an equal f and the same number of environments. Reset them afterwards."""
        self.payer.load(path)


class Bonus(gymnasium.Wrapper[Any, Any, Any, Any], _Paying):
    """Adds an intrinsic reward to that of an environment: the uncertainty f in the next state.

        r' = r + scale * f(s') / deviation

    f measures s' before it learns from the step: counts learn from every step, networks from the last `batch` steps,
    every `every` steps. The final state of an episode is treated like any other. The deviation is the running
    standard deviation of the discounted sum of f, as in RND, so that a scale has about the same effect for every f.
    `info["adeu/bonus"]` is the added amount.

    A vector of environments shares one f: `Bonus(vector, f)` returns a `VectorBonus`, in any autoreset mode. f sees
    observations, and a cost where `info` has one. An f that needs an agent (`EnsembleStd`, `TdError`) is rejected,
    and so is one that depends on earlier steps of an episode. `Rollouts(f)` gives the same bonus as f.

    Args:
        env: a Gymnasium environment or a vector of them.
        f: a `Mechanism`.
        scale: the factor of the bonus, >= 0.
        normalize: whether f is divided by the deviation; otherwise the bonus is scale * f(s').
        gamma: the discount of the sum of f.
        every: the number of steps between two updates of f; in a vector, the steps of all environments count.
        batch: the number of last steps that an update learns from; the first update is after as many steps.
        seed: the seed of f.
        encoder: maps a batch of observations to one vector or state index each; see `Behavior`.

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
        """Return a `VectorBonus` for a vector of environments."""
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
    """`Bonus` for a vector of environments that share one f.

    A step in which an environment only resets (autoreset NEXT_STEP) gives no bonus and is not learned from. Under
    SAME_STEP the final observation of an episode is `info["final_obs"]`. `info["adeu/bonus"]` has the bonus of each
    environment, `info["_adeu/bonus"]` whether it got one.
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
