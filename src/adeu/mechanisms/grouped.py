"""The base class of mechanisms that measure f on groups of observations."""

from __future__ import annotations

from typing import Any

from adeu.core.contract import Array, Carry, Key, Mechanism, State, Transition


class _Grouped(Mechanism):
    """Measures f on the group of an observation. A subclass has this field, and defines `_group`."""

    f: Mechanism

    @property
    def learns_from(self) -> frozenset[str]:
        return self.f.learns_from

    def init(self, key: Key, obs: Any) -> State:
        return super().init(key, self._group(obs))

    def measure(self, key: Key, state: State, carry: Carry, obs: Any, **given: Any) -> tuple[Array, Carry]:
        (uncertainty,), carry = self.measure_parts(key, state, carry, self._group(obs), **given)
        return uncertainty, carry

    def observe(self, state: State, transition: Transition, **given: Any) -> State:
        return super().observe(state, self._grouped(transition), **given)

    def update(self, state: State, batch: Transition, **given: Any) -> State:
        return super().update(state, self._grouped(batch), **given)

    def _grouped(self, transition: Transition) -> Transition:
        return transition._replace(obs=self._group(transition.obs), next_obs=self._group(transition.next_obs))

    def _group(self, obs: Any) -> Array:
        """Return the number of the group, for one observation or for each along leading axes."""
        raise NotImplementedError
