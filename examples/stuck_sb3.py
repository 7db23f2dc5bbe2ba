"""Compare the noise of Stable-Baselines3 with `ExplorerCallback()`, for TD3 and SAC on MountainCarContinuous-v0.

    python examples/stuck_sb3.py                  # 10 seeds, 80 runs: about an hour on one core

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
SIGMA = 0.5
"""The sigma of Stable-Baselines3's noise, as in its zoo for this task."""
NOISES = {"Normal": NormalActionNoise, "Ornstein-Uhlenbeck": OrnsteinUhlenbeckActionNoise}
CASES = ("no noise", *NOISES, "ExplorerCallback()")
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
    noise = NOISES[case](np.zeros(1), np.full(1, SIGMA)) if case in NOISES else None
    sizes = {"net_arch": [64, 64]}
    model = algorithm(
        "MlpPolicy", gymnasium.make(ENV), seed=seed, action_noise=noise, policy_kwargs=sizes, **SETTINGS
    )
    evaluation = Evaluation(steps, seed)
    explorer = [ExplorerCallback(seed=seed)] if case == "ExplorerCallback()" else []
    model.learn(steps, callback=[evaluation, *explorer])
    return evaluation.returns


def draw(rows: list[dict[str, str]], lengths: dict[Any, int], path: pathlib.Path) -> None:
    """Plot every run as a thin line, and the mean of each case as a thick one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    grid = figure.subplots(len(lengths), len(CASES), sharex="row", sharey=True)
    for line, (algorithm, steps) in zip(grid, lengths.items(), strict=True):
        name = algorithm.__name__
        for number, (axes, case) in enumerate(zip(line, CASES, strict=True)):
            own = [row for row in rows if (row["algorithm"], row["case"]) == (name, case)]
            runs = [[float(value) for value in row["returns"].split()] for row in own]
            times = np.linspace(0, steps, EVALUATIONS + 1)[1:]
            for run in runs:
                axes.plot(times, run, color=f"C{number}", lw=0.7, alpha=0.5)
            if runs:
                axes.plot(times, np.mean(runs, axis=0), color=f"C{number}", lw=2.5)
            solved = sum(max(run) >= SOLVED for run in runs)
            axes.set_title(f"{name}, {case}\n{solved} of {len(runs)} seeds solve it", fontsize=9, loc="left")
            axes.set_xticks([0, steps // 2, steps], [f"{tick:,}" for tick in (0, steps // 2, steps)])
            axes.set_ylim(-45, 105)
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        line[0].set_ylabel("greedy return")
    for axes in grid[-1]:
        axes.set_xlabel("steps of training")
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
    runs = [(seed, algorithm, case) for seed in arguments.seeds for algorithm in STEPS for case in CASES]
    for seed, algorithm, case in runs:
        identity = {"algorithm": algorithm.__name__, "case": case, "seed": str(seed)}
        if not any(identity.items() <= row.items() for row in read(table)):
            returns = train(algorithm, case, seed, lengths[algorithm])
            with table.open("a", newline="") as file:
                csv.writer(file).writerow([*identity.values(), " ".join(f"{value:.2f}" for value in returns)])
            print(*identity.values(), f"{max(returns):.1f}", flush=True)
        draw(read(table), lengths, table.with_suffix(".png"))


if __name__ == "__main__":
    main()
