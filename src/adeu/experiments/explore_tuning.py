"""How the amplitudes of `explore` are chosen: four for every case that has one, on other seeds."""

from __future__ import annotations

from adeu.experiments import explore
from adeu.experiments.lib.experiment import Family
from adeu.experiments.lib.explore_table import explore_table
from adeu.experiments.lib.jax_setting import JaxSetting

AMPLITUDES = (0.1, 0.25, 0.5, 1.0), (0.03, 0.1, 0.3, 1.0)
"""In a Box and of coins."""
SEEDS = range(1_000, 1_003)


def candidates(task: str) -> dict[str, JaxSetting]:
    """Every amplitude of each case that depends on it."""
    each = AMPLITUDES[task in explore.DISCRETE]
    return {
        f"{case} {amplitude}": explore.setting(task, build(amplitude))
        for case, build in explore.builds(task).items()
        if build(each[0]) != build(each[1])
        for amplitude in each
    }


EXPERIMENT = Family(
    name="explore-tuning",
    title="Tasks where exploration decides, candidates: four amplitudes for every case",
    members=tuple(
        explore.member("explore-tuning", task, candidates(task), SEEDS, reference="") for task in explore.SCALES
    ),
    draw=explore.draw_all,
    table=explore_table,
)
