"""Measure the cost of a decision: `Behavior.act` with `Rnd`, relative to the policy network.

    python benchmarks/overhead.py

Each round times, one after the other as in a training loop, the jitted policy network (two layers of 256), the same
network with numpy noise added, and `act` around its action. Prints the ratios of the medians over blocks of rounds: a
block is long enough to include what `act` does only now and then, such as recording its decisions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box

import adeu
from adeu.core import networks

OBSERVATION, ACTION, BLOCKS, ROUNDS = 17, 6, 30, 100


def measure(batch: int) -> dict[str, float]:
    """Return the median microseconds of each call, over blocks of rounds after the first one."""
    layers = networks.init_layers(jax.random.key(0), (OBSERVATION, 256, 256, ACTION))
    forward = jax.jit(lambda layers, obs: jnp.tanh(networks.apply(layers, obs)))
    noise = np.random.default_rng(0)
    obs = noise.standard_normal((batch, OBSERVATION), np.float32)
    spaces = SimpleNamespace(
        observation_space=Box(-np.inf, np.inf, (OBSERVATION,)), action_space=Box(-1, 1, (ACTION,)), num_envs=batch
    )
    explorer = adeu.Explorer(f=adeu.Rnd(), g=adeu.Sigmoid(c=0.2), D=adeu.Gaussian())
    behavior = adeu.Behavior(explorer, spaces, seed=0)

    def policy() -> np.ndarray:
        return np.asarray(forward(layers, obs))

    center = policy()
    calls: dict[str, Callable[[], Any]] = {
        "policy": policy,
        "policy + normal": lambda: np.clip(policy() + 0.1 * noise.standard_normal(center.shape), -1, 1),
        "behavior.act": lambda: behavior.act(obs, center),
    }
    times = {name: np.zeros((1 + BLOCKS, ROUNDS)) for name in calls}
    for place in np.ndindex(1 + BLOCKS, ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name][place] = 1e6 * (time.perf_counter() - start)
    return {name: float(np.median(values[1:].mean(axis=1))) for name, values in times.items()}


def main() -> None:
    warnings.filterwarnings("ignore", module="__main__")
    print(f"{'batch':>5}  {'policy':>9}  {'+ normal':>9}  {'act':>9}  act/policy  act/(policy + normal)  aim")
    for batch, aim in ((1, 1.6), (64, 1.5)):
        time_of = measure(batch)
        policy, normal, act = time_of["policy"], time_of["policy + normal"], time_of["behavior.act"]
        print(
            f"{batch:5d}  {policy:6.0f} us  {normal:6.0f} us  {act:6.0f} us  {act / policy:10.2f}  "
            f"{act / normal:21.2f}  < {aim}"
        )


if __name__ == "__main__":
    main()
