"""Q-networks, several at once: a look-up or a linear layer, then relu layers.

Of a whole number s the first layer is row s of a table. That is a linear layer over the one-hot of s, except that a
batch reads the few rows it names, and no others.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from adeu.core import check
from adeu.core.contract import Array, Key


class Networks(NamedTuple):
    """The parameters of K networks; all arrays have K in front, or 1 where one trunk serves K heads."""

    first: Array
    """(K, inputs, hidden): of a whole number, a row each."""
    rest: tuple[tuple[Array, Array], ...]
    """Bias of the first layer with an empty weight, then weight and bias of the others."""


class Shape(NamedTuple):
    """
    Args:
        networks: how many, K.
        inputs: how many numbers an observation has, or rows a table.
        look_up: whether an observation is a whole number.
        hidden: the sizes of the hidden layers.
        actions: how many.
        heads: whether the K differ in their last layer only.
        rows: a table's rows start uniform within it.
    """

    networks: int
    inputs: int
    look_up: bool
    hidden: tuple[int, ...]
    actions: int
    heads: bool = False
    rows: float = 1.0


def inputs_of(owner: Any, space: Any) -> tuple[int, bool]:
    """How many inputs a network over this space has, and whether they are rows of a table."""
    if hasattr(space, "n") and not getattr(space, "shape", ()):
        return int(space.n), True
    shape = getattr(space, "shape", None)
    if not shape or not jnp.issubdtype(getattr(space, "dtype", None) or jnp.float32, jnp.number):
        check.refuse(owner, "observation space", "a Box or a Discrete", space)
    size = 1
    for side in shape:
        size *= int(side)
    return size, False


def init(key: Key, shape: Shape) -> Networks:
    """Every weight and bias uniform within 1/sqrt(the layer's inputs), except a table's rows."""
    key_first, *keys = jax.random.split(key, len(shape.hidden) + 1)
    trunks = 1 if shape.heads else shape.networks
    bound = shape.rows if shape.look_up else shape.inputs**-0.5
    first = jax.random.uniform(key_first, (trunks, shape.inputs, shape.hidden[0]), minval=-bound, maxval=bound)
    rest = [(jnp.zeros((trunks, 0)), jnp.zeros((trunks, shape.hidden[0])))]
    counts = [trunks] * (len(shape.hidden) - 1) + [shape.networks]
    for layer_key, count, (size, outputs) in zip(
        keys, counts, itertools.pairwise((*shape.hidden, shape.actions)), strict=True
    ):
        drawn = size**-0.5 * jax.random.uniform(layer_key, (count, size + 1, outputs), minval=-1.0)
        rest.append((drawn[:, :-1], drawn[:, -1]))
    return Networks(first, tuple(rest))


def from_zero(networks: Networks) -> Networks:
    """The same with a last layer of zeros: every value is 0."""
    return networks._replace(rest=(*networks.rest[:-1], jax.tree.map(jnp.zeros_like, networks.rest[-1])))


def read(first: Array, obs: Array) -> Array:
    """What the first layer makes of a batch: (K, batch, hidden)."""
    if jnp.issubdtype(obs.dtype, jnp.integer):
        return first[:, obs]
    return jnp.matmul(obs, first)


def values(rest: Any, features: Array) -> Array:
    """(K, batch, actions)."""
    x = features + rest[0][1][:, None]
    for weight, bias in rest[1:]:
        x = jnp.matmul(jax.nn.relu(x), weight) + bias[:, None]
    return x


def q_values(networks: Networks, obs: Array) -> Array:
    """(K, batch, actions)."""
    return values(networks.rest, read(networks.first, obs))
