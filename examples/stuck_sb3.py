"""My agent is stuck: Stable-Baselines3's TD3 and SAC on MountainCarContinuous-v0, with its own noise and with adeu's.

    python examples/stuck_sb3.py                   # 80 runs, about two hours on a core; skips complete ones
    python examples/stuck_sb3.py --seeds 1 --steps 5000

Each run adds a line to `stuck.csv`; the picture is `stuck.png` beside it. Several processes may share a folder, each
with seeds of its own (--first).
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
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise

from adeu.adapters.sb3 import ExplorerCallback

ENV, EVERY, EPISODES = "MountainCarContinuous-v0", 1_000, 5
SIGMA = 0.5
"""Of Stable-Baselines3's noises: its zoo's value for this task."""
CASES = ("no noise", "Normal", "Ornstein-Uhlenbeck", "ExplorerCallback()")
NOISES = {"Normal": NormalActionNoise, "Ornstein-Uhlenbeck": OrnsteinUhlenbeckActionNoise}


def train(algorithm: Any, case: str, seed: int, steps: int) -> list[float]:
    """The mean return of greedy episodes after every 1,000 steps."""
    noise = NOISES[case](np.zeros(1), np.full(1, SIGMA)) if case in NOISES else None
    model = algorithm(
        "MlpPolicy",
        gymnasium.make(ENV),
        seed=seed,
        learning_starts=1_000,
        learning_rate=1e-3,
        train_freq=2,
        action_noise=noise,
        policy_kwargs={"net_arch": [64, 64]},
    )
    evaluation = EvalCallback(
        make_vec_env(ENV, EPISODES, seed=seed + 10_000), n_eval_episodes=EPISODES, eval_freq=EVERY, verbose=0
    )
    explorer = [ExplorerCallback(seed=seed)] if case == "ExplorerCallback()" else []
    model.learn(steps, callback=[evaluation, *explorer])
    return [float(np.mean(returns)) for returns in evaluation.evaluations_results]


def draw(rows: list[dict[str, str]], path: pathlib.Path) -> None:
    """Every run as a thin line, and the mean of each case."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    grid = figure.subplots(2, len(CASES), sharex=True, sharey=True)
    for line, algorithm in zip(grid, ("TD3", "SAC"), strict=True):
        for number, (axes, case) in enumerate(zip(line, CASES, strict=True)):
            runs = [
                [float(value) for value in row["returns"].split()]
                for row in rows
                if (row["algorithm"], row["case"]) == (algorithm, case)
            ]
            for run in runs:
                axes.plot(EVERY * np.arange(1, len(run) + 1), run, color=f"C{number}", lw=0.7, alpha=0.5)
            if runs:
                solved = sum(np.mean(run[-5:]) > 80 for run in runs)
                axes.plot(EVERY * np.arange(1, len(runs[0]) + 1), np.mean(runs, axis=0), color=f"C{number}", lw=2.5)
                axes.set_title(f"{algorithm}, {case}\n{solved} of {len(runs)} reach the top", fontsize=9, loc="left")
            axes.set(ylim=(-105, 105))
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[1]:
        axes.set_xlabel("steps")
    for axes in grid[:, 0]:
        axes.set_ylabel("return")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=20_000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = arguments.out / "stuck.csv"
    arguments.out.mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for algorithm in (TD3, SAC):
            for case in CASES:
                identity = {"algorithm": algorithm.__name__, "case": case, "seed": str(seed)}
                if any(identity.items() <= row.items() for row in read(table)):
                    continue
                returns = train(algorithm, case, seed, arguments.steps)
                with table.open("a", newline="") as file:
                    csv.writer(file).writerow([*identity.values(), " ".join(f"{each:.2f}" for each in returns)])
                print(*identity.values(), f"{np.mean(returns[-5:]):.1f}", flush=True)
                draw(read(table), arguments.out / "stuck.png")


def read(table: pathlib.Path) -> list[dict[str, str]]:
    if not table.exists():
        return []
    with table.open(newline="") as file:
        return list(csv.DictReader(file, ("algorithm", "case", "seed", "returns")))


if __name__ == "__main__":
    main()
