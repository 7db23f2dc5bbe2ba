"""Functions dispatched on the type of their first argument, in Python and in compiled code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload

OPERATIONS: list[Any] = []
"""All operations; a compiled kernel depends on their rules."""

KERNEL: Any = {"error_model": "numpy", "_nrt": False}
"""Options of numba: division as in C, and no reference counting, so rules must not allocate arrays."""

RULE: Any = {"forceinline": True, **KERNEL}


def operation(default: Callable[..., Any]) -> Any:
    """Return a `functools.singledispatch` function that numba resolves at compile time.

    The first argument is a NamedTuple. `register` adds the rule for its type.
    """
    generic = functools.singledispatch(default)

    @overload(generic, jit_options=RULE, strict=False)
    def resolve(part: Any, *rest: Any) -> Callable[..., Any]:
        return generic.dispatch(getattr(part, "instance_class", object))

    OPERATIONS.append(generic)
    return generic
