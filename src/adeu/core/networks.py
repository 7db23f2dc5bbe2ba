"""Networks of mechanisms and agents, as plain tuples of arrays, and their optimizer, Adam.

- `init_layers`, `apply`: a network of linear layers with relu between them;
- `init_noisy`, `draw`: a network with random weights;
- `init_critics`, `values`: K critics of an observation and an action;
- `init_q`, `q_values`: K networks with a value per action, for a vector or a state index.

Unless stated otherwise, weights and biases are initialized uniformly within +-1/sqrt(number of the layer's inputs).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from adeu.core import check
from adeu.core.contract import Array, Key

Layers = tuple[tuple[Array, Array], ...]
"""Weight and bias of each layer, in plain tuples, which JAX flattens without calling Python code."""
Params = TypeVar("Params")
BETA1, BETA2, SMALL = 0.9, 0.999, 1e-8
"""Constants of Adam."""


def check_sizes(owner: Any, argument: str, at_least: int = 1) -> None:
    """Convert the sizes of the hidden layers to a tuple; reject fewer than `at_least` sizes."""
    check.frozen(owner, argument)
    sizes = getattr(owner, argument)
    whole = isinstance(sizes, tuple) and all(type(size) is int and size > 0 for size in sizes)
    if not whole or len(sizes) < at_least:
        check.refuse(owner, argument, "the sizes of the hidden layers, such as (64, 64)", sizes)


def check_vector(owner: Any, obs: Any) -> None:
    """Reject an observation that is not a flat vector."""
    if isinstance(obs, dict | tuple) or jnp.ndim(obs) != 1:
        got = f"a {type(obs).__name__}" if isinstance(obs, dict | tuple) else f"shape {jnp.shape(obs)}"
        check.refuse(owner, "obs", "a flat vector; for anything else, give Behavior(..., encoder=...)", got)


def _tables(key: Key, count: int, sizes: tuple[int, ...]) -> list[Array]:
    """Return the weights, and in the last row the biases, of each layer of `count` networks.

    They are drawn in one call, which compiles faster.
    """
    shapes = [(inputs + 1, count * outputs) for inputs, outputs in itertools.pairwise(sizes)]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    drawn = jnp.split(jax.random.uniform(key, (int(ends[-1]),), minval=-1.0), ends[:-1])
    return [
        (rows - 1) ** -0.5 * part.reshape(rows, columns) for part, (rows, columns) in zip(drawn, shapes, strict=True)
    ]


def init_layers(key: Key, sizes: tuple[int, ...]) -> Layers:
    """Return a network with layers of these sizes: inputs, hidden layers, outputs."""
    return tuple((table[:-1], table[-1]) for table in _tables(key, 1, sizes))


def apply(layers: Layers, x: Array) -> Array:
    *hidden, (weight, bias) = layers
    for hidden_weight, hidden_bias in hidden:
        x = jax.nn.relu(x @ hidden_weight + hidden_bias)
    return x @ weight + bias


class Noisy(NamedTuple):
    """Layers with random weights: mean + scale * noise."""

    mean: Layers
    scale: Layers


def init_noisy(key: Key, sizes: tuple[int, ...], start: float) -> Noisy:
    """Return noisy layers with initial scales of `start`/sqrt(number of the layer's inputs)."""
    mean = init_layers(key, sizes)
    scale = tuple(
        (jnp.full_like(w, start * len(w) ** -0.5), jnp.full_like(b, start * len(w) ** -0.5)) for w, b in mean
    )
    return Noisy(mean, scale)


def draw(key: Key, layers: Layers | Noisy) -> Layers:
    """Return the layers. The weights of noisy layers are drawn with factorised noise.

    Reference: Fortunato et al., "Noisy Networks for Exploration", 2018.
    """
    if not isinstance(layers, Noisy):
        return layers
    drawn = []
    for number, ((weight, bias), (weight_scale, bias_scale)) in enumerate(
        zip(layers.mean, layers.scale, strict=True)
    ):
        normal = jax.random.normal(jax.random.fold_in(key, number), (sum(weight.shape),))
        noise = jnp.sign(normal) * jnp.sqrt(jnp.abs(normal))
        into, out = noise[: len(weight)], noise[len(weight) :]
        drawn.append((weight + weight_scale * into[:, None] * out, bias + bias_scale * out))
    return tuple(drawn)


def mean_of(layers: Layers | Noisy) -> Layers:
    return layers.mean if isinstance(layers, Noisy) else layers


def init_critics(key: Key, count: int, sizes: tuple[int, ...]) -> Layers:
    """Return K critics in one set of arrays, so that one matrix product computes a layer of all of them.

    Weights have shape (inputs, K, hidden) in the first layer, which can be reshaped to a single matrix, and
    (K, inputs, outputs) in the others.
    """
    (first, *rest) = (table.reshape(len(table), count, -1) for table in _tables(key, count, sizes))
    each = ((table[:-1].swapaxes(0, 1), table[-1]) for table in rest)
    return (first[:-1], first[-1]), *each


def values(critics: Layers, obs: Array, action: Array) -> Array:
    """Return Q(s, a) of all critics for a batch: (K, batch)."""
    (weight, bias), *rest = critics
    x = jnp.concatenate([obs, action], axis=-1) @ weight.reshape(len(weight), -1)
    x = x.reshape(-1, *bias.shape).swapaxes(0, 1) + bias[:, None]
    for weight, bias in rest:
        x = jnp.einsum("kbi,kio->kbo", jax.nn.relu(x), weight) + bias[:, None]
    return x[..., 0]


def some(critics: Layers, members: Array | slice) -> Layers:
    """Return the critics with these indices."""
    (weight, bias), *rest = critics
    return (weight[:, members], bias[members]), *((weight[members], bias[members]) for weight, bias in rest)


class QNetworks(NamedTuple):
    """The parameters of K networks; all arrays have a leading axis of K, or of 1 in layers that K heads share."""

    first: Array
    """(K, inputs, hidden): the weights of the first layer, or a row for each state."""
    rest: Layers
    """An empty array and the bias of the first layer, then weight and bias of each further layer."""


class QShape(NamedTuple):
    """The shape of `QNetworks`.

    Args:
        networks: the number of networks, K.
        inputs: the size of an observation, or the number of states.
        look_up: whether an observation is a state index; the first layer is then a table with a row per state.
        hidden: the sizes of the hidden layers.
        actions: the number of actions.
        heads: whether the K networks share all layers but the last.
        rows: the table is initialized uniformly within [-rows, rows].
    """

    networks: int
    inputs: int
    look_up: bool
    hidden: tuple[int, ...]
    actions: int
    heads: bool = False
    rows: float = 1.0


def init_q(key: Key, shape: QShape) -> QNetworks:
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
    return QNetworks(first, tuple(rest))


def from_zero(networks: QNetworks) -> QNetworks:
    """Return the networks with a last layer of zeros, so that every value is 0."""
    weight, bias = networks.rest[-1]
    return networks._replace(rest=(*networks.rest[:-1], (jnp.zeros_like(weight), jnp.zeros_like(bias))))


def read_first(first: Array, obs: Array) -> Array:
    """Return the first layer's output for a batch of vectors or state indices: (K, batch, hidden)."""
    if jnp.issubdtype(obs.dtype, jnp.integer):
        return first[:, obs]
    return jnp.matmul(obs, first)


def read_rest(rest: Layers, features: Array) -> Array:
    """Return the values of a batch, given the first layer's output: (K, batch, actions)."""
    x = features + rest[0][1][:, None]
    for weight, bias in rest[1:]:
        x = jnp.matmul(jax.nn.relu(x), weight) + bias[:, None]
    return x


def q_values(networks: QNetworks, obs: Array) -> Array:
    """Return the values of a batch: (K, batch, actions)."""
    return read_rest(networks.rest, read_first(networks.first, obs))


class Adam(NamedTuple, Generic[Params]):
    """The state of Adam: both moments and the number of steps."""

    first: Params
    second: Params
    updates: Array


def adam_init(params: Params) -> Adam[Params]:
    # Separate buffers for the two moments: a buffer cannot be donated twice.
    return Adam(jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params), jnp.zeros((), jnp.int32))


