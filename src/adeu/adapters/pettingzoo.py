"""Explorers for PettingZoo's parallel environments: one per agent, or one shared by all."""

from __future__ import annotations

import os
import pathlib
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adeu.adapters.asking import check_learning
from adeu.adapters.versions import require
from adeu.behavior.behavior import Behavior
from adeu.behavior.tally import Tally
from adeu.core import check
from adeu.core.contract import Decision, Transition
from adeu.core.explorer import Explorer

require("pettingzoo")

from gymnasium import spaces  # noqa: E402

PerAgent = Mapping[Any, Any]


class ParallelBehavior:
    """`Behavior` for the agents of a PettingZoo parallel environment, by agent name.

    Each agent has a separate random stream, options and rollout coins. Absent agents are skipped. When an agent's
    episode ends, its next one begins.

    Args:
        explorer: one explorer for all agents, or a mapping from agents to explorers.
        env: a parallel environment, used only for its agents and spaces.
        seed: the seed of all random numbers.
        shared: whether all agents share the state of f; requires `possible_agents` with equal spaces.
        central: whether f sees the observations of all agents instead of the agent's own (the paper's central f_i).
            They are concatenated in the order of `possible_agents`, with zeros for absent agents, followed by a 1 or
            0 per agent: present or absent. Each agent still explores around its own center.
        encoder: see `Behavior`; cannot be combined with `central`.

    Examples:
        >>> import adeu, numpy as np
        >>> from pettingzoo.test.example_envs import generated_agents_parallel_v0
        >>> from adeu.adapters.pettingzoo import ParallelBehavior
        >>> env = generated_agents_parallel_v0.parallel_env()
        >>> observations, infos = env.reset(seed=0)
        >>> explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
        >>> behavior = ParallelBehavior(explorer, env)
        >>> centers = {agent: np.zeros(env.action_space(agent).n) for agent in env.agents}
        >>> decisions = behavior.act(observations, centers)
        >>> set(decisions) == set(env.agents)
        True
    """

    def __init__(
        self,
        explorer: Explorer | Mapping[Any, Explorer],
        env: Any,
        seed: int = 0,
        *,
        shared: bool = False,
        central: bool = False,
        encoder: Callable[[Any], Any] | None = None,
    ) -> None:
        self._agents = list(getattr(env, "possible_agents", None) or [])
        if (shared or central) and not self._agents:
            check.refuse(self, "env", "an environment with possible_agents, or shared=False and central=False", env)
        if shared and isinstance(explorer, Mapping):
            check.refuse(self, "explorer", "a single Explorer if shared=True", explorer)
        if central and encoder is not None:
            check.refuse(self, "encoder", "None if central=True", encoder)
        for each in explorer.values() if isinstance(explorer, Mapping) else (explorer,):
            check_learning(self, each)
        self._explorer, self._env, self._seed, self._encoder = explorer, env, seed, encoder
        self._joint = [env.observation_space(agent) for agent in self._agents] if central else None
        self._team = self._make_team() if shared else None
        self._own: dict[Any, Behavior] = {}
        self._tallies: dict[Any, Tally] = {}
        self._seen: dict[Any, Any] = {}

    def behavior(self, agent: Any) -> Behavior:
        """Returns the `Behavior` of an agent; a shared one has a row for each of `possible_agents`."""
        if self._team is not None:
            return self._team
        if agent not in self._own:
            explorer = self._explorer[agent] if isinstance(self._explorer, Mapping) else self._explorer
            number = self._agents.index(agent) if agent in self._agents else len(self._own)
            seed = int(np.random.SeedSequence([self._seed, number]).generate_state(1)[0])
            self._own[agent] = Behavior(explorer, self._interface(agent), seed, self._encoder)
        return self._own[agent]

    def act(self, observations: PerAgent, centers: PerAgent, **given: PerAgent) -> dict[Any, Decision]:
        """Returns a decision for each agent in `observations`.

        Args:
            observations: the observations that the environment returned.
            centers: pi(s) of each agent: a mean action, or one preference per action.
            given: for each agent, the inputs that mechanisms need, such as `q_values`, and `action_mask`.
        """
        self._seen = self._observations(observations)
        decisions = self._decide(centers, given)
        for agent, decision in decisions.items():
            if agent not in self._tallies:
                self._tallies[agent] = Tally(self.behavior(agent).explorer)
            self._tallies[agent].add(decision)
        return decisions

    def figures(self) -> dict[Any, dict[str, float]]:
        """Returns each agent's figures to log, of its decisions since the last call; empty if it made none."""
        return {agent: tally.scalars() for agent, tally in self._tallies.items()}

    def observe(
        self,
        actions: PerAgent,
        rewards: PerAgent,
        next_observations: PerAgent,
        terminations: PerAgent,
        truncations: PerAgent,
        infos: PerAgent | None = None,
    ) -> None:
        """Observes the step after `act`, as the environment returned it, and begins the next episodes of agents whose
        episode ended. Costs are read from `infos[agent]["cost"]`.
        """
        after = self._observations(next_observations)
        steps = {
            agent: Transition(
                self._seen[agent],
                action,
                rewards[agent],
                after[agent],
                terminations[agent],
                truncations[agent],
                (infos or {}).get(agent, {}).get("cost"),
            )
            for agent, action in actions.items()
        }
        if self._team is None:
            for agent, step in steps.items():
                self.behavior(agent).observe(step)
            return
        rows = [{agent: step[i] for agent, step in steps.items()} for i in range(len(Transition._fields))]
        costs = rows.pop()
        cost = self._rows(costs) if all(value is not None for value in costs.values()) else None
        self._team.observe(Transition(*map(self._rows, rows))._replace(cost=cost))

    def begin(self) -> None:
        """Begins an episode for all agents; needed only if the environment is reset before their episodes end."""
        for behavior in [self._team] if self._team is not None else self._own.values():
            behavior.begin()

    def update(self, agent: Any, batch: Any, **given: Any) -> None:
        """Trains f on a batch of an agent's transitions; with `central=True`, use observations from `joint`."""
        self.behavior(agent).update(batch, **given)

    def joint(self, observations: PerAgent) -> np.ndarray:
        """Returns the observation of a central f."""
        if self._joint is None:
            raise ValueError("ParallelBehavior: joint() needs central=True")
        parts = [
            spaces.flatten(space, observations[agent]) if agent in observations else np.zeros(spaces.flatdim(space))
            for agent, space in zip(self._agents, self._joint, strict=True)
        ]
        present = [agent in observations for agent in self._agents]
        return np.concatenate([*parts, present]).astype(np.float32)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a file per agent, or the shared one, into a folder."""
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for name, behavior in self._files():
            behavior.save(pathlib.Path(folder) / name)

    def load(self, folder: str | os.PathLike[str]) -> None:
        """Restores the state written by `save`, for each agent of this environment that has a file in the folder."""
        for agent in self._agents if self._team is None else []:
            self.behavior(agent)
        found = [(pathlib.Path(folder) / name, behavior) for name, behavior in self._files()]
        if not any(path.exists() for path, _ in found):
            raise FileNotFoundError(f"{folder} has no files written by ParallelBehavior.save")
        for path, behavior in found:
            if path.exists():
                behavior.load(path)

    def _decide(self, centers: PerAgent, given: Mapping[str, PerAgent]) -> dict[Any, Decision]:
        if self._team is None:
            return {
                agent: self.behavior(agent).act(
                    seen, centers[agent], **{name: values[agent] for name, values in given.items()}
                )
                for agent, seen in self._seen.items()
            }
        self._skip(self._seen)
        rows = {name: self._rows(values) for name, values in given.items()}
        whole = self._team.act(self._rows(self._seen), self._rows(centers), **rows)
        return {agent: Decision(*(part[self._agents.index(agent)] for part in whole)) for agent in self._seen}

    def _files(self) -> list[tuple[str, Behavior]]:
        if self._team is not None:
            return [("shared.npz", self._team)]
        return [(f"agent-{agent}.npz", behavior) for agent, behavior in self._own.items()]

    def _make_team(self) -> Behavior:
        first, *others = [self._interface(agent) for agent in self._agents]
        for agent, other in zip(self._agents[1:], others, strict=True):
            if other != first:
                check.refuse(self, "shared", "False if the agents' spaces differ", f"{agent!r}: {other}")
        first.num_envs = len(self._agents)
        return Behavior(self._explorer, first, self._seed, self._encoder)  # type: ignore[arg-type]

    def _interface(self, agent: Any) -> types.SimpleNamespace:
        observation_space = self._env.observation_space(agent)
        if self._joint is not None:
            size = sum(map(spaces.flatdim, self._joint)) + len(self._agents)
            observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        return types.SimpleNamespace(observation_space=observation_space, action_space=self._env.action_space(agent))

    def _observations(self, observations: PerAgent) -> dict[Any, Any]:
        if self._joint is None:
            return dict(observations)
        return dict.fromkeys(observations, self.joint(observations))

    def _skip(self, present: PerAgent) -> None:
        assert self._team is not None
        self._team.skip([agent not in present for agent in self._agents])

    def _rows(self, values: PerAgent) -> np.ndarray:
        """Returns a row for each agent; the rows of absent agents are placeholders."""
        filling = next(iter(values.values()))
        return np.stack([np.asarray(values.get(agent, filling)) for agent in self._agents])
