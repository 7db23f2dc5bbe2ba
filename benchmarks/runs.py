"""Measure the speed-up of two workers over one, and the overhead of a run over its training alone.

    python benchmarks/runs.py

Each round measures, one after the other: the speed-up of two plain Python processes over one, the limit of the
machine; the same sweep with one and with two workers of one thread each, on a lake, in the deep sea over tables and
over networks, and of TD3 on Hopper; and the time that a run spends outside its training, for rows and files. Start-up
and compilation are not counted. Prints the median, the lowest and the highest round.
"""

from __future__ import annotations

import dataclasses
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from adeu.experiments import deep_sea, deep_sea_mlp, mujoco
from adeu.experiments.lib.lake_setting import adeu_counts
from adeu.runs.engines import local
from adeu.runs.engines import threads as limits
from adeu.runs.folder import Folder
from adeu.runs.spec import Setting, Spec
from adeu.runs.work import work

ROUNDS = 3
SETTING = adeu_counts()
"""As in `adeu run frozen-lake`."""
TABLE = deep_sea.cases(40)["ez-carried"]
NETWORK = dataclasses.replace(deep_sea_mlp.cases(20)["ez-carried"], steps=80_000)
TD3 = dataclasses.replace(mujoco.cases("Hopper-v5", "td3")["rnd"], steps=3_000, warmup=1_000, evaluate_every=3_000)
SWEEPS: dict[str, tuple[Setting, Setting]] = {
    "lake": (SETTING, dataclasses.replace(SETTING, episodes=100)),
    "deep-sea": (TABLE, dataclasses.replace(TABLE, steps=10_000)),
    "deep-sea-mlp": (NETWORK, dataclasses.replace(NETWORK, steps=1_000)),
    "td3": (TD3, dataclasses.replace(TD3, steps=1_100, evaluate_every=1_100)),
}
"""The measured setting, and a short version that warms up a worker."""


def sweep_seconds(name: str, jobs: int, runs: int = 4) -> float:
    """Return the seconds from the first event of the measured runs to their end, after a short run on each worker."""
    setting, short = SWEEPS[name]
    specs = [Spec("warm", "adeu", seed, short) for seed in range(jobs)]
    specs += [Spec(name, "adeu", seed, setting) for seed in range(runs)]
    begun = 0.0
    with tempfile.TemporaryDirectory() as out:
        for event in local.run(specs, pathlib.Path(out), jobs):
            if event.spec.experiment == name and not begun:
                begun = time.perf_counter()
        return time.perf_counter() - begun


def cost(clock: Callable[[], float]) -> float:
    """Return the time of a run outside its `Training.advance` calls, relative to the time inside them."""
    trainer, inside = SETTING.trainer(0), 0.0
    training = trainer._training
    advance = training.advance

    def timed(episodes: int) -> None:
        nonlocal inside
        begun = clock()
        advance(episodes)
        inside += clock() - begun

    timed(0)
    inside, training.advance = 0.0, timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as out:
        begun = clock()
        work(Folder(pathlib.Path(out)), trainer, lambda _: None)
        return (clock() - begun) / inside - 1


def machine_ratio() -> float:
    """Return the speed-up of two processes over one, without this library."""
    command = [sys.executable, "-c", "sum(range(10**8))"]
    times = []
    for processes in (1, 2):
        begun = time.perf_counter()
        for process in [subprocess.Popen(command) for _ in range(processes)]:
            process.wait()
        times.append(time.perf_counter() - begun)
    return 2 * times[0] / times[1]


def rounds() -> Iterator[tuple[float, ...]]:
    """Yield for each round: the machine's speed-up, those of two workers, and the overhead in wall and CPU time."""
    for _ in range(ROUNDS):
        two = [sweep_seconds(name, 1) / sweep_seconds(name, 2) for name in SWEEPS]
        yield machine_ratio(), *two, cost(time.perf_counter), cost(time.process_time)


def main() -> None:
    one_thread = limits.limit(1)
    limits.limit = lambda threads: (
        one_thread
    )  # a single worker would get two threads, which slows down small networks
    machine, *two, wall, process = zip(*rounds(), strict=True)
    print(f"{'':32} {'median':>8} {'lowest':>8} {'highest':>8}  aim")
    for name, values, form, aim in (
        ("two processes / one", machine, ".2f", "the machine's limit"),
        *((f"two workers / one, {name}", values, ".2f", "> 1.7") for name, values in zip(SWEEPS, two, strict=True)),
        ("time outside training", wall, ".1%", "< 2%"),
        ("... in CPU time", process, ".1%", "< 2%"),
    ):
        figures = (f"{value:8{form}}" for value in (statistics.median(values), min(values), max(values)))
        print(f"{name:32} {' '.join(figures)}  {aim}")


if __name__ == "__main__":
    main()
