"""TD3 in a Gymnasium environment, as data."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adeu
from adeu.agents.host import HostLoop, Saturation
from adeu.core import check
from adeu.core.contract import Distribution, Mechanism, Normalizer
from adeu.experiments.experiment import read
from adeu.experiments.from_setting import agent_of
from adeu.experiments.gymnasium_settings import goal_of, make_env
from adeu.runs.folder import SPEC, read_json
from adeu.runs.host import HostTrainer
from adeu.runs.statistics import Curves
from adeu.runs.trainer import Arrays

WINDOW = 1_000
"""Steps within which a control's spreads are shuffled."""
SATURATED = 0.95


@dataclasses.dataclass(frozen=True)
class Td3Setting:
    """TD3 in a Gymnasium environment with a bounded Box of actions.

    Args:
        env: its registered name.
        f: the uncertainty.
        g: the normaliser.
        D: the distribution.
        steps: how many to train.
        evaluate_every: steps between two evaluations.
        evaluate_episodes: greedy episodes in one.
        source: the case whose run of the same seed this one is a control of; f is then `Recorded`.
        control: of the source's spreads after the warmup, "mean": each step has their mean; "shuffled": each has
            another's, from the same 1,000 steps.
        traced: the episodes to write down step by step, counted from 1.
        overlap: see `adeu.agents.Td3Agent`.

    The others are those of `adeu.agents.Td3`.
    """

    env: str
    f: Mechanism
    g: Normalizer
    D: Distribution
    steps: int = 100_000
    evaluate_every: int = 5_000
    evaluate_episodes: int = 10
    learning_rate: float = 3e-4
    capacity: int = 1_000_000
    warmup: int = 25_000
    hidden: tuple[int, ...] = (256, 256)
    batch: int = 256
    gamma: float = 0.99
    tau: float = 0.005
    policy_noise: float = 0.2
    noise_clip: float = 0.5
    policy_delay: int = 2
    critics: int = 2
    acting: str = "policy"
    ucb: float = 10.0
    candidates: int = 32
    candidate_spread: float = 0.2
    bonus: Mechanism | None = None
    gated: bool = False
    weighted: bool = False
    source: str = ""
    control: str = "mean"
    traced: tuple[int, ...] = ()
    overlap: bool = False

    def __post_init__(self) -> None:
        check.one_of(self, "control", ("mean", "shuffled"))

    def trainer(self, seed: int, kept: Arrays | None = None) -> HostTrainer:
        from adeu.agents.td3 import bound

        if self.warmup >= self.steps:
            warnings.warn(
                f"nothing will be learned: all of the {self.steps:,} steps belong to the warmup of {self.warmup:,}; "
                "--set warmup=... shortens it",
                stacklevel=2,
            )
        env = make_env(self.env)
        bound(self._agent(), env.observation_space, env.action_space)
        self._loop(None, env, seed)  # refuses what does not fit, before a worker starts
        recorded = None if kept is None else controlled(self, seed, np.asarray(kept["spread"], np.float32))
        return HostTrainer(functools.partial(self._build, seed, recorded), self.steps, goal_of(env))

    def _agent(self) -> Any:
        from adeu.agents import Td3

        return agent_of(Td3, self, evaluate_every=self.policy_delay)  # HostLoop evaluates

    def _build(self, seed: int, recorded: NDArray[np.float32] | None) -> HostLoop:
        from adeu.agents import Td3Agent

        env = make_env(self.env)
        offered = {} if recorded is None else {"recorded": recorded}
        return self._loop(Td3Agent(self._agent(), env, seed, offered, self.overlap), env, seed)

    def _loop(self, agent: Any, env: Any, seed: int) -> HostLoop:
        ceiling = float("inf") if self.g.ceiling is None else self.g.ceiling
        return HostLoop(
            agent,
            env,
            make_env(self.env),
            steps=self.steps,
            seed=seed,
            evaluate_every=self.evaluate_every,
            evaluate_episodes=self.evaluate_episodes,
            traced=self.traced,
            saturation=Saturation(ceiling, self.f.c if isinstance(self.f, adeu.Rollouts) else -1.0),
            recorded=not self.source,
        )


def controlled(setting: Td3Setting, seed: int, spreads: NDArray[np.float32]) -> NDArray[np.float32]:
    """The spread of each step of a control, from those of the run it is a control of."""
    if len(spreads) != setting.steps:
        check.refuse("a control", "its source", f"a run of {setting.steps:,} steps", f"{len(spreads):,}")
    after = spreads[setting.warmup :]
    if setting.control == "mean":
        return np.full_like(spreads, after.mean(dtype=np.float64) if after.size else 0.0)
    rng, shuffled = np.random.default_rng(seed), spreads.copy()
    for first in range(setting.warmup, len(spreads), WINDOW):
        shuffled[first : first + WINDOW] = rng.permutation(shuffled[first : first + WINDOW])
    return shuffled


def read_run(folder: pathlib.Path) -> dict[str, Any]:
    """A run's metrics, and which of its rows lie after the warmup."""
    columns, spec = read(folder), read_json(folder / SPEC)
    return columns | {"trained": columns["step"] > spec["setting"]["warmup"]}


def after_warmup(curves: Curves, name: str) -> NDArray[np.float64]:
    """Each seed's mean of a column after the warmup; NaN: nothing came after it."""
    later = curves["trained"] > 0
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(later, curves[name], 0.0).sum(axis=1) / later.sum(axis=1))


def warn_saturated(curves: Mapping[str, Curves]) -> None:
    """Warns of each case in which g hardly ever gave anything but its largest spread."""
    for case, curve in curves.items():
        share = after_warmup(curve, "saturated").mean()
        if share > SATURATED:
            warnings.warn(
                f"{case}: after the warmup, g gave its largest spread in {share:.0%} of the steps outside rollout "
                "episodes, so f hardly decided; a smaller U, Rnd(adapt=...) or Calibrated(f) would let it",
                stacklevel=2,
            )
