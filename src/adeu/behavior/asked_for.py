"""Find the names in `given` that the parts of an explorer use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from adeu.core.contract import RESERVED, LearningPart
from adeu.core.explorer import Explorer, ExplorerHook

CONTRACT = frozenset({*RESERVED, "transition", "batch", "uncertainty", "spread"})
"""Parameters that the contract defines, which an agent does not pass in `given`."""


def asked_for(explorer: Explorer, hook: ExplorerHook) -> frozenset[str]:
    """Return the names that parts use in a call of `hook`: required ones, and those with a default.

    Examples:
        >>> import adeu
        >>> from adeu.behavior.asked_for import asked_for
        >>> sorted(asked_for(adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Bernoulli()), "act"))
        ['q_values']
    """
    names = explorer.needs(hook) | _named(getattr(explorer, hook))
    return names.union(*(_asked(part, hook) for part in explorer.parts.values())) - CONTRACT


def _asked(part: LearningPart, hook: ExplorerHook) -> frozenset[str]:
    hooks = [hook] if hook != "act" else [name for name in part.hooks if name not in ("observe", "update")]
    own = frozenset[str]().union(*(_named(getattr(part, name)) for name in hooks))
    return own.union(*(_asked(inner, hook) for inner in part.parts))


def _named(method: Callable[..., Any]) -> frozenset[str]:
    parameters = inspect.signature(method).parameters.values()
    return frozenset(p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))
