"""What an explorer asks of an agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adeu.core import check
from adeu.core.explorer import Explorer


def check_given(owner: Any, explorer: Explorer, offered: Iterable[str]) -> frozenset[str]:
    """What the explorer needs to act, all of which `owner` must offer; to learn, it gets transitions and no more.

    Examples:
        >>> import adeu
        >>> from adeu.adapters.asking import check_given
        >>> explorer = adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Bernoulli())
        >>> sorted(check_given("MyAdapter", explorer, ["q_values"]))
        ['q_values']
    """
    needed = explorer.needs("act")
    learning = (explorer.needs("observe") | explorer.needs("update")) - {"cost"}  # which transitions carry
    if learning:
        takes = "an f that learns from transitions alone"
        check.refuse(owner, "explorer", takes, f"one that asks for {sorted(learning)}")
    if needed - set(offered):
        check.refuse(owner, "explorer", f"an f that asks for no more than {', '.join(offered)}", sorted(needed))
    return needed
