"""Adam; and the same Adam for a table of which each batch names a few rows.

Between two batches that name it, a row has no gradient: its moments m and v decay, and what is left of the momentum
still moves it. That need not be done before the row is read. From step t to step t + k it moves by

    learning_rate * m / sqrt(v) * (W(t) - rho^k * W(t + k)),   W(t) = sum_{j >= 1} rho^j c(t + j)
    rho = beta1 / sqrt(beta2),   c(t) = sqrt(1 - beta2^t) / (1 - beta1^t)

where only the 1e-8 beside sqrt(v) is taken as if it stayed the same: where gradients are not about as small, a
thousand steps end within a twentieth of a learning rate of dense Adam's.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adeu.agents import networks as nets
from adeu.agents.networks import Networks
from adeu.core.contract import Array
from adeu.core.networks import adam_init, adam_step

BETA1, BETA2, SMALL = 0.9, 0.999, 1e-8
TINY = 1e-30
RHO = BETA1 / BETA2**0.5
LATE = 20_000
"""From there on c(t) is 1."""


class Rows(NamedTuple):
    """A table's moments, each row's as they were when a batch last named it."""

    mean: Array
    square: Array
    time: Array
    """(rows,): the step in which that was."""
    step: Array


class AdamState(NamedTuple):
    rows: Rows | None
    """None: the first layer is like the others."""
    rest: Any


def init(networks: Networks, learning_rate: float, by_rows: bool) -> AdamState:
    if not by_rows:
        return AdamState(None, adam_init(networks))
    zeros, time = jnp.zeros_like(networks.first), jnp.zeros(networks.first.shape[1], jnp.int32)
    return AdamState(Rows(zeros, zeros, time, jnp.zeros((), jnp.int32)), adam_init(networks.rest))


@functools.cache
def _momentum() -> NDArray[np.float32]:
    """W(0 .. LATE)."""
    t = np.arange(1, LATE + 1)
    c = np.sqrt(1 - BETA2**t) / (1 - BETA1**t)
    W = np.full(LATE + 1, RHO / (1 - RHO))
    for before in range(LATE - 1, -1, -1):
        W[before] = RHO * (c[before] + W[before + 1])
    return W.astype(np.float32)


def _by_now(table: Array, rows: Rows, learning_rate: float, place: Any) -> tuple[Array, Array, Array]:
    """These rows of the table and their moments, as if each step had moved them."""
    mean, square, time = rows.mean[:, place], rows.square[:, place], rows.time[place]
    W, idle = jnp.asarray(_momentum()), (rows.step - time).astype(mean.dtype)
    left = W[jnp.minimum(time, LATE)] - RHO**idle * W[jnp.minimum(rows.step, LATE)]
    small = SMALL * jnp.sqrt(1 - BETA2 ** time.astype(mean.dtype))  # beside v as Adam corrects it, here before that
    moved = learning_rate * left[..., None] * mean / (jnp.sqrt(square) + jnp.maximum(small, TINY)[..., None])
    return table[:, place] - moved, BETA1 ** idle[..., None] * mean, BETA2 ** idle[..., None] * square


def features(networks: Networks, state: AdamState, learning_rate: float, obs: Array) -> Array:
    """What the first layer makes of a batch by now: (K, batch, hidden)."""
    if state.rows is None:
        return nets.read(networks.first, obs)
    return _by_now(networks.first, state.rows, learning_rate, obs)[0]


def settled(networks: Networks, state: AdamState, learning_rate: float) -> Networks:
    """The networks with every row where it is by now."""
    if state.rows is None:
        return networks
    return networks._replace(first=_by_now(networks.first, state.rows, learning_rate, slice(None))[0])


def descend(
    loss: Any, networks: Networks, state: AdamState, learning_rate: float, obs: Array
) -> tuple[Networks, AdamState, Any]:
    """One step on `loss(rest, features)`, which returns a number and whatever is to be handed on."""
    if state.rows is not None:
        return _descend_rows(loss, networks, state.rows, state.rest, learning_rate, obs)
    gradient, out = jax.grad(lambda n: loss(n.rest, nets.read(n.first, obs)), has_aux=True)(networks)
    networks, rest = adam_step(networks, gradient, state.rest, learning_rate)
    return networks, AdamState(None, rest), out


def _descend_rows(
    loss: Any, networks: Networks, rows: Rows, rest_state: Any, learning_rate: float, obs: Array
) -> tuple[Networks, AdamState, Any]:
    value, mean, square = _by_now(networks.first, rows, learning_rate, obs)
    (by_rest, by_value), out = jax.grad(loss, argnums=(0, 1), has_aux=True)(networks.rest, value)
    rest, rest_state = adam_step(networks.rest, by_rest, rest_state, learning_rate)
    alike = (obs[:, None] == obs[None, :]).astype(value.dtype)
    gradient = jnp.einsum("ij,kjh->kih", alike, by_value)  # a row named twice gets both parts, twice alike
    mean = BETA1 * mean + (1 - BETA1) * gradient
    square = BETA2 * square + (1 - BETA2) * gradient**2
    step = rows.step + 1
    move = (mean / (1 - BETA1**step)) / (jnp.sqrt(square / (1 - BETA2**step)) + SMALL)
    place = slice(None), obs
    first = networks.first.at[place].set(value - learning_rate * move)
    rows = Rows(rows.mean.at[place].set(mean), rows.square.at[place].set(square), rows.time.at[obs].set(step), step)
    return Networks(first, rest), AdamState(rows, rest_state), out
