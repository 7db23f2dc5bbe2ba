"""What a mechanism asks of an agent."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from adeu.core import check
from adeu.core.contract import RESERVED, Mechanism


def asks_for(mechanism: Mechanism, *, learning: bool = False) -> frozenset[str]:
    """The names, besides those always given, that f or a mechanism it is made of asks for: to measure, or to learn.

    Examples:
        >>> import adeu
        >>> from adeu.adapters.asking import asks_for
        >>> sorted(asks_for(adeu.Rollouts(adeu.EnsembleStd(), rho=0.1, c=0.2)))
        ['q_values']
    """
    hooks = sorted(mechanism.learns_from) if learning else ["measure"]
    parameters = [each for hook in hooks for each in inspect.signature(getattr(mechanism, hook)).parameters.values()]
    own = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY} - set(RESERVED)
    return frozenset(own.union(*(asks_for(part, learning=learning) for part in mechanism.parts)))


def check_given(owner: Any, mechanism: Mechanism, offered: Iterable[str]) -> frozenset[str]:
    """What the mechanism asks for when it measures, all of which `owner` must offer; to learn, it gets no more."""
    asked = asks_for(mechanism)
    if wanted := asks_for(mechanism, learning=True):
        check.refuse(
            owner, "explorer", "an f that learns from transitions alone", f"one that asks for {sorted(wanted)}"
        )
    if asked - set(offered):
        check.refuse(owner, "explorer", f"an f that asks for no more than {', '.join(offered)}", sorted(asked))
    return asked
