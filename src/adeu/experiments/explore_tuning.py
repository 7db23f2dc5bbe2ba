"""Tunes the amplitudes and the D of `explore`: every candidate on each task, on other seeds.

Each D is tried with a constant spread. The adaptive agents are tried with the best D of these, stored in
`explore_tuned`; RND and stakes also with `Options`, so that one composition is tried on every task.
"""

from __future__ import annotations

import functools

from adeu.agents.agent import AnyAgent
from adeu.experiments import explore
from adeu.experiments.lib.experiment import Family
from adeu.experiments.lib.explore_choice import Candidate, choice_table
from adeu.experiments.lib.explore_tuned import TUNED
from adeu.experiments.lib.jax_setting import JaxSetting

AMPLITUDES = {"box": (0.3, 1.0), "discrete": (0.03, 0.3), "rnd-bonus": (0.03, 0.3)}
SEEDS = range(1_000, 1_002)


def candidates(task: str) -> dict[Candidate, AnyAgent]:
    """Return an agent for every amplitude of each case that has amplitudes."""
    amplitudes = AMPLITUDES["discrete" if task in explore.DISCRETE else "box"]
    found: dict[Candidate, AnyAgent] = {}
    for kind, build in explore.builds(task).items():
        for name, D in explore.noises(task).items():
            if kind == "constant" or name == TUNED[task].noise or (kind in ("rnd", "stakes") and name == "options"):
                found |= {Candidate(kind, name, c): build(c, D) for c in amplitudes}
    if task not in explore.DISCRETE:
        for kind, alone in explore.ALONE.items():
            found |= {Candidate(kind, "", c): alone(c) for c in AMPLITUDES.get(kind, amplitudes)}
    return found


CANDIDATES = {task: candidates(task) for task in explore.SCALES}


def cases(task: str) -> dict[str, JaxSetting]:
    return {each.name: explore.setting(task, agent) for each, agent in CANDIDATES[task].items()}


EXPERIMENT = Family(
    name="explore-tuning",
    title="exploration tasks, tuning: two amplitudes per case",
    members=tuple(
        explore.member("explore-tuning", task, cases(task), SEEDS, reference="") for task in explore.SCALES
    ),
    draw=explore.draw_all,
    table=functools.partial(choice_table, CANDIDATES, explore.DISCRETE),
)
