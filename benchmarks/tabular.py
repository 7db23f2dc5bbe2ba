"""Measure steps per second of the tabular engine on the paper's lake, and of the same loop in C and in plain Python.

    python benchmarks/tabular.py

This script compiles the C loop (`tabular.c`), which draws from the same random stream and must end with the same
tables. Kernel and C alternate, and each runs first in every other round. The result is the best CPU time of the
thread over several rounds, because other load can only slow a round down. docs/images/speed.png shows the speed by
lake size and by number of episodes.
"""

from __future__ import annotations

import ctypes
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import adeu
import adeu.envs
from adeu.envs import Lake, lake_mdp
from adeu.tabular import Training
from adeu.tabular.job_training import KernelArguments

LAKE = Lake(size=1500)
EPISODES = 10_000
ROUNDS = 12
SIZES = (100, 300, 1000, 1500, 3000)
SIZES_EPISODES = 15_000_000
"""Episodes times the lake's size: gives about the same number of steps for every size."""
LENGTHS = (1_000, 3_000, 10_000, 30_000)
GROWTH_ROUNDS = 3
PICTURE = pathlib.Path(__file__).parents[1] / "docs" / "images" / "speed.png"
PYTHON_STEPS = 50_000
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared"]


class Method(NamedTuple):
    agent: adeu.tabular.QLearning
    bar: float


class CSettings(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("episodes", "max_steps", "evaluate_every", "learners")),
        *((name, ctypes.c_double) for name in ("gamma", "alpha", "beta", "shift", "temperature", "epsilon")),
        *((name, ctypes.c_double) for name in ("mask_probability", "ucb")),
    ]


GREEDY = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())
COUNTS = adeu.Explorer(adeu.Counts(beta=0.9), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
COIN = adeu.Explorer(adeu.Constant(0.01), adeu.Identity(), adeu.Bernoulli())
METHODS = {
    "adeu": Method(adeu.tabular.QLearning(COUNTS), 0.85),
    "eps-greedy": Method(adeu.tabular.QLearning(COIN), 0.7),
    "ucb": Method(adeu.tabular.QLearning(GREEDY, learners=adeu.tabular.Learners(ucb=10.0)), 0.85),
}


def compile_c(folder: str, method: int) -> Any:
    source, library = pathlib.Path(__file__).with_suffix(".c"), f"{folder}/method{method}.so"
    subprocess.run(
        ["gcc", *FLAGS, f"-DMETHOD={method}", "-DACTIONS=4", str(source), "-o", library, "-lm"], check=True
    )
    return ctypes.CDLL(library).train


def run_c(function: Any, given: KernelArguments) -> None:
    """Call the C loop with the kernel's arguments."""
    model, learner, settings = given.model, given.learner, given.settings
    x = CSettings(
        settings.episodes,
        settings.max_steps,
        settings.evaluate_every,
        learner.q.shape[1],
        *(settings.gamma, learner.steps.alpha, 0.9, 2.0, 1.0, 0.01),
        *(getattr(learner, "mask_probability", 1.0), getattr(learner, "ucb", 0.0)),
    )
    arrays = (model.next_state, model.reward, model.terminal, model.cost, model.start, learner.q, *given.record)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, given.rng, given.evaluation_rng)]
    function(ctypes.byref(x), ctypes.c_int64(model.num_states), *pointers)


def same(a: Training, b: Training) -> bool:
    """Return whether two trainings have equal Q tables, records and random streams."""
    one, other = a.arrays(), b.arrays()
    return all(np.array_equal(one[name], other[name]) for name in one.keys() - {"episode"})


def clock(call: Any, *given: Any) -> float:
    begun = time.thread_time()
    call(*given)
    return time.thread_time() - begun


