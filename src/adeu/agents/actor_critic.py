"""The networks of an actor with several critics, and the Adam that trains them.

All critics are one set of arrays with their number K in each, so that a layer of all of them is one product. The
first layer is stored with K in the middle, (inputs, K, hidden): read as a matrix it is that product already.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core.contract import Array, Key

Layers = tuple[tuple[Array, Array], ...]
"""Weight and bias of each layer."""
BETA1, BETA2, SMALL = 0.9, 0.999, 1e-8


class Noisy(NamedTuple):
    """Layers whose weights are random: drawn anew, they are mean + scale * noise."""

    mean: Layers
    scale: Layers


class Adam(NamedTuple):
    first: Any
    second: Any
    updates: Array


def init_actor(key: Key, sizes: tuple[int, ...]) -> Layers:
    """Every weight and bias uniform within 1/sqrt(the layer's inputs)."""
    return tuple((table[:-1], table[-1]) for table in _tables(key, 1, sizes))


def init_critics(key: Key, count: int, sizes: tuple[int, ...]) -> Layers:
    """Weights of shape (inputs, K, hidden) in the first layer, (K, inputs, outputs) in the others."""
    (first, *rest) = (table.reshape(len(table), count, -1) for table in _tables(key, count, sizes))
    each = ((table[:-1].swapaxes(0, 1), table[-1]) for table in rest)
    return (first[:-1], first[-1]), *each


def _tables(key: Key, count: int, sizes: tuple[int, ...]) -> list[Array]:
    """Weights and, in the last row, biases of each layer of `count` networks; one draw for all compiles fast."""
    shapes = [(inputs + 1, count * outputs) for inputs, outputs in itertools.pairwise(sizes)]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    drawn = jnp.split(jax.random.uniform(key, (int(ends[-1]),), minval=-1.0), ends[:-1])
    return [
        (rows - 1) ** -0.5 * part.reshape(rows, columns) for part, (rows, columns) in zip(drawn, shapes, strict=True)
    ]


def init_noisy(key: Key, sizes: tuple[int, ...], start: float) -> Noisy:
    """Scales start at `start`/sqrt(the layer's inputs)."""
    mean = init_actor(key, sizes)
    scale = tuple(
        (jnp.full_like(w, start * len(w) ** -0.5), jnp.full_like(b, start * len(w) ** -0.5)) for w, b in mean
    )
    return Noisy(mean, scale)


def draw(key: Key, actor: Layers | Noisy) -> Layers:
    """The actor's weights: of noisy ones, a draw with factorised noise.

    Reference: Fortunato et al., "Noisy Networks for Exploration", 2018.
    """
    if not isinstance(actor, Noisy):
        return actor
    layers = []
    for number, ((weight, bias), (weight_scale, bias_scale)) in enumerate(zip(actor.mean, actor.scale, strict=True)):
        drawn = jax.random.normal(jax.random.fold_in(key, number), (sum(weight.shape),))
        noise = jnp.sign(drawn) * jnp.sqrt(jnp.abs(drawn))
        into, out = noise[: len(weight)], noise[len(weight) :]
        layers.append((weight + weight_scale * into[:, None] * out, bias + bias_scale * out))
    return tuple(layers)


def mean_of(actor: Layers | Noisy) -> Layers:
    return actor.mean if isinstance(actor, Noisy) else actor


def policy(layers: Layers, obs: Array) -> Array:
    """pi(s), each action within [-1, 1]."""
    *hidden, (weight, bias) = layers
    x = obs
    for hidden_weight, hidden_bias in hidden:
        x = jax.nn.relu(x @ hidden_weight + hidden_bias)
    return jnp.tanh(x @ weight + bias)


def values(critics: Layers, obs: Array, action: Array) -> Array:
    """Q(s, a) of all critics for a batch: (K, batch)."""
    (weight, bias), *rest = critics
    x = jnp.concatenate([obs, action], axis=-1) @ weight.reshape(len(weight), -1)
    x = x.reshape(-1, *bias.shape).swapaxes(0, 1) + bias[:, None]
    for weight, bias in rest:
        x = jnp.einsum("kbi,kio->kbo", jax.nn.relu(x), weight) + bias[:, None]
    return x[..., 0]


def some(critics: Layers, members: Any) -> Layers:
    """Some of the critics, by their numbers."""
    (weight, bias), *rest = critics
    return (weight[:, members], bias[members]), *((weight[members], bias[members]) for weight, bias in rest)


def adam_init(params: Any) -> Adam:
    # Each moment has buffers of its own: two that were one could not both be given away.
    return Adam(jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params), jnp.zeros((), jnp.int32))


def descend(params: Any, gradient: Any, state: Adam, learning_rate: float) -> tuple[Any, Adam]:
    """One step of Adam."""
    updates = state.updates + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state.first, gradient)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g**2, state.second, gradient)
    # The corrections of both moments' start, once for all parameters.
    power = updates.astype(float)
    root = jnp.sqrt(1 - BETA2**power)
    step = learning_rate / (1 - BETA1**power)
    moved = jax.tree.map(lambda p, m, v: p - step * m / (jnp.sqrt(v) / root + SMALL), params, first, second)
    return moved, Adam(first, second, updates)


def follow(target: Any, params: Any, tau: float) -> Any:
    """The target's step towards the parameters: (1 - tau) * target + tau * params."""
    return jax.tree.map(lambda slow, fast: (1 - tau) * slow + tau * fast, target, params)
