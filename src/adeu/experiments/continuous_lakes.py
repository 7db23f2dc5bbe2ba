"""The continuous lake with other directions in each seed: whether the result holds on more than one lake."""

from __future__ import annotations

import dataclasses

from adeu.experiments import continuous_lake

NAMES = (
    "sac",
    "sac-constant-0.1",
    "sac-constant-0.3",
    "sac-rnd",
    "sac-stakes",
    "sac-stakes-mean-matched",
    "sac-stakes-shuffled",
)

EXPERIMENT = dataclasses.replace(
    continuous_lake.EXPERIMENT,
    name="continuous-lakes",
    title="The continuous lake with other directions in each seed, SAC",
    lesson="Each seed has a lake of its own, so the intervals also cover other lakes.",
    cases={
        name: dataclasses.replace(continuous_lake.CASES[name], env="ContinuousLake, another per seed")
        for name in NAMES
    },
    reference="sac-stakes",
)