def adam_step(
    params: Params, gradient: Params, state: Adam[Params], learning_rate: float
) -> tuple[Params, Adam[Params]]:
    """Take one step of Adam.

    Reference: Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015.
    """
    updates = state.updates + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state.first, gradient)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g**2, state.second, gradient)
    # Bias corrections, computed once for all parameters.
    power = updates.astype(float)
    root = jnp.sqrt(1 - BETA2**power)
    step = learning_rate / (1 - BETA1**power)
    moved = jax.tree.map(lambda p, m, v: p - step * m / (jnp.sqrt(v) / root + SMALL), params, first, second)
    return moved, Adam(first, second, updates)


def descend(
    loss: Callable[[Params], Array], params: Params, state: Adam[Params], learning_rate: float
) -> tuple[Params, Adam[Params]]:
    """Take one step of Adam on a loss."""
    return adam_step(params, jax.grad(loss)(params), state, learning_rate)


def gradient(loss: Callable[[Params], tuple[Array, Array]], params: Params) -> tuple[Params, Array]:
    """Return the gradient of a loss, and the loss's auxiliary output."""
    found: tuple[Params, Array] = jax.grad(loss, has_aux=True)(params)
    return found


def follow(target: Params, params: Params, tau: float) -> Params:
    """Return the soft update of a target: (1 - tau) * target + tau * params."""
    moved: Params = jax.tree.map(lambda slow, fast: (1 - tau) * slow + tau * fast, target, params)
    return moved
