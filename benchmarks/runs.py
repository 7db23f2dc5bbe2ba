"""What the runs layer gives and costs: two workers beside one, and a run in the layer beside a bare loop.

    python benchmarks/runs.py

Each round measures, one after the other: the same sweep with one and with two workers, and one training in the layer,
checkpoints and rows on disk, beside the same `Training.advance` calls alone. Processes are warm: start-up is not
counted. The medians of the rounds' ratios are printed, and how far they scatter.
"""

from __future__ import annotations

import dataclasses
import pathlib
import statistics
import tempfile
import time
from collections.abc import Iterator

from adeu.envs import Lake
from adeu.experiments.lake import adeu_counts
from adeu.runs.engines import local
from adeu.runs.folder import Folder
from adeu.runs.spec import Spec
from adeu.runs.tabular import TabularTrainer
from adeu.runs.work import work
from adeu.tabular import Training

ROUNDS = 7
SETTING = dataclasses.replace(adeu_counts(), lake=Lake(size=400), episodes=6_000)
WARM = dataclasses.replace(SETTING, episodes=100)


def sweep_seconds(jobs: int, runs: int = 6) -> float:
    """From the first sign of a run to the end of the last; each worker has done a short one before."""
    specs = [Spec("warm", "adeu", seed, WARM) for seed in range(jobs)]
    specs += [Spec("lake", "adeu", seed, SETTING) for seed in range(runs)]
    begun = 0.0
    with tempfile.TemporaryDirectory() as out:
        for event in local.run(specs, pathlib.Path(out), jobs):
            if event.spec.experiment == "lake" and not begun:
                begun = time.perf_counter()
        return time.perf_counter() - begun


def layer_seconds() -> float:
    trainer = _warm_trainer()
    with tempfile.TemporaryDirectory() as out:
        begun = time.perf_counter()
        work(Folder(pathlib.Path(out)), trainer, lambda _: None)
        return time.perf_counter() - begun


def bare_seconds() -> float:
    training = Training(_warm_trainer().job)
    training.advance(0)
    begun = time.perf_counter()
    while training.left:
        training.advance(training.job.settings.evaluate_every)
    return time.perf_counter() - begun


def _warm_trainer() -> TabularTrainer:
    """Compiled, and not yet begun."""
    trainer = SETTING.trainer(0)
    trainer._training.advance(0)
    return trainer


def ratios() -> Iterator[tuple[float, float]]:
    """Each round's throughput of two workers by that of one, and the layer's cost."""
    for _ in range(ROUNDS):
        one, two = sweep_seconds(1), sweep_seconds(2)
        bare, layer = zip(*((bare_seconds(), layer_seconds()) for _ in range(5)), strict=True)
        yield one / two, min(layer) / min(bare) - 1


def main() -> None:
    speed, cost = zip(*ratios(), strict=True)
    print(f"{'':24} {'median':>8} {'lowest':>8} {'highest':>8}  aim")
    for name, values, form, aim in (("two workers / one", speed, ".2f", "> 1.7"), ("cost", cost, ".1%", "< 2%")):
        figures = (f"{value:8{form}}" for value in (statistics.median(values), min(values), max(values)))
        print(f"{name:24} {' '.join(figures)}  {aim}")


if __name__ == "__main__":
    main()
