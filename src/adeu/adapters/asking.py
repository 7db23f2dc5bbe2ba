"""Checks which inputs an explorer needs from an adapter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adeu.agents.agent import providers
from adeu.behavior.behavior import Behavior
from adeu.core import check
from adeu.core.explorer import Explorer


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
    check_learning(owner, behavior.explorer)
    needed = behavior.needs("act")
    missing = needed - set(offered)
    if missing:
        takes = f"parts that need no more than {', '.join(offered) or 'nothing'} in act()"
        check.refuse(owner, "explorer", f"{takes} ({providers('act', missing)})", sorted(needed))
    return needed


def check_learning(owner: Any, explorer: Explorer) -> None:
    """Rejects an explorer that learns from more than transitions, which include the cost."""
    for hook in ("observe", "update"):
        missing = explorer.needs(hook) - {"cost"}
        if missing:
            takes = f"parts that learn only from transitions ({providers(hook, missing)})"
            check.refuse(owner, "explorer", takes, f"one that needs {sorted(missing)}")
