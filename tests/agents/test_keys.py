"""The random numbers equal JAX's bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np

from adeu.agents import keys

DRAWS = {
    "split": lambda key: jax.random.key_data(jax.random.split(key, (3, 2))),
    "fold_in": lambda key: jax.random.key_data(jax.random.fold_in(key, 12345)),
    "bits8": lambda key: jax.random.bits(key, (7,), "uint8"),
    "bits16": lambda key: jax.random.bits(key, (7,), "uint16"),
    "uniform": lambda key: jax.random.uniform(key, (5, 3)),
    "randint": lambda key: jax.random.randint(key, (9,), 0, 77),
    "normal": lambda key: jax.random.normal(key, ()),
}


def test_draws_equal_those_of_jax():
    @jax.jit
    def all_of_them(key):
        return {name: draw(key) for name, draw in DRAWS.items()}

    for seed in (0, 1, 2**32 - 1):
        ours, theirs = (all_of_them(new(jnp.asarray(seed, jnp.uint32))) for new in (keys.new, jax.random.key))
        for name in DRAWS:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    wrapped = keys.wrap(jax.random.key_data(jax.random.key(3)))
    np.testing.assert_array_equal(jax.random.bits(wrapped), jax.random.bits(jax.random.key(3)))
