"""Measure the overhead of `ExplorerCallback`: Stable-Baselines3's TD3 with it and with its own noise, on Hopper-v5.

    python benchmarks/adapters.py [--threads 1] [--rounds 30] [--steps 50]

All three agents train in one process, in turns of a few steps, after a warm-up, with learning in every step. Each
turn measures CPU time (of all threads) and wall-clock time. The ratios of the medians are the speed relative to SB3;
the quartiles are those of the ratios within each round.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import torch
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise

import adeu
from adeu.adapters.sb3 import ExplorerCallback

ENVIRONMENT = "Hopper-v5"
CONSTANT = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
RND = adeu.Explorer(adeu.Rollouts(adeu.Rnd(), rho=0.3, c=0.2), adeu.Sigmoid(c=0.2), adeu.Gaussian())
AIMS = {"f = c": 0.95, "f = RND": 0.90}


def agents() -> dict[str, tuple[TD3, ExplorerCallback | None]]:
    """Return the agents after `learning_starts` and all compilation."""

    def make(**settings: Any) -> TD3:
        return TD3("MlpPolicy", ENVIRONMENT, learning_starts=300, buffer_size=100_000, seed=0, **settings)

    noise = NormalActionNoise(np.zeros(3), np.full(3, 0.1))
    made: dict[str, tuple[TD3, ExplorerCallback | None]] = {
        "SB3": (make(action_noise=noise), None),
        "f = c": (make(), ExplorerCallback(CONSTANT)),
        "f = RND": (make(), ExplorerCallback(RND)),
    }
    for model, callback in made.values():
        model.learn(350, callback=callback)
    return made


def measure(rounds: int, steps: int) -> dict[str, np.ndarray]:
    """Return the seconds of every round for each agent: CPU time and wall-clock time."""
    times: dict[str, list[tuple[float, float]]] = {}
    made = agents()
    names = list(made)
    for number in range(rounds):
        for name in names[number % 3 :] + names[: number % 3]:
            model, callback = made[name]
            cpu, clock = time.process_time(), time.perf_counter()
            model.learn(steps, callback=callback, reset_num_timesteps=False)
            times.setdefault(name, []).append((time.process_time() - cpu, time.perf_counter() - clock))
    return {name: np.array(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("--threads", 1), ("--rounds", 30), ("--steps", 50)):
        parser.add_argument(name, type=int, default=default)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*gave its largest spread.*")
    torch.set_num_threads(arguments.threads)
    times = measure(arguments.rounds, arguments.steps)
    rounds = f"{arguments.rounds} rounds of {arguments.steps} steps"
    print(f"TD3 on {ENVIRONMENT}, torch threads: {arguments.threads}, {rounds}")
    print(f"{'':8}  {'CPU ms/step':>11}  {'wall ms/step':>13}  {'speed by CPU':>20}  {'speed by wall':>20}  aim")
    for name, taken in times.items():
        cpu, clock = 1000 * np.median(taken, axis=0) / arguments.steps
        ratios = np.median(times["SB3"], axis=0) / np.median(taken, axis=0)
        low, high = np.quantile(times["SB3"] / taken, (0.25, 0.75), axis=0)
        shown = [f"{r:.2f} ({a:.2f} to {b:.2f})" for r, a, b in zip(ratios, low, high, strict=True)]
        aim = f">= {AIMS[name]}" if name in AIMS else ""
        print(f"{name:8}  {cpu:11.2f}  {clock:13.2f}  {shown[0]:>20}  {shown[1]:>20}  {aim}")


if __name__ == "__main__":
    main()
