"""Sensitivity of the frozen lake's table: one setting changed at a time, including some where ADEU is not first."""

from __future__ import annotations

import dataclasses
from typing import Any

from adeu.envs import Lake
from adeu.envs.layouts import Layout
from adeu.experiments.lib import lake_setting as lake
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import FIRST_SOLVED, MAX, MEAN, SOLVED, Experiment
from adeu.experiments.lib.lake_setting import LakeSetting
from adeu.experiments.safe_frozen_lake import eq6, on_safe_lake

LAYOUTS: tuple[Layout, ...] = ("staircase", "random", "Z")
METHODS = {
    "adeu": lake.adeu_counts(),
    "eps-greedy": lake.epsilon_greedy(),
    "ucb": lake.ucb(),
    "greedy": lake.epsilon_greedy(0.0),
}


def for_each_method(label: str, *methods: str, **changes: Any) -> dict[str, LakeSetting]:
    """Return these methods with fields of the setting changed."""
    return {f"{name} {label}": dataclasses.replace(METHODS[name], **changes) for name in methods}


def all_agents(label: str, **changes: Any) -> dict[str, LakeSetting]:
    """Return all methods with fields of the agent changed."""
    return {
        f"{name} {label}": dataclasses.replace(method, agent=dataclasses.replace(method.agent, **changes))
        for name, method in METHODS.items()
    }


CASES: dict[str, LakeSetting] = {
    **METHODS,
    **{f"adeu beta={beta}": lake.adeu_counts(beta=beta) for beta in (0.1, 0.3, 0.5, 1.5, 3.0)},
    **{f"adeu shift={shift}": lake.adeu_counts(shift=shift) for shift in (0.0, 1.0, 4.0)},
    **{f"eps-greedy epsilon={epsilon}": lake.epsilon_greedy(epsilon) for epsilon in (0.001, 0.002, 0.005, 0.1)},
    "im": lake.intrinsic_motivation(),
    **{f"im epsilon=0 beta={beta}": lake.intrinsic_motivation(beta, epsilon=0.0) for beta in (0.9, 0.1)},
    **{f"ucb mask={mask}": lake.ucb(mask_probability=mask) for mask in (0.25, 0.75, 1.0)},
    "ucb mask=1.0 alpha=0.1": lake.ucb(mask_probability=1.0, alpha=0.1),
    **{f"ucb lambda={lam}": lake.ucb(lam=lam) for lam in (1.0, 3.0, 30.0)},
    **all_agents("alpha=0.5", alpha=0.5),
    **all_agents("alpha=0.1", alpha=0.1),
    **all_agents("Q0=-20", q=-20.0),
    **all_agents("Q0=10", q=10.0),
    **for_each_method("back_cost=0", "adeu", "eps-greedy", "ucb", "greedy", lake=Lake(back_cost=0.0)),
    **for_each_method("back_cost=1", "adeu", "eps-greedy", "ucb", "greedy", lake=Lake(back_cost=1.0)),
    **for_each_method("back_cost=3", "adeu", "eps-greedy", "ucb", "greedy", lake=Lake(back_cost=3.0)),
    **for_each_method("printed reward", "adeu", "eps-greedy", "ucb", "greedy", lake=Lake(preset="printed")),
    **{
        name: case
        for layout in LAYOUTS
        for name, case in for_each_method(layout, "adeu", "eps-greedy", "ucb", lake=Lake(layout=layout)).items()
    },
    "safe ucb": on_safe_lake(lake.ucb()),
    **{f"safe adeu-eq6 floor={floor}": on_safe_lake(eq6(floor)) for floor in (0.05, 0.1, 0.2, 0.5, 1.0)},
}

EXPERIMENT = Experiment(
    name="frozen-lake-sensitivity",
    title="sensitivity of the frozen lake's table to its settings",
    takes="half an hour",
    lesson=(
        "Compare when each case first solves the lake. With the table's settings ADEU is before epsilon-greedy and "
        "UCB. But plain greedy is before all three, because values that start at 0 are optimistic if mistakes cost "
        "10; so is intrinsic motivation that acts greedily (epsilon=0), as in the paper's text. UCB is before ADEU "
        "if every learner sees every step."
    ),
    cases=CASES,
    metrics=(MEAN, MAX, FIRST_SOLVED, SOLVED),
    draw=plots.first_solved,
    seeds=range(3),
)
