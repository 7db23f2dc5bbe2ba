"""Functions whose meaning is chosen by the type of their first argument, in Python and in compiled code alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload

OPERATIONS: list[Any] = []
"""All of them: what the compiled kernel depends on beside its own text."""

KERNEL: Any = {"error_model": "numpy", "_nrt": False}
"""Division is C's, and nobody counts references to arrays: no rule may allocate one."""

RULE: Any = {"forceinline": True, **KERNEL}


def operation(default: Callable[..., Any]) -> Any:
    """A `functools.singledispatch` that numba resolves too, while it compiles: the choice costs nothing later.

    The first argument is a NamedTuple. `register` adds the rule for another type of it.
    """
    generic = functools.singledispatch(default)

    @overload(generic, jit_options=RULE, strict=False)
    def resolve(part: Any, *rest: Any) -> Callable[..., Any]:
        return generic.dispatch(getattr(part, "instance_class", object))

    OPERATIONS.append(generic)
    return generic
