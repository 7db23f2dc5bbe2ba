"""Measure the precision of the grid example's probabilities, in JAX's default precision and in float64.

    python benchmarks/precision.py

Compares p(s,a) = softmax(sigmoid(beta*sqrt(n(s)) - shift) * q(s,a)) by `Counts`, `ShiftedSigmoid` and `Categorical`
with numpy in float64, for 2,000,000 draws (seed 0) of 4 preferences in [-10, 10]; half of them with n in 1 .. 29,
where the sigmoid changes most, half with n in 1 .. 2,000.
"""

from __future__ import annotations

import jax
import numpy as np

import adeu

DRAWS = 2_000_000


def main() -> None:
    random = np.random.default_rng(0)
    q = random.uniform(-10, 10, (DRAWS, 4)).astype(np.float32).astype(float)
    n = np.append(random.integers(1, 30, DRAWS // 2), random.integers(1, 2001, DRAWS // 2))
    trust = 1 / (1 + np.exp(2 - 0.9 * np.sqrt(n)))
    exact = np.exp(trust[:, None] * (q - q.max(axis=1, keepdims=True)))
    exact /= exact.sum(axis=1, keepdims=True)
    f, g, D = adeu.Counts(num_states=1, beta=0.9), adeu.ShiftedSigmoid(shift=2.0), adeu.Categorical()

    def probabilities(n: jax.Array, q: jax.Array) -> jax.Array:
        uncertainty, _ = f.measure(jax.random.key(0), n[None] - 1, (), 0)
        return D.probabilities(q, g(uncertainty))

    for x64 in (False, True):
        with jax.enable_x64(x64):
            error = np.abs(np.asarray(jax.jit(jax.vmap(probabilities))(n, q)) / exact - 1)
        print(
            f"{'float64' if x64 else 'float32'}: largest relative error {error.max():.1e}, "
            f"median {np.median(error):.1e}, share above 1e-6: {np.mean(error > 1e-6):.1e}"
        )


if __name__ == "__main__":
    main()
