"""Checks which inputs an explorer needs from an adapter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adeu.behavior.behavior import Behavior
from adeu.core import check


def check_given(owner: Any, behavior: Behavior, offered: Iterable[str]) -> frozenset[str]:
    """Returns the names that the behavior needs to act; rejects names that are not `offered`.

    Also rejects a behavior that needs more than transitions to learn.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.adapters.asking import check_given
        >>> explorer = adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Bernoulli())
        >>> behavior = adeu.Behavior(explorer, gymnasium.make("CartPole-v1"))
        >>> sorted(check_given("MyAdapter", behavior, ["q_values"]))
        ['q_values']
    """
    needed = behavior.needs("act")
    learning = (behavior.needs("observe") | behavior.needs("update")) - {"cost"}  # transitions contain the cost
    if learning:
        takes = "an f that learns only from transitions"
        check.refuse(owner, "explorer", takes, f"one that needs {sorted(learning)}")
    if needed - set(offered):
        check.refuse(owner, "explorer", f"an f that needs no more than {', '.join(offered)}", sorted(needed))
    return needed
