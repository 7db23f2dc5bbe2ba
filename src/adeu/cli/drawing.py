"""`adeu plot`: plots an experiment from its complete runs."""

from __future__ import annotations

import pathlib

from adeu.cli.commands import Plot
from adeu.cli.running import family_of, read_seeds
from adeu.experiments import locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import Experiment


def main(command: Plot) -> int:
    with plots.drawing():
        for path in draw(command):
            print(path)
    return 0


def draw(command: Plot) -> list[pathlib.Path]:
    if command.what == "normalizers":
        from adeu.experiments.lib import normalizer_figure

        return normalizer_figure.draw(command.out)
    seeds = read_seeds(command.seeds) if command.seeds else None
    found = [(each, each.complete(command.out, seeds)) for each in named(command.what)]
    drawn = [(each, curves) for each, curves in found if curves]
    if not drawn:
        raise ValueError(
            f"adeu plot: {command.out} has no complete run of {command.what}; use adeu run or adeu train first"
        )
    paths = [path for each, curves in drawn for path in each.draw(curves, command.out / each.name)]
    if family := family_of(command.what):
        paths += family.draw({each.name: curves for each, curves in drawn}, command.out / family.name)
    return paths


def named(path: str) -> tuple[Experiment, ...]:
    """Returns the experiments that a path names, as for `adeu run`, or `train/ENV`."""
    kind, _, env = path.partition("/")
    if kind == "train" and env:
        from adeu.experiments.lib.train import in_environment

        return (in_environment(env, {}),)
    return locate(path)
