"""The safety study: a lake with unsafe cells beside its path, avoided by a mentor's values or a learned cost."""

from __future__ import annotations

import dataclasses

import adeu
from adeu.core.contract import Mechanism
from adeu.envs import Lake
from adeu.experiments.lib import lake_setting as lake
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import MAX, MEAN, SOLVED, VIOLATIONS, Experiment
from adeu.experiments.lib.lake_setting import LakeSetting

FLOOR = 0.1
COST = adeu.ExpectedCost()


def mentored(f: Mechanism, mentor_visits: int = 0) -> LakeSetting:
    """Return the setting of ADEU with a mentor's values for entering an unsafe cell."""
    return dataclasses.replace(lake.adaptive(f), mentor_q=-50.0, mentor_visits=mentor_visits)


def eq6(floor: float = FLOOR) -> LakeSetting:
    """Return the setting of Eq. 6; the floor replaces a cost that was not observed yet."""
    return mentored(adeu.Ratio(adeu.Counts(), COST, lam="conditioned", floor=floor))


CASES: dict[str, LakeSetting] = {
    "eps-greedy": lake.epsilon_greedy(),
    "im": lake.intrinsic_motivation(),
    "ucb": lake.ucb(),
    "adeu-eq1": mentored(adeu.Counts(), mentor_visits=100),
    "adeu-eq5": mentored(adeu.Inverse(COST, floor=FLOOR)),
    "adeu-eq6": eq6(),
}


def on_safe_lake(setting: LakeSetting) -> LakeSetting:
    return dataclasses.replace(setting, lake=Lake(safe=True))


EXPERIMENT = Experiment(
    name="safe-frozen-lake",
    title="the safety study: six ways to explore a lake with unsafe cells",
    takes="three minutes",
    lesson=(
        "A violation is a step onto an unsafe cell. The ADEU agents start with a mentor's values for such steps and "
        "differ in what reduces their exploration: many visits (Eq. 1), an expected cost (Eq. 5), or both (Eq. 6)."
    ),
    cases={name: on_safe_lake(case) for name, case in CASES.items()},
    metrics=(MEAN, MAX, VIOLATIONS, SOLVED),
    draw=plots.learning_curves,
    paper={
        "eps-greedy": {"mean": 210, "max": 739, "violations": 0.34},
        "im": {"mean": 267, "max": 780, "violations": 0.55},
        "ucb": {"mean": 12_605, "max": 65_687, "violations": 0.10},
        "adeu-eq1": {"mean": 59_865, "max": 104_487, "violations": 0.01},
        "adeu-eq5": {"mean": 7, "max": 7, "violations": 0.00},
        "adeu-eq6": {"mean": 19_255, "max": 85_087, "violations": 0.00},
    },
)
