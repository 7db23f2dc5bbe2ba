"""JAX's random number generator with its loop unrolled, which is faster on a CPU.

`jax.random` computes the twenty rounds of a draw in a loop, whose overhead exceeds its arithmetic, and an agent
draws about ten times per step. Unrolled, the rounds compile to one small kernel and give the same bits.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl

from adeu.core.contract import Array, Key

Number = Array | int
ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
PARITY = np.uint32(0x1BD11BDA)


def threefry(key: Array, high: Array, low: Array) -> tuple[Array, Array]:
    """Applies Threefry-2x32 with 20 rounds to a 64-bit counter (Salmon et al., 2011)."""
    words = key[0], key[1], key[0] ^ key[1] ^ PARITY
    x, y = high + words[0], low + words[1]
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x = x + y
            y = (y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))
            y = x ^ y
        x, y = x + words[(group + 1) % 3], y + words[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def _numbered(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    low = jnp.arange(int(np.prod(shape)), dtype=jnp.uint32).reshape(shape)
    return threefry(key, jnp.zeros_like(low), low)


def _seed(number: Number) -> Array:
    return jnp.stack([jnp.zeros((), jnp.uint32), jnp.asarray(number).astype(jnp.uint32)])


def _split(key: Array, shape: tuple[int, ...]) -> Array:
    return jnp.stack(_numbered(key, shape), axis=-1)


def _bits(key: Array, width: int, shape: tuple[int, ...]) -> Array:
    x, y = _numbered(key, shape)
    if width == 64:
        return (x.astype(jnp.uint64) << np.uint64(32)) | y.astype(jnp.uint64)
    return (x ^ y).astype(jnp.dtype(f"uint{width}"))


def _fold_in(key: Array, number: Number) -> Array:
    high, low = list[Array](_seed(number))
    return jnp.stack(threefry(key, high, low))


FLAT = define_prng_impl(
    key_shape=(2,), seed=_seed, split=_split, random_bits=_bits, fold_in=_fold_in, name="adeu_threefry", tag="adeu"
)


def new(seed: Number) -> Key:
    """Returns the key of a seed; draws equal those of `jax.random.key(seed)`."""
    return jax.random.key(seed, impl=FLAT)


def split(key: Key, count: int = 2) -> list[Key]:
    """Returns the keys of `jax.random.split` as a list."""
    return list(jax.random.split(key, count))


def wrap(data: Array) -> Key:
    """Returns the key with this `jax.random.key_data`."""
    return jax.random.wrap_key_data(data, impl=FLAT)
