"""Runs the parts of an explorer that are computed outside of JAX (`from_host`) in a Gymnasium loop."""

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
    """Returns all `from_host` parts of the agent's explorer."""
    return hosts_of(agent.explorer.parts.values())


def unsaved_hosts(agent: AnyAgent) -> list[FromHost]:
    """Returns the `from_host` parts that learn but cannot save their state."""
    return [host for host in agent_hosts(agent) if host.learn is not None and host.state is None]


class Hosting:
    """Computes `from_host` parts before each decision, and trains them on the minibatches of the networks.

    Args:
        agent: bound to the environment's spaces.
        reader: a `Reader` for these spaces.
    """

    def __init__(self, agent: AnyAgent, reader: Reader) -> None:
        self._agent, self._reader, self._hosts = agent, reader, agent_hosts(agent)
        self.nothing = dict.fromkeys((host.name for host in self._hosts), 0.0)
        """Placeholders for the hosts' values in greedy episodes, which do not use them."""
        self.learners = [host.learn for host in self._hosts if host.learn is not None]

    def compute(self, obs: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Returns each host's uncertainty of an observation, for `decide`."""
        return {host.name: self._compute(host, self._reader.outside(obs[None])) for host in self._hosts}

    def _compute(self, host: FromHost, obs: NDArray[Any]) -> NDArray[Any]:
        name = f"the output of {host.name}"
        values = arrays.read(name, host.compute(obs), (), self._reader.dtype, 1)
        arrays.check_uncertainty(name, host, values, obs)
        return np.asarray(values[0])

    def learn(self, batches: tuple[NDArray[Any], ...]) -> None:
        """Trains the hosts on stacked minibatches of the agent's rows, as transitions of the environment."""
        reader = self._reader
        for fields in zip(*batches, strict=True):
            seen = self._agent.seen(type(batches)(*fields))
            obs, next_obs = reader.outside(seen.obs), reader.outside(seen.next_obs)
            for learn in self.learners:
                learn(seen._replace(obs=obs, action=reader.action(seen.action), next_obs=next_obs))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Returns the state of the hosts."""
        return pack_hosts(host_states(self._hosts))

    def restore(self, saved: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores a state returned by `arrays`."""
        own = {name: array for name, array in saved.items() if name.startswith(HOST)}
        restore_hosts("the checkpoint", self._hosts, unpack_hosts(own, [h.name for h in self._hosts if h.state]))
