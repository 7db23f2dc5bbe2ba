"""The exploration tasks as experiments: their cases, a tiny run of each task, controls, and metrics by hand."""

import dataclasses
import json
import pathlib

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn
from adeu.envs import JaxContinuousLake
from adeu.experiments import continuous_lake, continuous_lakes, explore, explore_tuning
from adeu.experiments.lib.explore_choice import Candidate, choose, rank, scores
from adeu.experiments.lib.explore_table import explore_table
from adeu.experiments.lib.explore_tuned import TUNED
from adeu.experiments.lib.jax_setting import TASKS
from adeu.runs.statistics import iqm, share
from adeu.runs.sweep import sweep

RESULTS = pathlib.Path(__file__).parents[2] / "results"
MEMBERS = {member.name.removeprefix("explore/"): member for member in explore.EXPERIMENT.members}
TINY = {
    "MountainCarContinuous-v0": "sac",
    "SparsePendulum": "white",
    "SwingUp": "rnd",
    "PointMaze": "no-noise",
    "ContinuousLake": "q-std",
    "DeepSea-30": "options",
    "Pendulum-v1": "rnd-bonus",
}


def tiny(setting):
    fields = {"target_every": 10, "update_every": 2} if isinstance(setting.agent, Dqn) else {}
    agent = dataclasses.replace(setting.agent, hidden=(4,), batch=4, capacity=50, **fields)
    return dataclasses.replace(setting, agent=agent, steps=20, warmup=10, evaluate_every=20, evaluate_episodes=1)


@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=[pytest.mark.slow] * (task != "DeepSea-30")) for task in TINY]
)
def test_every_task_trains(task):
    trainer = tiny(MEMBERS[task].cases[TINY[task]]).trainer(0)
    (row,) = trainer.advance().rows
    assert row["step"] == trainer.total == 20
    assert np.isfinite(list(row.values())).all()


def assert_controls(cases, name):
    mean, shuffled = (cases[f"{name}-{control}"] for control in ("mean-matched", "shuffled"))
    assert mean.source == name
    assert dataclasses.replace(shuffled, control="mean") == mean
    source = cases[name]
    assert source.recorded
    assert not mean.recorded
    assert isinstance(mean.agent.explorer.f, adeu.Recorded)
    same = dataclasses.replace(mean.agent, explorer=source.agent.explorer)
    assert same == source.agent, "the agents differ in more than f and g"


def test_settings_of_the_cases():
    assert set(MEMBERS) == set(explore.SCALES) == set(TUNED) <= set(TASKS)
    for task, member in MEMBERS.items():
        assert member.compared_with in member.cases
        tuned = TUNED[task]
        for case, setting in member.cases.items():
            assert (setting.env, setting.steps, setting.enough, setting.agent.hidden) == (task, 30_000, 0, (64, 64))
            if case in ("rnd", "q-std", "sac-rnd", tuned.noise):
                assert type(setting.agent.explorer.D) is type(explore.noises(task)[tuned.noise])
        assert [case for case, setting in member.cases.items() if setting.recorded] == [tuned.adaptive]
        assert_controls(member.cases, tuned.adaptive)
        if task not in explore.DISCRETE:
            agents = [member.cases[case].agent for case in ("sac-rnd", "sac-stakes", "sac-constant")]
            adaptive, stakes, constant = (agent.explorer for agent in agents)
            assert dataclasses.replace(stakes, f=adaptive.f) == adaptive
            assert {dataclasses.replace(agent, explorer=adaptive) for agent in agents} == {agents[0]}, (
                "the agents differ in more than f and g"
            )
            assert constant == adeu.Explorer(adeu.Constant(adaptive.g.c), adeu.Identity(), adaptive.D)


def test_candidates_are_the_cases_with_an_amplitude():
    for member in explore_tuning.EXPERIMENT.members:
        task = member.name.removeprefix("explore-tuning/")
        candidates = explore_tuning.CANDIDATES[task]
        assert set(member.cases) == {each.name for each in candidates}
        tuned = {each.noise if each.kind == "constant" else each.kind for each in candidates}
        assert tuned == TUNED[task].amplitudes.keys()
        assert tuned == MEMBERS[task].cases.keys() - {"no-noise", "sac", "sac-constant", "sac-stakes"} - set(
            list(MEMBERS[task].cases)[-2:]
        )
        assert not set(member.seeds) & set(MEMBERS[task].seeds)


def scored(*rows):
    """Return the summary of a task from candidates with their final score and area."""
    return [
        {"case": each.name, "metric": metric, "value": value}
        for each, *values in rows
        for metric, value in zip(("final", "area"), values, strict=True)
    ]


