"""Q-networks, several at once: a look-up or a linear layer, then relu layers; and the Adam that trains them.

Of a whole number s the first layer is row s of a table. That is a linear layer over the one-hot of s, except that a
batch reads and moves the few rows it names, and no others.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from adeu.core import check
from adeu.core.contract import Array, Key

BETA1, BETA2, SMALL = 0.9, 0.999, 1e-8


class Networks(NamedTuple):
    """The parameters of K networks; all arrays have K in front."""

    first: Array
    """(K, inputs, hidden): of a whole number, a row each."""
    rest: tuple[tuple[Array, Array], ...]
    """Bias of the first layer with an empty weight, then weight and bias of the others."""


class AdamState(NamedTuple):
    """Of the rows: their moments, and how often each was moved."""

    first: tuple[Array, Array, Array]
    rest: Any


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


def init(key: Key, count: int, inputs: int, look_up: bool, hidden: tuple[int, ...], actions: int) -> Networks:
    """Every weight and bias uniform within 1/sqrt(the layer's inputs); a table's rows within 1.

    A table that started within 1/sqrt(rows) would hardly tell states apart: a wide network would often begin with
    the same action everywhere.
    """
    key_first, *keys = jax.random.split(key, len(hidden) + 2)
    bound = 1.0 if look_up else inputs**-0.5
    first = jax.random.uniform(key_first, (count, inputs, hidden[0]), minval=-bound, maxval=bound)
    rest = [(jnp.zeros((count, 0)), jnp.zeros((count, hidden[0])))]
    for layer_key, (size, outputs) in zip(keys, itertools.pairwise((*hidden, actions)), strict=False):
        drawn = size**-0.5 * jax.random.uniform(layer_key, (count, size + 1, outputs), minval=-1.0)
        rest.append((drawn[:, :-1], drawn[:, -1]))
    return Networks(first, tuple(rest))


def read(first: Array, obs: Array) -> Array:
    """What the first layer makes of a batch: (K, batch, hidden)."""
    if jnp.issubdtype(obs.dtype, jnp.integer):
        return first[:, obs]
    return jnp.einsum("bi,kih->kbh", obs, first)


def values(rest: Any, features: Array) -> Array:
    """(K, batch, actions)."""
    x = features + rest[0][1][:, None]
    for weight, bias in rest[1:]:
        x = jnp.einsum("kbi,kio->kbo", jax.nn.relu(x), weight) + bias[:, None]
    return x


def q_values(networks: Networks, obs: Array) -> Array:
    """(K, batch, actions)."""
    return values(networks.rest, read(networks.first, obs))


def adam_init(networks: Networks, learning_rate: float) -> AdamState:
    moves = jnp.zeros(networks.first.shape[1], jnp.int32)
    first = jnp.zeros_like(networks.first), jnp.zeros_like(networks.first), moves
    return AdamState(first, optax.adam(learning_rate).init(networks.rest))


def descend(
    loss: Any, networks: Networks, state: AdamState, obs: Array, learning_rate: float
) -> tuple[Networks, AdamState, Any]:
    """One step of Adam on `loss(rest, features)`, which returns a number and whatever is to be handed on.

    Rows of a table move when a batch names them, by their own moments and count (lazy Adam); others stay.
    """
    features = read(networks.first, obs)
    (by_rest, by_features), out = jax.grad(loss, argnums=(0, 1), has_aux=True)(networks.rest, features)
    updates, rest_state = optax.adam(learning_rate).update(by_rest, state.rest)
    rest = optax.apply_updates(networks.rest, updates)
    place: Any = slice(None), slice(None)
    if jnp.issubdtype(obs.dtype, jnp.integer):
        alike = (obs[:, None] == obs[None, :]).astype(features.dtype)
        gradient = jnp.einsum("ij,kjh->kih", alike, by_features)  # a row named twice gets both parts, twice alike
        place = slice(None), obs
    else:
        gradient = jnp.einsum("bi,kbh->kih", obs, by_features)
    means, squares, moves = state.first
    moves = moves.at[place[1]].set(moves[place[1]] + 1)
    count = moves[place[1]][:, None]
    mean = BETA1 * means[place] + (1 - BETA1) * gradient
    square = BETA2 * squares[place] + (1 - BETA2) * gradient**2
    step = (mean / (1 - BETA1**count)) / (jnp.sqrt(square / (1 - BETA2**count)) + SMALL)
    first = networks.first.at[place].set(networks.first[place] - learning_rate * step)
    moments = means.at[place].set(mean), squares.at[place].set(square), moves
    return Networks(first, rest), AdamState(moments, rest_state), out
