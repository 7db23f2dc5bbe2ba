"""Small arrays on a kernel's stack, of a size known at compile time, so that they may be kept in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import extending
from numba.core import cgutils, types
from numpy.typing import NDArray

KIND = types.Array(types.float64, 1, "C")
alloca_once: Any = cgutils.alloca_once
lower_builtin: Any = extending.lower_builtin


def floats(numbers: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array as long as the tuple. It is valid only in the calling frame: call it in the kernel itself."""
    return np.zeros(len(numbers))


@extending.type_callable(floats)
def _resolve(context: Any) -> Any:
    def resolve(numbers: Any) -> Any:
        return KIND

    return resolve


@lower_builtin(floats, types.BaseTuple)
def _build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    count = len(signature.args[0])
    size, width = (context.get_constant(types.intp, number) for number in (count, 8))
    memory = alloca_once(builder, context.get_data_type(types.float64), size=count)
    array = context.make_array(KIND)(context, builder)
    context.populate_array(array, data=memory, shape=[size], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()
