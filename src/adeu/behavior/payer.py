"""f as a reward, with numpy inputs and outputs. f measures each state that is reached, then learns from it.

values = measure(next_obs)            with the state of f before the step
state  = observe(step)                every step, for counts
state  = update(last steps)           every `every` steps, for networks
bonus  = scale * values / deviation
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import jax
import numpy as np
from numpy.typing import NDArray

from adeu.behavior import arrays, storage
from adeu.behavior.deviation import Deviation
from adeu.behavior.hosts import host_states, hosts_of, restore_hosts
from adeu.behavior.interface import Interface
from adeu.behavior.measured import measured
from adeu.behavior.recent import Recent
from adeu.core import check
from adeu.core.contract import LearningPart, Mechanism, Transition
from adeu.registry import describe

AGENTS = ("center", "action_mask", "explored")
"""The names that an explorer always passes to f, which a bonus does not have."""


class PayerSettings(TypedDict, total=False):
    """See `Bonus`."""

    normalize: bool
    gamma: float
    every: int
    batch: int
    seed: int
    encoder: Callable[[Any], Any] | None


class Payer:
    """Computes the bonus in an environment or a vector of them; see `Bonus` for the arguments."""

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
        if not isinstance(f, Mechanism):
            check.refuse("Bonus", "f", "a Mechanism (a function becomes one by adeu.from_function or from_host)", f)
        if not isinstance(normalize, bool):
            check.refuse("Bonus", "normalize", "True or False", normalize)
        self.scale = check.as_number("Bonus", "scale", scale, at_least=0)
        self.gamma = check.as_number("Bonus", "gamma", gamma, at_least=0, at_most=1)
        self.every, self.batch = check.as_whole("Bonus", "every", every), check.as_whole("Bonus", "batch", batch)
        self.seed = np.uint32(check.as_whole("Bonus", "seed", seed, at_least=0, at_most=check.LARGEST_SEED))
        self.normalize = normalize
        self._interface = interface = Interface(env, encoder)
        _check_actions(interface.action_space)
        self._hosts = hosts_of([f])
        _check_alone(f, {host.name for host in self._hosts})
        self.f = f.bind(interface.observation_space if encoder is None else None, interface.action_space)
        self.state = measured(self.f).init(self.seed, interface.example)
        self.steps, self.updates, self._waited = 0, 0, 0
        self._idle = np.zeros(interface.num_envs, bool)
        self._deviation = Deviation.empty(interface.num_envs)
        self._costs = "cost" in self.f.needs("observe") | self.f.needs("update")
        self._recent = Recent.empty(interface.nothing(self._costs), self.batch if self._updates else 1)

    @property
    def _updates(self) -> bool:
        return "update" in self.f.learns_from

    def pay(self, step: Transition, info: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the bonus of each environment for a step to `step.next_obs`, and which environments get one."""
        came = self._interface.transition(step._replace(obs=step.next_obs), info)
        came = came._replace(obs=came.next_obs, cost=self._cost(came))
        encoded, fresh = self._interface.encode_transition(came), ~self._idle
        values = np.where(fresh, self._measure(came.obs, encoded.obs), 0.0)
        deviation = self._deviation.add(values, fresh, self.gamma)
        self._learn(came, encoded, fresh)
        ended = (came.terminated | came.truncated) & fresh
        self._idle = ended & self._interface.resets_next_step
        return self.scale * (values / deviation if self.normalize else values), fresh

    def begin(self, began: Any = None) -> None:
        """Record a manual reset of the environments for which `began` is true, by default of all."""
        self._idle = np.zeros_like(self._idle) if began is None else self._idle & ~np.asarray(began, bool)

    def save(self, path: str | os.PathLike[str]) -> None:
        storage.save(path, self._header(), self._tree(), host_states(self._hosts))

    def load(self, path: str | os.PathLike[str]) -> None:
        kept = [host.name for host in self._hosts if host.state is not None]
        tree, states = storage.load(path, self._header(), self._tree(), kept)
        restore_hosts(str(path), self._hosts, states)
        self.state, self._idle, self._deviation, self._recent, counters = tree
        self.steps, self.updates, self._waited = (int(counter) for counter in counters)

    def _measure(self, raw: Any, seen: Any) -> NDArray[np.float64]:
        count = len(self._idle)
        given = {
            host.name: arrays.read(
                f"the output of {host.name}", host.compute(raw), (), arrays.compute_dtype(float), count
            )
            for host in self._hosts
        }
        clock = np.int32(min(self.steps, 2**31 - 1))
        values = np.asarray(measured(self.f).measure(self.state, self.seed, clock, seen, given), float)
        if values.shape != (count,):
            raise ValueError(f"f must return one number; {self.f!r} returned shape {values.shape[1:]}")
        arrays.check_uncertainty("f", self.f, values, raw)
        return values

    def _learn(self, came: Transition, encoded: Transition, fresh: NDArray[np.bool_]) -> None:
        count, clock = int(fresh.sum()), np.int32(min(self.steps, 2**31 - 1))
        if "observe" in self.f.learns_from and count:
            order = np.resize(np.flatnonzero(fresh), len(fresh))
            self.state = measured(self.f).observe(self.state, order, count, clock, encoded)
        self.steps += count
        if not self._updates:
            return
        self._recent.add(came, fresh)
        self._waited += count
        if self._waited >= self.every and self._recent.full:
            rows = jax.tree.map(np.copy, self._recent.rows)
            self.state = measured(self.f).update(self.state, clock, self._interface.encode_transition(rows))
            for host in self._hosts:
                if host.learn is not None:
                    host.learn(rows)
            self._waited, self.updates = 0, self.updates + 1

    def _cost(self, came: Transition) -> Any:
        if self._costs and came.cost is None:
            raise ValueError(f"Bonus: info takes a 'cost', which {self.f!r} learns from")
        return came.cost if self._costs else None

    def _header(self) -> dict[str, Any]:
        interface = self._interface
        return {
            "format": "adeu.Bonus 1",
            "f": describe(self.f),
            "number of environments": interface.num_envs,
            "observation space": str(interface.observation_space),
            "action space": str(interface.action_space),
            "batch": self.batch,
            "gamma": self.gamma,
        }

    def _tree(self) -> tuple[Any, ...]:
        counters = np.array([self.steps, self.updates, self._waited])
        return self.state, self._idle, self._deviation, self._recent, counters


def _check_actions(space: Any) -> None:
    from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

    if not isinstance(space, Box | Discrete | MultiBinary | MultiDiscrete):
        check.refuse("Bonus", "env", "an action space that is Box, Discrete, MultiBinary or MultiDiscrete", space)


def _check_alone(f: Mechanism, computed: set[str]) -> None:
    """Reject an f that needs inputs that an environment does not have."""
    learning = f.needs("observe") | f.needs("update")
    missing = (f.needs("measure") - computed) | (learning - {"cost"}) | _decisions(f)
    if missing:
        names = ", ".join(sorted(missing))
        check.refuse("Bonus", "f", f"an f that needs no {names}, which an environment does not have", f)
    if f.remembers:
        check.refuse("Bonus", "f", "an f that carries nothing from step to step", f)


def _decisions(part: LearningPart) -> set[str]:
    """Return the names in `AGENTS` that a part requires."""
    parameters = inspect.signature(getattr(part, part.hooks[0])).parameters.values()
    own = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty}
    return own.intersection(AGENTS).union(*(_decisions(inner) for inner in part.parts))
