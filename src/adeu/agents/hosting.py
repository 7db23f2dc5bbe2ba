"""The parts of an agent's explorer that are computed outside of JAX (`from_host`), in a loop in Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adeu.agents.agent import AnyAgent
from adeu.agents.reading import Reader
from adeu.behavior import arrays
from adeu.behavior.hosts import host_states, hosts_of, restore_hosts
from adeu.behavior.storage import HOST, pack_hosts, unpack_hosts
from adeu.mechanisms.custom import FromHost


def agent_hosts(agent: AnyAgent) -> list[FromHost]:
    """All of them."""
    return hosts_of(agent.explorer.parts.values())


def unsaved_hosts(agent: AnyAgent) -> list[FromHost]:
    """Those that learn what they cannot save."""
    return [host for host in agent_hosts(agent) if host.learn is not None and host.state is None]


class Hosting:
    """Computes them before each decision, and lets them learn from the minibatches that the networks learn from.

    Args:
        agent: bound to the environment's spaces.
        reader: of these spaces.
    """

    def __init__(self, agent: AnyAgent, reader: Reader) -> None:
        self._agent, self._reader, self._hosts = agent, reader, agent_hosts(agent)
        self.nothing = dict.fromkeys((host.name for host in self._hosts), 0.0)
        """Placeholders for the hosts' values in greedy episodes, which do not use them."""
        self.learners = [host.learn for host in self._hosts if host.learn is not None]

    def compute(self, obs: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The uncertainty of an observation by each of them, for `decide`."""
        return {host.name: self._compute(host, self._reader.outside(obs[None])) for host in self._hosts}

    def _compute(self, host: FromHost, obs: NDArray[Any]) -> NDArray[Any]:
        name = f"the output of {host.name}"
        values = arrays.read(name, host.compute(obs), (), self._reader.dtype, 1)
        arrays.check_uncertainty(name, host, values, obs)
        return np.asarray(values[0])

    def learn(self, batches: tuple[NDArray[Any], ...]) -> None:
        """Passes on minibatches of the agent's rows, stacked in front, as transitions of the environment."""
        reader = self._reader
        for fields in zip(*batches, strict=True):
            seen = self._agent.seen(type(batches)(*fields))
            obs, next_obs = reader.outside(seen.obs), reader.outside(seen.next_obs)
            for learn in self.learners:
                learn(seen._replace(obs=obs, action=reader.action(seen.action), next_obs=next_obs))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What they have learned."""
        return pack_hosts(host_states(self._hosts))

    def restore(self, saved: Mapping[str, NDArray[np.generic]]) -> None:
        """Continues from what `arrays` returned."""
        own = {name: array for name, array in saved.items() if name.startswith(HOST)}
        restore_hosts("the checkpoint", self._hosts, unpack_hosts(own, [h.name for h in self._hosts if h.state]))
