"""Steps per second of the tabular engine on the paper's lake, beside the same loop in C and in plain Python.

    python benchmarks/tabular.py

The C loop (`tabular.c`) is compiled on the spot, draws from the same random stream and must end with the same tables.
Kernel and C run in turn, and the best of several rounds counts: the neighbours' noise only ever slows down.
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
from adeu.tabular.training import Work

LAKE = Lake(size=1500)
SIZES = (100, 300, 1000, 3000)
EPISODES = 10_000
ROUNDS = 4
PYTHON_STEPS = 50_000
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared"]


class Method(NamedTuple):
    explorer: adeu.Explorer
    learners: adeu.tabular.Learners | None
    bar: float


class CSettings(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("episodes", "max_steps", "evaluate_every", "learners")),
        *((name, ctypes.c_double) for name in ("gamma", "alpha", "beta", "shift", "temperature", "epsilon")),
        *((name, ctypes.c_double) for name in ("mask_probability", "ucb")),
    ]


def methods(num_states: int) -> dict[str, Method]:
    greedy = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())
    counts = adeu.Explorer(adeu.Counts(num_states, beta=0.9), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
    coin = adeu.Explorer(adeu.Constant(0.01), adeu.Identity(), adeu.Bernoulli())
    return {
        "adeu": Method(counts, None, 0.85),
        "eps-greedy": Method(coin, None, 0.7),
        "ucb": Method(greedy, adeu.tabular.Learners(ucb=10.0), 0.85),
    }


def compile_c(folder: str, method: int) -> Any:
    source, library = pathlib.Path(__file__).with_suffix(".c"), f"{folder}/method{method}.so"
    subprocess.run(
        ["gcc", *FLAGS, f"-DMETHOD={method}", "-DACTIONS=4", str(source), "-o", library, "-lm"], check=True
    )
    return ctypes.CDLL(library).train


def run_c(function: Any, work: Work) -> None:
    """Calls the C loop with what the kernel takes."""
    model, learner, settings = work.model, work.learner, work.settings
    x = CSettings(
        settings.episodes,
        settings.max_steps,
        settings.evaluate_every,
        learner.q.shape[1],
        *(settings.gamma, learner.steps.alpha, 0.9, 2.0, 1.0, 0.01),
        *(getattr(learner, "mask_probability", 1.0), getattr(learner, "ucb", 0.0)),
    )
    arrays = (model.next_state, model.reward, model.terminal, model.cost, model.start, learner.q, *work.record)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, work.rng, work.evaluation_rng)]
    function(ctypes.byref(x), ctypes.c_int64(model.num_states), *pointers)


def same(a: Training, b: Training) -> bool:
    """Whether two trainings wrote the same: Q tables, records and random streams."""
    one, other = a.arrays(), b.arrays()
    return all(np.array_equal(one[name], other[name]) for name in one.keys() - {"episode"})


def clock(call: Any, *given: Any) -> float:
    begun = time.perf_counter()
    call(*given)
    return time.perf_counter() - begun


def python_speed() -> float:
    """The ADEU agent as a user would write it: numpy over Gymnasium."""
    env = gymnasium.make("adeu/FrozenLake-v0", size=LAKE.size, disable_env_checker=True)
    q, visits, rng = np.zeros((LAKE.size**2, 4)), np.zeros(LAKE.size**2), np.random.default_rng(0)
    s, _ = env.reset(seed=0)
    begun = time.perf_counter()
    for _ in range(PYTHON_STEPS):
        visits[s] += 1
        trust = 1 / (1 + np.exp(2.0 - 0.9 * np.sqrt(visits[s])))
        weights = np.exp(trust * (q[s] - q[s].max()))
        a = rng.choice(4, p=weights / weights.sum())
        there, reward, terminated, truncated, _ = env.step(a)
        q[s, a] = float(reward) + (0.0 if terminated else 0.99 * q[there].max())
        s = env.reset()[0] if terminated or truncated else there
    return PYTHON_STEPS / (time.perf_counter() - begun)


def worker_memory(job: adeu.tabular.Job) -> float:
    """The peak, in MB, of a process that does nothing but run the job."""
    script = (
        "import pickle, resource, sys; from adeu import tabular; tabular.run(pickle.load(sys.stdin.buffer));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)"
    )
    done = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(job), capture_output=True, check=True)
    return float(done.stdout)


def make_job(lake: Lake, name: str, episodes: int) -> adeu.tabular.Job:
    model = adeu.tabular.from_mdp(lake_mdp(lake))
    method = methods(model.num_states)[name]
    return adeu.tabular.make_job(
        model, method.explorer, episodes=episodes, max_steps=lake.max_steps, seed=0, learners=method.learners
    )


def compare(name: str, c: Any) -> tuple[float, float]:
    """Steps per second of the kernel and of C."""
    job = make_job(LAKE, name, EPISODES)
    Training(job).advance(1)
    times = np.full((ROUNDS, 2), np.inf)
    for row in times:
        ours, theirs = Training(job), Training(job)
        row[:] = clock(ours.advance, EPISODES), clock(run_c, c, theirs.work)
        assert same(ours, theirs), f"{name}: the kernel and C disagree"
    kernel_speed, c_speed = ours.steps / times.min(axis=0)
    return kernel_speed, c_speed


def main() -> None:
    python = python_speed()
    print(f"plain Python + Gymnasium, adeu: {python / 1e6:.3f} M steps/s\n")
    print(f"{'M steps/s':<11} {'kernel':>8} {'C':>8}  {'kernel/C':>8}  aim")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, method) in enumerate(methods(1).items()):
            kernel, c = compare(name, compile_c(folder, number))
            print(f"{name:<11} {kernel / 1e6:8.2f} {c / 1e6:8.2f}  {kernel / c:8.2f}  >= {method.bar}", end="")
            print(f", {kernel / python:.0f} times plain Python" if name == "adeu" else "")

    print("\nadeu, by the lake's size:")
    for size in SIZES:
        job = make_job(Lake(size=size), "adeu", EPISODES)
        trainings = [Training(job) for _ in range(2)]
        seconds = min(clock(training.advance, EPISODES) for training in trainings)
        print(f"{size:>5}: {trainings[0].steps / seconds / 1e6:6.2f} M steps/s")
    print(f"\npeak memory of a worker: {worker_memory(make_job(LAKE, 'adeu', EPISODES)):.0f} MB")


if __name__ == "__main__":
    main()
