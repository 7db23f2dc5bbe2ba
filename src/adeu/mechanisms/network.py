"""The small networks that learned mechanisms are made of."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from adeu.core import check
from adeu.core.contract import Array, Key, Mechanism

Layers = tuple[tuple[Array, Array], ...]
"""Weight and bias of each layer: plain tuples, which a compiled function takes apart without Python's help."""


def init(key: Key, sizes: tuple[int, ...]) -> Layers:
    """Every weight and bias uniform within 1/sqrt(the layer's inputs), in one draw, which compiles fast."""
    shapes = list(itertools.pairwise(sizes))
    ends = np.cumsum([(inputs + 1) * outputs for inputs, outputs in shapes])
    drawn = jnp.split(jax.random.uniform(key, (ends[-1],), minval=-1.0), ends[:-1])
    tables = [values.reshape(-1, outputs) for values, (_, outputs) in zip(drawn, shapes, strict=True)]
    scaled = [table * inputs**-0.5 for table, (inputs, _) in zip(tables, shapes, strict=True)]
    return tuple((table[:-1], table[-1]) for table in scaled)


def apply(layers: Layers, x: Array) -> Array:
    *hidden, (weight, bias) = layers
    for hidden_weight, hidden_bias in hidden:
        x = jax.nn.relu(x @ hidden_weight + hidden_bias)
    return x @ weight + bias


def descend(loss: Callable[[Any], Array], params: Any, optimizer_state: Any, learning_rate: float) -> tuple[Any, Any]:
    """One step of Adam."""
    updates, optimizer_state = optax.adam(learning_rate).update(jax.grad(loss)(params), optimizer_state)
    return optax.apply_updates(params, updates), optimizer_state


def check_vector(mechanism: Mechanism, obs: Any) -> None:
    fits = not isinstance(obs, dict | tuple) and jnp.ndim(obs) == 1
    if not fits:
        got = f"a {type(obs).__name__}" if isinstance(obs, dict | tuple) else f"shape {jnp.shape(obs)}"
        check.refuse(mechanism, "obs", "a flat vector; Behavior(..., encoder=...) makes one of anything else", got)


def check_sizes(mechanism: Mechanism, argument: str) -> None:
    check.frozen(mechanism, argument)
    sizes = getattr(mechanism, argument)
    if not isinstance(sizes, tuple) or not all(isinstance(s, int) and s > 0 for s in sizes):
        check.refuse(mechanism, argument, "the sizes of the hidden layers, such as (64, 64)", sizes)
