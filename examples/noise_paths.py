"""Compare white noise with correlated noise.

    python examples/noise_paths.py

Samples five D with the same spread around a policy whose action is always 0. Writes runs/noise-paths.png: at the top
the noise of one episode, below it the path of a point that is moved by the noise. Prints a table over 200 episodes of
500 steps; the distance is the root mean square of the point's final position.
"""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import adeu

STEPS, EPISODES = 500, 200
ACTIONS = Box(-10.0, 10.0, (1,))
SPREAD = 0.1  # in half action ranges: a standard deviation of 1
NOISES: dict[str, adeu.Distribution] = {
    "Gaussian()": adeu.Gaussian(),
    "Colored(1): pink": adeu.Colored(1.0),
    "Colored(2): red": adeu.Colored(2.0),
    "OrnsteinUhlenbeck(0.15)": adeu.OrnsteinUhlenbeck(0.15),
    "Options(2) in a Box": adeu.Options(2.0),
}
PICTURE = Path("runs/noise-paths.png")


@functools.partial(jax.jit, static_argnames="D")
def episode(D: adeu.Distribution, key: jax.Array) -> jax.Array:
    key_begin, key_steps = jax.random.split(key)

    def step(carry: object, key: jax.Array) -> tuple[object, jax.Array]:
        action, _, carry = D.sample(key, (), carry, jnp.zeros(1), jnp.asarray(SPREAD))
        return carry, action[0]

    return jax.lax.scan(step, D.begin(key_begin), jax.random.split(key_steps, STEPS))[1]


def main() -> None:
    keys = jax.random.split(jax.random.key(0), EPISODES)
    bound = {name: D.bind(None, ACTIONS) for name, D in NOISES.items()}
    noises = {name: np.asarray(jax.vmap(functools.partial(episode, D))(keys)) for name, D in bound.items()}
    table = Table("D", "deviation", "lag-1 correlation", "distance")
    for name, noise in noises.items():
        before = np.corrcoef(noise[:, :-1].ravel(), noise[:, 1:].ravel())[0, 1]
        distance = np.sqrt(np.mean(noise.sum(axis=1) ** 2))
        table.add_row(name, f"{noise.std():.2f}", f"{before:.2f}", f"{distance:.0f}")
    Console().print(table)
    draw({name: noise[0] for name, noise in noises.items()})


def draw(paths: dict[str, NDArray[np.float32]]) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(paths), figsize=(13, 4.5), sharex=True, sharey="row", constrained_layout=True)
    for (above, below), (name, noise) in zip(axes.T, paths.items(), strict=True):
        above.plot(noise, linewidth=0.7)
        above.set_title(name, size=10)
        below.plot(np.cumsum(noise), color="tab:red", linewidth=1.2)
        below.set_xlabel("step")
        for axis in (above, below):
            axis.axhline(0.0, color="grey", linewidth=0.6)
    axes[0, 0].set_ylabel("noise / spread")
    axes[1, 0].set_ylabel("sum of the noise")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