def test_the_choice_computed_by_hand():
    white, whiter, pink = (Candidate("constant", D, c) for D, c in (("white", 0.3), ("white", 1.0), ("pink", 0.3)))
    rnd, other, q_std = (
        Candidate(*each) for each in (("rnd", "pink", 1.0), ("rnd", "white", 1.0), ("q-std", "pink", 0.3))
    )
    theirs, bonus = Candidate("sb3-ou", "", 0.3), Candidate("rnd-bonus", "", 0.03)
    every = [white, whiter, pink, rnd, other, q_std, theirs, bonus]
    first = scores(
        every,
        scored(
            (white, 0.1, 0.0), (whiter, 0.2, 0.0), (pink, 0.8, 0.3), (rnd, 0.8, 0.5), (other, 0.9, 0.9),
            (q_std, 0.8, 0.4), (theirs, 0.0, 0.0), (bonus, 1.0, 0.0),
        ),
    )  # fmt: skip
    chosen = {"white": 1.0, "pink": 0.3, "rnd": 1.0, "q-std": 0.3, "sb3-ou": 0.3, "rnd-bonus": 0.03}
    assert choose(first) == ("pink", "rnd", chosen), "the area must break ties"
    second = scores(every, scored(*((each, 0.5 if each in (pink, rnd) else 0.4, 0.0) for each in every)))
    hopeless = scores(every, scored(*((each, 0.0, 0.0) for each in every)))
    ranked = rank({"first": first, "second": second, "hopeless": hopeless})
    assert [each.name for each, _ in ranked[:3]] == ["rnd-pink-1", "constant-pink-0.3", "rnd-white-1"], (
        "the area must break ties in the ranking"
    )
    assert ranked[0][1] == pytest.approx({"first": 0.8 / 0.9, "second": 1.0}), (
        "scores must exclude the bonus, which is not an explorer"
    )
    assert {each.kind for each, _ in ranked} == {"constant", "rnd", "sb3-ou"}


def test_the_choices_match_the_stored_results():
    """The tuned values and the default explorers follow from the stored results."""
    found = {}
    for task, candidates in explore_tuning.CANDIDATES.items():
        rows = json.loads((RESULTS / "explore-tuning" / task / "summary.json").read_text())
        found[task] = scores(candidates, rows)
        assert choose(found[task]) == TUNED[task]
    boxes = {task: each for task, each in found.items() if task not in explore.DISCRETE}
    (best, _), *_ = rank(boxes)
    box, discrete = (gymnasium.make(name) for name in ("MountainCarContinuous-v0", "CartPole-v1"))
    assert adeu.recipes.default(box) == explore.BOX[best.kind](best.amplitude, explore.NOISES[best.noise]).explorer
    (best, _), *_ = rank({task: found[task] for task in explore.DISCRETE})
    agent = explore.DISCRETE_AGENTS[best.kind](best.amplitude, explore.COINS[best.noise])
    assert adeu.recipes.default(discrete) == agent.explorer


def test_metrics_computed_by_hand():
    """Returns of 3 seeds in the maze, where 90 is scaled to 1, and of the car."""
    returns = np.array([[0.0, 0, 0.5, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1]])
    metrics = {metric.name: metric for metric in explore.metrics("PointMaze")}
    final, area = (metrics[name].of({"return": 90 * returns}) for name in ("final", "area"))
    np.testing.assert_allclose(final, [0.9, 0, 1])
    np.testing.assert_allclose(area, [4.5 / 7, 0, 1])
    car = explore.scaled("MountainCarContinuous-v0", {"return": np.array([[-30.0, 46.5, 93.0, 99.0]])})
    np.testing.assert_allclose(car, [[0, 0.5, 1, 1]])


def fading(setting):
    """Replace f by an RND that is not saturated."""
    explorer = dataclasses.replace(setting.agent.explorer, f=adeu.Rnd(scale=0.3))
    return dataclasses.replace(setting, agent=dataclasses.replace(setting.agent, explorer=explorer))


def test_a_control_has_the_spreads_of_its_source():
    cases = MEMBERS["PointMaze"].cases
    source = fading(tiny(cases["rnd"])).trainer(0)
    source.advance()
    kept = source.kept()
    later = kept["spread"][10:]
    assert later.std() > 0
    given = {}
    for control in ("mean-matched", "shuffled"):
        trainer = tiny(cases[f"rnd-{control}"]).trainer(0, kept)
        (row,) = trainer.advance().rows
        given[control] = trainer.given["recorded"]
        assert row["spread"] == pytest.approx(given[control].mean())
    np.testing.assert_allclose(given["mean-matched"], later.mean(), rtol=1e-5)
    assert sorted(given["shuffled"][10:]) == sorted(later)
    assert (given["shuffled"] != kept["spread"]).any()
    with pytest.raises(ValueError, match="a control: its source takes a run of 20 steps, got '10'"):
        tiny(cases["rnd-shuffled"]).trainer(0, {name: array[:10] for name, array in kept.items()})


