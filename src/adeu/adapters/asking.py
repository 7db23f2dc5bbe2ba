"""What an explorer asks of an agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adeu.behavior.behavior import Behavior
from adeu.core import check


def check_given(owner: Any, behavior: Behavior, offered: Iterable[str]) -> frozenset[str]:
    """The names that the behavior needs to act, which `owner` must offer; it learns from transitions only.

    Examples:
        >>> import adeu, gymnasium
        >>> from adeu.adapters.asking import check_given
        >>> explorer = adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Bernoulli())
        >>> behavior = adeu.Behavior(explorer, gymnasium.make("CartPole-v1"))
        >>> sorted(check_given("MyAdapter", behavior, ["q_values"]))
        ['q_values']
    """
    needed = behavior.needs("act")
    learning = (behavior.needs("observe") | behavior.needs("update")) - {"cost"}  # which transitions carry
    if learning:
        takes = "an f that learns from transitions alone"
        check.refuse(owner, "explorer", takes, f"one that asks for {sorted(learning)}")
    if needed - set(offered):
        check.refuse(owner, "explorer", f"an f that asks for no more than {', '.join(offered)}", sorted(needed))
    return needed
