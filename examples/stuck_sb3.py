"""Compare the noise of Stable-Baselines3 with `ExplorerCallback()`, for TD3 and SAC on MountainCarContinuous-v0.

    python examples/stuck_sb3.py                  # 10 seeds, 130 runs: about an hour and a half on one core

Skips complete runs. Each run adds a line to stuck.csv; the plot is stuck.png. With `--steps N` they are stuck-N.csv
and stuck-N.png. Processes may share a folder if their seeds differ.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise

from adeu.adapters.sb3 import ExplorerCallback

ENV, STEPS = "MountainCarContinuous-v0", {TD3: 20_000, SAC: 10_000}
EVALUATIONS, EPISODES, SOLVED = 10, 5, 90.0
"""SOLVED: Gymnasium's threshold of the return for a solved task."""
NOISES: dict[str, tuple[Any, float]] = {
    "Normal": (NormalActionNoise, 0.5),
    "Ornstein-Uhlenbeck": (OrnsteinUhlenbeckActionNoise, 0.5),
    "Normal, sigma 1": (NormalActionNoise, 1.0),
    "Ornstein-Uhlenbeck, sigma 1": (OrnsteinUhlenbeckActionNoise, 1.0),
}
"""Stable-Baselines3's noise: with the sigma of its zoo for this task, and with that of the callback."""
GSDE, CALLBACK = "gSDE", "ExplorerCallback()"
CASES = {TD3: ("no noise", *NOISES, CALLBACK), SAC: ("no noise", *NOISES, GSDE, CALLBACK)}
SETTINGS = {"learning_starts": 500, "batch_size": 64, "train_freq": 4, "gradient_steps": 4, "learning_rate": 1e-3}


class Evaluation(BaseCallback):
    """Evaluate greedy episodes after every tenth of the training."""

    def __init__(self, steps: int, seed: int) -> None:
        super().__init__()
        self.every = steps // EVALUATIONS
        self.returns = list[float]()
        self.env = make_vec_env(ENV, EPISODES, seed=seed + 10_000)

    def _on_step(self) -> bool:
        if self.num_timesteps % self.every == 0:
            mean, _ = evaluate_policy(self.model, self.env, EPISODES)
            self.returns.append(float(np.mean(mean)))
        return True


def train(algorithm: Any, case: str, seed: int, steps: int) -> list[float]:
    """Return the mean return of greedy episodes after every tenth of the training."""
    settings: dict[str, Any] = SETTINGS | {"policy_kwargs": {"net_arch": [64, 64]}, "seed": seed}
    if case in NOISES:
        noise, sigma = NOISES[case]
        settings["action_noise"] = noise(np.zeros(1), np.full(1, sigma))
    if case == GSDE:
        settings["use_sde"] = True
    model = algorithm("MlpPolicy", gymnasium.make(ENV), **settings)
    evaluation = Evaluation(steps, seed)
    explorer = [ExplorerCallback(seed=seed)] if case == CALLBACK else []
    model.learn(steps, callback=[evaluation, *explorer])
    return evaluation.returns


def draw(rows: list[dict[str, str]], path: pathlib.Path) -> None:
    """Plot the best evaluation of every run as a dot."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, (algorithm, cases) in zip(figure.subplots(1, 2), CASES.items(), strict=True):
        for place, case in enumerate(cases):
            identity = {"algorithm": algorithm.__name__, "case": case}
            best = np.array(
                [max(map(float, row["returns"].split())) for row in rows if identity.items() <= row.items()]
            )
            height = place + np.linspace(-0.25, 0.25, len(best))
            axes.plot(best, height, "o", color="C3" if case == CALLBACK else "C0", ms=4, alpha=0.6)
            count = f"{np.sum(best >= SOLVED)} of {len(best)}"
            axes.annotate(count, (112, place), va="center", fontsize=9, annotation_clip=False)
        axes.axvline(SOLVED, color="gray", lw=0.8, ls=":")
        axes.set_yticks(range(len(cases)), cases, fontsize=9)
        axes.set(xlim=(-45, 108), ylim=(len(cases) - 0.5, -0.5), xlabel="best greedy return of each seed")
        axes.set_title(f"{algorithm.__name__}; right: seeds that solve it", fontsize=9, loc="left")
        axes.grid(axis="x", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def read(table: pathlib.Path) -> list[dict[str, str]]:
    if not table.exists():
        return []
    with table.open(newline="") as file:
        return list(csv.DictReader(file, ("algorithm", "case", "seed", "returns")))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument(
        "--steps", type=int, help="training steps of each agent; default: 20,000 for TD3, 10,000 for SAC"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    lengths = {algorithm: arguments.steps or steps for algorithm, steps in STEPS.items()}
    table = arguments.out / (f"stuck-{arguments.steps}.csv" if arguments.steps else "stuck.csv")
    runs = [(seed, algorithm, case) for seed in arguments.seeds for algorithm in STEPS for case in CASES[algorithm]]
    for seed, algorithm, case in runs:
        identity = {"algorithm": algorithm.__name__, "case": case, "seed": str(seed)}
        if not any(identity.items() <= row.items() for row in read(table)):
            returns = train(algorithm, case, seed, lengths[algorithm])
            with table.open("a", newline="") as file:
                csv.writer(file).writerow([*identity.values(), " ".join(f"{value:.2f}" for value in returns)])
            print(*identity.values(), f"{max(returns):.1f}", flush=True)
        draw(read(table), table.with_suffix(".png"))


if __name__ == "__main__":
    main()