@pytest.mark.slow
def test_runs_in_folders(tmp_path):
    """Run RND and a control as the command does: a control starts from the arrays that its source kept."""
    whole = MEMBERS["PointMaze"]
    cases = {case: tiny(whole.cases[case]) for case in ("rnd", "rnd-mean-matched")}
    member = dataclasses.replace(whole, cases=cases | {"rnd": fading(cases["rnd"])}, reference="rnd")
    assert sweep(member.specs(range(1)), tmp_path, jobs=1) == {}
    with np.load(tmp_path / "explore/PointMaze/rnd/seed-0/kept.npz") as kept:
        spreads = kept["spread"]
    rows, _ = member.write(range(1), tmp_path)
    found = {row["case"]: row["value"] for row in rows if row["metric"] == "spread"}
    assert found == {"rnd": pytest.approx(spreads.mean()), "rnd-mean-matched": pytest.approx(spreads[10:].mean())}


def test_plots_are_drawn(tmp_path):
    steps, seeds = np.tile(np.arange(1, 6) * 1000.0, (5, 1)), np.arange(5.0)
    curve = {"step": steps, "return": np.random.default_rng(0).random((5, 5)), "spread": steps / 5000, "seed": seeds}
    curves = {"white": curve, "rnd": curve}
    for pictures in (
        explore.draw_one("PointMaze", curves, tmp_path),
        explore.draw_all({f"explore/{task}": curves for task in ("PointMaze", "SwingUp")}, tmp_path),
    ):
        assert pictures
        assert all(picture.stat().st_size > 1000 for picture in pictures)


def test_the_table_has_the_middle_runs_and_the_share_that_is_good_enough():
    """A scale of 170: returns of 85 or more are good enough."""

    def curves(finals):
        returns = np.repeat(np.array(finals)[:, None] * 170.0, explore.LAST, axis=1)
        seeds = np.arange(len(finals), dtype=float)
        return {"seed": seeds, "return": returns, "spread": returns * 0, "trained": returns * 0 + 1}

    found = {"white": curves([0.0, 0.1, 0.1, 0.1, 0.9]), "rnd": curves([0.0, 0.5, 0.8, 1.0, 1.0])}
    rows = MEMBERS["SwingUp"].summary(found)
    shown = explore_table(
        {"explore/SwingUp": rows, "explore/PointMaze": [row for row in rows if row["case"] == "white"]}
    )
    assert [column.header for column in shown.columns] == ["", "SwingUp", "PointMaze"]
    white, rnd = shown.columns[1].cells
    assert white == "0.10\n[dim]1 of 5\n4% to 62%[/]"
    assert rnd == f"[bold]{iqm([0.0, 0.5, 0.8, 1.0, 1.0]).value:.2f}[/]\n[dim]4 of 5\n38% to 96%[/]"
    assert list(shown.columns[2].cells) == [white.replace("0.10", "[bold]0.10[/]"), "-"]


def test_a_run_without_a_return_has_no_figure():
    returns = np.array([[np.nan] * explore.LAST])
    curves = {"white": {"seed": np.arange(1.0), "return": returns, "spread": returns, "trained": returns * 0 + 1}}
    shown = explore_table({"explore/SwingUp": MEMBERS["SwingUp"].summary(curves)})
    assert list(shown.columns[1].cells) == ["-"]


def test_final_performances_in_two_groups_have_no_interval():
    returns = np.repeat([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]], explore.LAST, axis=1) * 170.0
    curves = {"seed": np.arange(6.0), "return": returns, "spread": returns * 0, "trained": returns * 0 + 1}
    rows = {row["metric"]: row for row in MEMBERS["SwingUp"].summary({"rnd": curves})}
    assert (rows["final"]["low"], rows["final"]["high"]) == (None, None)
    assert (rows["enough"]["low"], rows["enough"]["high"]) == share([0, 0, 1, 1, 1, 1])[1:]
    assert list(rows["final"]["runs"].values()) == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("case", continuous_lake.BEST)
def test_the_best_cases_of_the_continuous_lake_have_controls(case):
    assert_controls(continuous_lake.EXPERIMENT.cases, case)


def test_places_along_the_continuous_lake():
    whole = np.cumsum(np.arange(21)) / 20
    np.testing.assert_allclose(continuous_lake.places({"return": whole[None]}), [np.arange(21)])


def test_each_seed_has_a_lake_of_its_own():
    cases = continuous_lakes.EXPERIMENT.cases
    for name, each in cases.items():
        assert dataclasses.replace(each, env="ContinuousLake") == continuous_lake.EXPERIMENT.cases[name]
    assert_controls(cases, "sac-stakes")
    lakes = [cases["sac"].trainer(seed).loop.env for seed in (0, 1)]
    assert lakes == [JaxContinuousLake(directions_seed=seed) for seed in (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["rnd-or-stakes", "sac-own-and-rnd"])
def test_the_continuous_lake_trains(case):
    trainer = tiny(continuous_lake.EXPERIMENT.cases[case]).trainer(0)
    assert np.isfinite(trainer.advance().rows[0]["return"])
