"""Functions dispatched on the type of their first argument, in Python and in compiled code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload

OPERATIONS: list[Any] = []
"""All operations: the compiled kernel depends on them as well as on its own source."""

KERNEL: Any = {"error_model": "numpy", "_nrt": False}
"""Division as in C, and no reference counting: rules must not allocate arrays."""

RULE: Any = {"forceinline": True, **KERNEL}


def operation(default: Callable[..., Any]) -> Any:
    """A `functools.singledispatch` that numba also resolves, at compile time: dispatch is free at run time.

    The first argument is a NamedTuple. `register` adds the rule for its type.
    """
    generic = functools.singledispatch(default)

    @overload(generic, jit_options=RULE, strict=False)
    def resolve(part: Any, *rest: Any) -> Callable[..., Any]:
        return generic.dispatch(getattr(part, "instance_class", object))

    OPERATIONS.append(generic)
    return generic
