"""What a mechanism asks of an agent."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from adeu.core import check
from adeu.core.contract import RESERVED, Mechanism


def asks_for(mechanism: Mechanism) -> frozenset[str]:
    """The names, besides those always given, that `measure` asks for in f or in a mechanism it is made of.

    Examples:
        >>> import adeu
        >>> from adeu.adapters.asking import asks_for
        >>> sorted(asks_for(adeu.Rollouts(adeu.EnsembleStd(), rho=0.1, c=0.2)))
        ['q_values']
    """
    parameters = inspect.signature(mechanism.measure).parameters.values()
    own = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY} - set(RESERVED)
    return frozenset(own.union(*(asks_for(part) for part in mechanism.parts)))


def check_given(owner: Any, mechanism: Mechanism, offered: Iterable[str]) -> frozenset[str]:
    """What the mechanism asks for, all of which `owner` must offer."""
    asked = asks_for(mechanism)
    if asked - set(offered):
        check.refuse(owner, "explorer", f"an f that asks for no more than {', '.join(offered)}", sorted(asked))
    return asked
