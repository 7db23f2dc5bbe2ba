"""Adam for Q-networks whose first layer is a table, of which each batch reads only a few rows.

While no batch reads a row, its gradient is 0: its moments m and v decay, and the remaining momentum still moves it.
This update is deferred until the row is read again. From step t to step t + k the row moves by

    learning_rate * m / sqrt(v) * (W(t) - rho^k * W(t + k)),   W(t) = sum_{j >= 1} rho^j c(t + j)
    rho = beta1 / sqrt(beta2),   c(t) = sqrt(1 - beta2^t) / (1 - beta1^t)

This is exact except for Adam's epsilon, the 1e-8 added to sqrt(v), which is treated as constant. Unless gradients are
about that small, the result after a thousand steps differs from dense Adam by less than 0.05 * learning_rate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.core import networks as nets
from adeu.core.contract import Array
from adeu.core.networks import BETA1, BETA2, SMALL, QNetworks

Loss = Callable[[nets.Layers, Array], tuple[Array, Array]]
"""Maps the later layers and the first layer's output to the loss and an auxiliary output."""
TINY = 1e-30
RHO: float = BETA1 / BETA2**0.5
LATE = 20_000
"""The step after which c(t) is treated as 1."""


class RowMoments(NamedTuple):
    """The moments of a table, each row's from the last batch that read it."""

    mean: Array
    square: Array
    time: Array
    """(rows,): the step of the last batch that read each row."""
    step: Array


class LazyAdam(NamedTuple):
    """The state of Adam; if `rows` is None, `dense` covers the first layer too."""

    rows: RowMoments | None
    dense: nets.Adam[QNetworks] | nets.Adam[nets.Layers]


def init(networks: QNetworks, by_rows: bool) -> LazyAdam:
    if not by_rows:
        return LazyAdam(None, nets.adam_init(networks))
    zeros, time = jnp.zeros_like(networks.first), jnp.zeros(networks.first.shape[1], jnp.int32)
    return LazyAdam(RowMoments(zeros, zeros, time, jnp.zeros((), jnp.int32)), nets.adam_init(networks.rest))


@functools.cache
def _momentum() -> NDArray[np.float32]:
    """W(0 .. LATE)."""
    t = np.arange(1, LATE + 1)
    c = np.sqrt(1 - BETA2**t) / (1 - BETA1**t)
    W = np.full(LATE + 1, RHO / (1 - RHO))
    for before in range(LATE - 1, -1, -1):
        W[before] = RHO * (c[before] + W[before + 1])
    return W.astype(np.float32)


def _caught_up(
    table: Array, rows: RowMoments, learning_rate: float, place: Array | slice
) -> tuple[Array, Array, Array]:
    """Returns these rows of the table and their moments, with the deferred updates applied."""
    mean, square, time = rows.mean[:, place], rows.square[:, place], rows.time[place]
    W, idle = jnp.asarray(_momentum()), (rows.step - time).astype(mean.dtype)
    left = W[jnp.minimum(time, LATE)] - RHO**idle * W[jnp.minimum(rows.step, LATE)]
    small = SMALL * jnp.sqrt(1 - BETA2 ** time.astype(mean.dtype))  # epsilon for v before its bias correction
    moved = learning_rate * left[..., None] * mean / (jnp.sqrt(square) + jnp.maximum(small, TINY)[..., None])
    return table[:, place] - moved, BETA1 ** idle[..., None] * mean, BETA2 ** idle[..., None] * square


def features(networks: QNetworks, state: LazyAdam, learning_rate: float, obs: Array) -> Array:
    """Returns the first layer's output for a batch, with the deferred updates applied: (K, batch, hidden)."""
    if state.rows is None:
        return nets.read_first(networks.first, obs)
    return _caught_up(networks.first, state.rows, learning_rate, obs)[0]


def settled(networks: QNetworks, state: LazyAdam, learning_rate: float) -> QNetworks:
    """Returns the networks with the deferred updates applied to every row."""
    if state.rows is None:
        return networks
    return networks._replace(first=_caught_up(networks.first, state.rows, learning_rate, slice(None))[0])


def descend(
    loss: Loss, networks: QNetworks, state: LazyAdam, learning_rate: float, obs: Array
) -> tuple[QNetworks, LazyAdam, Array]:
    """Takes one Adam step on `loss(rest, features)`."""
    if state.rows is not None:
        return _descend_rows(loss, networks, state, state.rows, learning_rate, obs)

    def whole(networks: QNetworks) -> tuple[Array, Array]:
        return loss(networks.rest, nets.read_first(networks.first, obs))

    gradient, out = jax.grad(whole, has_aux=True)(networks)
    networks, dense = nets.adam_step(networks, gradient, state.dense, learning_rate)
    return networks, LazyAdam(None, dense), out


def _descend_rows(
    loss: Loss, networks: QNetworks, state: LazyAdam, rows: RowMoments, learning_rate: float, obs: Array
) -> tuple[QNetworks, LazyAdam, Array]:
    value, mean, square = _caught_up(networks.first, rows, learning_rate, obs)
    (by_rest, by_value), out = jax.grad(loss, argnums=(0, 1), has_aux=True)(networks.rest, value)
    rest, dense = nets.adam_step(networks.rest, by_rest, state.dense, learning_rate)
    alike = (obs[:, None] == obs[None, :]).astype(value.dtype)
    gradient = jnp.einsum("ij,kjh->kih", alike, by_value)  # a row read twice gets the sum of both gradients
    mean = BETA1 * mean + (1 - BETA1) * gradient
    square = BETA2 * square + (1 - BETA2) * gradient**2
    step = rows.step + 1
    move = (mean / (1 - BETA1**step)) / (jnp.sqrt(square / (1 - BETA2**step)) + SMALL)
    place = slice(None), obs
    first = networks.first.at[place].set(value - learning_rate * move)
    moments = RowMoments(
        rows.mean.at[place].set(mean), rows.square.at[place].set(square), rows.time.at[obs].set(step), step
    )
    return QNetworks(first, rest), LazyAdam(moments, dense), out
