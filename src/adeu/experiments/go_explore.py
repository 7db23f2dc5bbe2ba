"""Return, then explore, compared with ADEU: on lakes, in the shuffled deep sea and in the point maze."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Mapping

import adeu
from adeu.envs import JaxPointMaze, Lake, Sea, deep_sea_mdp
from adeu.experiments import explore
from adeu.experiments.lib import lake_setting as lake
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import EPISODES_TO_SOLVE, SOLVED, Experiment, Family, time_to_solve
from adeu.experiments.lib.jax_setting import JaxSetting
from adeu.experiments.lib.lake_setting import LakeSetting
from adeu.runs.statistics import Curves
from adeu.runs.trainers.tabular_trainer import TabularTrainer
from adeu.tabular import QLearning

EPISODES, EVALUATE_EVERY = 20_000, 10
SIZE = 200
SEAS = (10, 20, 30)
MAZE = "PointMaze"
BINS = 10
"""Cells along each side of the maze: a cell is wider than a step, and none includes both sides of the wall."""


@dataclasses.dataclass(frozen=True)
class SeaTableSetting:
    """Tabular Q-learning in a deep sea.

    Args:
        agent: the agent.
        sea: the environment.
        episodes: how many to train.
        evaluate_every: episodes between two greedy ones.
    """

    agent: QLearning
    sea: Sea
    episodes: int = EPISODES
    evaluate_every: int = EVALUATE_EVERY

    def trainer(self, seed: int) -> TabularTrainer:
        job = self.agent.job(
            adeu.tabular.from_mdp(deep_sea_mdp(self.sea)),
            episodes=self.episodes,
            max_steps=self.sea.size,
            seed=seed,
            evaluate_every=self.evaluate_every,
        )
        return TabularTrainer(job, goal=self.sea.treasure / 2)


def agents(longest: int) -> dict[str, QLearning]:
    counting = lake.adeu_counts().agent
    coin = dataclasses.replace(counting.explorer, D=adeu.Bernoulli())
    return {
        "adeu": counting,
        "adeu-coin": QLearning(coin),
        "go-explore": QLearning(adeu.recipes.go_explore(longest=longest)),
        "go-explore mean=1": QLearning(adeu.recipes.go_explore(longest=longest, mean=1.0)),
        "eps-greedy": lake.epsilon_greedy().agent,
    }


def on_lake(task: Lake) -> dict[str, LakeSetting]:
    return {
        name: LakeSetting(agent, task, EPISODES, EVALUATE_EVERY) for name, agent in agents(task.max_steps).items()
    }


def in_sea(size: int) -> dict[str, SeaTableSetting]:
    sea = Sea(size, actions="shuffled")
    return {name: SeaTableSetting(agent, sea) for name, agent in agents(size).items()}


def in_maze() -> dict[str, JaxSetting]:
    """Return the settings of TD3 from the exploration tasks, with their tuned amplitudes."""
    tuned = explore.agents(MAZE)

    def returning(explorer: adeu.Explorer) -> JaxSetting:
        return explore.setting(MAZE, dataclasses.replace(tuned["white"], explorer=explorer))

    cases = {name: explore.setting(MAZE, tuned[name]) for name in ("rnd", "options", "white")}
    longest = JaxPointMaze().limit
    return cases | {
        "go-explore": returning(adeu.recipes.go_explore(bins=BINS, longest=longest)),
        "go-explore mean=1": returning(adeu.recipes.go_explore(bins=BINS, longest=longest, mean=1.0)),
    }


def member(name: str, title: str, cases: Mapping[str, LakeSetting] | Mapping[str, SeaTableSetting]) -> Experiment:
    return Experiment(
        name=f"go-explore/{name}",
        title=f"return, then explore: {title}",
        takes="a minute",
        lesson=(
            "Go-Explore returns to a cell that it has been to, rarely visited ones first, and explores from there by "
            "actions that it repeats for 20 steps on average, or does not repeat (mean=1). ADEU explores where it "
            "has rarely been, by a softmax or by a coin (adeu-coin). All of them learn by the same Q-learning."
        ),
        cases=cases,
        metrics=(
            EPISODES_TO_SOLVE,
            SOLVED,
        ),
        draw=plots.first_solved,
        seeds=range(100, 110),
    )


def maze() -> Experiment:
    metrics = {metric.name: metric for metric in explore.metrics(MAZE)}
    return Experiment(
        name="go-explore/maze",
        title="return, then explore: the point maze",
        takes="ten minutes",
        lesson=(
            "Go-Explore in cells of 0.2, beside three cases of the exploration tasks; all are TD3. final: the "
            "mean of the last 5 of 30 evaluations, of 10 greedy episodes each; area: the mean of all of them; both "
            "interquartile means over seeds, scaled to [0, 1]. Solved: a mean return of 50 in an evaluation."
        ),
        cases=in_maze(),
        metrics=(
            metrics["final"],
            metrics["area"],
            time_to_solve("steps_to_solve", "steps to solve", "step"),
            SOLVED,
        ),
        draw=functools.partial(explore.draw_one, MAZE),
        bold="final",
        seeds=range(100, 110),
    )


def draw_all(members: Mapping[str, Mapping[str, Curves]], folder: pathlib.Path) -> list[pathlib.Path]:
    """Plot when each seed solved each task; the maze is left out because it counts steps."""
    named = {
        f"{name.rpartition('/')[2]}: {case}": curve
        for name, cases in members.items()
        if name != "go-explore/maze"
        for case, curve in cases.items()
    }
    return plots.first_solved(named, folder)


EXPERIMENT = Family(
    name="go-explore",
    title="return, then explore: Go-Explore beside ADEU on lakes, in the shuffled deep sea and in the point maze",
    members=(
        member("lake", f"a lake of {SIZE} x {SIZE}", on_lake(Lake(SIZE))),
        member("staircase", f"a lake of {SIZE} x {SIZE} that turns at each step", on_lake(Lake(SIZE, "staircase"))),
        *(member(f"sea-{size}", f"DeepSea {size} with shuffled actions", in_sea(size)) for size in SEAS),
        maze(),
    ),
    draw=draw_all,
)