def python_speed() -> float:
    """Return the steps per second of a typical hand-written ADEU agent in numpy and Gymnasium."""
    env = gymnasium.make("adeu/FrozenLake-v0", size=LAKE.size, disable_env_checker=True)
    q, visits, rng = np.zeros((LAKE.size**2, 4)), np.zeros(LAKE.size**2), np.random.default_rng(0)
    s, _ = env.reset(seed=0)
    begun = time.thread_time()
    for _ in range(PYTHON_STEPS):
        visits[s] += 1
        trust = 1 / (1 + np.exp(2.0 - 0.9 * np.sqrt(visits[s])))
        weights = np.exp(trust * (q[s] - q[s].max()))
        a = rng.choice(4, p=weights / weights.sum())
        there, reward, terminated, truncated, _ = env.step(a)
        q[s, a] = float(reward) + (0.0 if terminated else 0.99 * q[there].max())
        s = env.reset()[0] if terminated or truncated else there
    return PYTHON_STEPS / (time.thread_time() - begun)


def worker_memory(job: adeu.tabular.Job) -> float:
    """Return the peak memory, in MB, of a process that only runs the job."""
    # ru_maxrss would include this process's memory at the fork.
    script = (
        "import pickle, sys; from adeu import tabular; tabular.run(pickle.load(sys.stdin.buffer));"
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    done = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(job), capture_output=True, check=True)
    return float(done.stdout) / 1e3


def make_job(lake: Lake, name: str, episodes: int) -> adeu.tabular.Job:
    model = adeu.tabular.from_mdp(lake_mdp(lake))
    return METHODS[name].agent.job(model, episodes=episodes, max_steps=lake.max_steps, seed=0)


def compare(name: str, c: Any) -> tuple[float, float]:
    """Return the steps per second of the kernel and of C."""
    job = make_job(LAKE, name, EPISODES)
    Training(job).advance(1)
    times = np.full((ROUNDS, 2), np.inf)
    for number in range(ROUNDS):
        ours, theirs = Training(job), Training(job)
        calls: list[Any] = [(ours.advance, EPISODES), (run_c, c, theirs.arguments)]
        for column in (number % 2, 1 - number % 2):
            times[number, column] = clock(*calls[column])
        assert same(ours, theirs), f"{name}: the kernel and C disagree"
    kernel_speed, c_speed = ours.steps / times.min(axis=0)
    return kernel_speed, c_speed


def speed(size: int, episodes: int) -> float:
    """Return the steps per second of ADEU."""
    job = make_job(Lake(size=size), "adeu", episodes)
    Training(job).advance(0)
    best = 0.0
    for _ in range(GROWTH_ROUNDS):
        training = Training(job)
        seconds = clock(training.advance, episodes)
        best = max(best, training.steps / seconds)
    return best


def growth() -> None:
    """Print and plot the speed by lake size and by number of episodes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    curves = {
        "lake's size": {size: speed(size, SIZES_EPISODES // size) for size in SIZES},
        "episodes": {episodes: speed(LAKE.size, episodes) for episodes in LENGTHS},
    }
    for axis, (label, curve) in zip(axes, curves.items(), strict=True):
        print(f"\nadeu, M steps/s by the {label}:")
        print("\n".join(f"{x:>6} {y / 1e6:6.2f}" for x, y in curve.items()))
        print(f"slowest/fastest {min(curve.values()) / max(curve.values()):.2f}, aim > 0.5")
        axis.plot(list(curve), [y / 1e6 for y in curve.values()], "o-")
        axis.set(xscale="log", xlabel=label)
        axis.grid(alpha=0.3)
    axes[0].set(ylabel="ADEU, M steps/s", ylim=(0, None))
    figure.savefig(PICTURE, dpi=150)


def main() -> None:
    python = python_speed()
    print(f"plain Python + Gymnasium, adeu: {python / 1e6:.3f} M steps/s\n")
    print(f"{'M steps/s':<11} {'kernel':>8} {'C':>8}  {'kernel/C':>8}  aim")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, method) in enumerate(METHODS.items()):
            kernel, c = compare(name, compile_c(folder, number))
            print(f"{name:<11} {kernel / 1e6:8.2f} {c / 1e6:8.2f}  {kernel / c:8.2f}  >= {method.bar}", end="")
            print(f", {kernel / python:.0f} times plain Python" if name == "adeu" else "")

    growth()
    print(f"\npeak memory of a worker: {worker_memory(make_job(LAKE, 'adeu', EPISODES)):.0f} MB")


if __name__ == "__main__":
    main()
