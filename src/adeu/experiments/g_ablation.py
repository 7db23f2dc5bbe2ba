"""The appendix's ablation of g: the sigmoid, a g that falls to zero, and two remedies against forgetting."""

from __future__ import annotations

import functools

import adeu
from adeu.experiments import mujoco
from adeu.experiments.lib.experiment import Experiment, Family
from adeu.experiments.lib.training_setting import TrainingSetting, read_run

LESSON = (
    "sigmoid: g(x) = c * sigmoid(x), between 0.1 and 0.2, as in the main table. saturating: c * (1 - exp(-x)), which "
    "is 0 without uncertainty, so repeated behaviour fills the replay buffer. gated stores a transition with "
    "probability g(f(s))/c; weighted multiplies its loss by g(f(s))/c."
)


def cases(env: str, preset: str = "paper") -> dict[str, TrainingSetting]:
    """Return both g, the remedies, and the controls of the second g for each adaptive f of the main table."""
    found: dict[str, TrainingSetting] = {}
    for source, (f, fields) in mujoco.ADAPTIVE.items():
        by = functools.partial(mujoco.explored_by, env, preset, f, **fields)
        found |= {
            f"{source}-sigmoid": by(g=adeu.Sigmoid(mujoco.C)),
            f"{source}-saturating": by(g=adeu.Saturating(mujoco.C)),
            f"{source}-saturating-gated": by(g=adeu.Saturating(mujoco.C), gated=True),
            f"{source}-saturating-weighted": by(g=adeu.Saturating(mujoco.C), weighted=True),
        }
        case = f"{source}-saturating"
        found |= mujoco.controls(case, found[case])
    return found


def member(env: str) -> Experiment:
    return Experiment(
        name=f"g-ablation/{env}",
        title=f"Two g and two remedies, TD3 on {env}",
        takes="half an hour to an hour for a run on one core",
        lesson=LESSON,
        cases=cases(env),
        metrics=mujoco.METRICS,
        draw=mujoco.draw_one,
        bold="mean",
        seeds=range(3),
        read=read_run,
    )


EXPERIMENT = Family(
    name="g-ablation",
    title="the appendix's ablation of the normaliser, and its remedies against forgetting, on six MuJoCo tasks",
    members=tuple(map(member, mujoco.ENVIRONMENTS)),
    draw=mujoco.draw_all,
)
