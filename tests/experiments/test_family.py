"""The table of earlier methods: its cases, the choice of their values, and metrics by hand."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest

from adeu.experiments import family, family_tuning
from adeu.experiments.lib.family_methods import METHODS, TASKS, methods
from adeu.experiments.lib.family_tuned import TUNED

RESULTS = pathlib.Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("task", TASKS)
def test_the_values_are_those_that_tuning_chose(task):
    rows = json.loads((RESULTS / f"family-tuning/{task}/summary.json").read_text())
    assert {row["seeds"] for row in rows} == {3}
    assert family_tuning.choose(task, rows) == TUNED[task]


def test_tuning_chooses_the_highest_mean_and_the_first_of_ties():
    rows = [
        {"case": family_tuning.named(name, value), "metric": "mean", "value": min(place, 1) + 0.5}
        for name, method in METHODS.items()
        for place, value in enumerate(method.values)
    ]
    assert family_tuning.choose("sea", rows) == {name: method.values[1] for name, method in METHODS.items()}


def test_every_method_has_the_same_budget_and_new_seeds():
    assert all(len(set(method.values)) == 3 for method in METHODS.values())
    assert not set(family.SEEDS) & set(family_tuning.SEEDS)
    for one, other in zip(family.EXPERIMENT.members, family_tuning.EXPERIMENT.members, strict=True):
        assert len(other.cases) == 3 * len(one.cases)
        assert all(setting in other.cases.values() for setting in one.cases.values())


@pytest.mark.parametrize("task", TASKS)
def test_every_method_of_a_task_has_the_same_learner(task):
    own = {"ucb", "bdqn"}  # these have several tables
    agents = [each.build(task, each.values[0]).agent for name, each in methods(task).items() if name not in own]
    assert len(agents) == 16
    assert len({dataclasses.replace(agent, explorer=agents[0].explorer) for agent in agents}) == 1


@pytest.mark.parametrize("task", TASKS)
def test_every_method_can_be_trained(task):
    for each in methods(task).values():
        trainer = each.build(task, each.values[-1]).trainer(0)
        assert trainer.total == 10_000


def curves(returns, explored):
    steps = np.cumsum([[10.0, 30.0]] * len(returns), axis=1)
    episodes = np.tile([1.0, 2.0], (len(returns), 1))
    solved = (np.array(returns) > 0.5).astype(float)
    return {
        "step": steps,
        "episode": episodes,
        "solved": solved,
        "return": np.array(returns),
        "explored": np.array(explored),
        "seed": np.arange(float(len(returns))),
    }


def test_metrics_computed_by_hand():
    made = curves([[0.0, 0.5], [-1.0, 2.0]], [[1.0, 0.0], [0.0, 0.2]])
    assert family.scaled("sea", made).tolist() == [[0.0, 0.5], [0.0, 1.0]]
    assert family.final("sea", made).tolist() == [0.5, 1.0]
    assert family.explored(made).tolist() == pytest.approx([0.25, 0.15])


def test_the_plot_is_drawn(tmp_path):
    made = curves([[0.0, 0.9]] * 6, [[0.1, 0.0]] * 6)
    members = {f"family/{task}": dict.fromkeys(methods(task), made) for task in TASKS}
    assert [path.name for path in family.draw_all(members, tmp_path)] == ["explored.png", "explored.svg"]


def test_the_table_of_choices():
    rows = [
        {"case": family_tuning.named(name, value), "metric": "mean", "value": value}
        for name, method in METHODS.items()
        for value in method.values
    ]
    shown = family_tuning.chosen({"family-tuning/lake": rows, "family-tuning/sea": rows})
    assert [column.header for column in shown.columns] == ["method", "lake", "sea"]
    found = {name: values for name, *values in zip(*(column.cells for column in shown.columns), strict=True)}
    assert found["ute"] == ["2", "2"]
    assert found["bdqn"] == ["-", "1"]
