"""DeepSea with left and right assigned at random in every cell, so that repeating an action has no advantage."""

from __future__ import annotations

from adeu.experiments import deep_sea
from adeu.experiments.lib.experiment import Family

SIZES = (10, 20, 30, 40)
TITLE = "DeepSea with shuffled actions"

EXPERIMENT = Family(
    name="deep-sea-shuffled",
    title=f"{TITLE}: steps to solve over the sea's size",
    members=tuple(
        deep_sea.member(
            "deep-sea-shuffled",
            size,
            {name: deep_sea.shuffled(case) for name, case in deep_sea.cases(size).items()},
            TITLE,
        )
        for size in SIZES
    ),
    draw=deep_sea.draw_all,
)
