"""The motivating example: which method finds the one path through a 1500 x 1500 lake?"""

from __future__ import annotations

import dataclasses

from adeu.experiments.lib import lake_setting as lake
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import FIRST_SOLVED, MAX, MEAN, SOLVED, Experiment

CASES = {
    "eps-greedy": lake.epsilon_greedy(),
    "adeu": lake.adeu_counts(),
    "im": lake.intrinsic_motivation(),
    "ucb": lake.ucb(),
}

TRACED = (1 / 60, 1 / 12, 1 / 6)
"""ADEU solves the lake soon after the last of these fractions of training."""

EXPERIMENT = Experiment(
    name="frozen-lake",
    title="the motivating example: four ways to explore a frozen lake of size {lake.size}",
    takes="two minutes",
    smaller="--set lake.size=400 --set episodes=8000: the same order, in ten seconds",
    lesson=(
        "Each figure is the return of greedy episodes; only an agent that learned all 2,998 steps of the path gets "
        "104,487. ADEU follows the known path and explores at its end, so the known path grows; epsilon-greedy often "
        "falls into a hole on the way. Intrinsic motivation (im) has an epsilon of 0.01, where the paper's text says "
        "that it acts greedily: frozen-lake-sensitivity has the greedy one, which solves the lake. First solved is "
        "evaluated every 100 episodes; the paper's 4,515 is not a mean of five multiples of 100, so it is measured "
        "differently."
    ),
    cases={name: dataclasses.replace(case, traced=TRACED) for name, case in CASES.items()},
    metrics=(MEAN, MAX, FIRST_SOLVED, SOLVED),
    draw=plots.learning_curves,
    paper={
        "eps-greedy": {"mean": 334, "max": 983},
        "adeu": {"mean": 88_854, "max": 104_487, "first_solved": 4_515},
        "im": {"mean": 393, "max": 989},
        "ucb": {"mean": 36_070, "max": 104_487, "first_solved": 16_800},
    },
)
