"""A random stream that is easy to reproduce in other languages: xoshiro256++, seeded by splitmix64.

Its state is an array of four 64-bit words, which each call updates in place.

Reference: Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

Stream = NDArray[np.uint64]

# numba keeps 64-bit arithmetic unsigned only if every operand is unsigned.
_11, _17, _19, _23, _41, _45 = (np.uint64(bits) for bits in (11, 17, 19, 23, 41, 45))


def streams(seed: int, count: int) -> list[Stream]:
    """Return independent streams for one seed."""
    words, state = [], seed
    for _ in range(4 * count):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        word = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
        words.append(word ^ word >> 31)
    return list(np.array(words, np.uint64).reshape(count, 4))


@register_jitable(forceinline=True)
def uniform(rng: Stream) -> float:
    """Sample a number in [0, 1), a multiple of 2^-53."""
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    total = a + d
    result = ((total << _23) | (total >> _41)) + a
    c ^= a
    d ^= b
    rng[0] = a ^ d
    rng[1] = b ^ c
    rng[2] = c ^ (b << _17)
    rng[3] = (d << _45) | (d >> _19)
    return np.int64(result >> _11) * 2.0**-53


@register_jitable(forceinline=True)
def below(n: int, rng: Stream) -> int:
    """Sample an integer in 0 .. n - 1."""
    return int(uniform(rng) * n)


@register_jitable(forceinline=True)
def draw(cumulative: NDArray[np.float64], first: int, last: int, rng: Stream) -> int:
    """Sample an index in first .. last - 1 by `cumulative` probabilities; rounding errors go to the last."""
    point, place = uniform(rng), first
    while place < last - 1 and point >= cumulative[place]:
        place += 1
    return place
