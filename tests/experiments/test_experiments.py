"""Experiments: their cases train, and their metrics are right."""

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest

import adeu
from adeu import experiments
from adeu.envs import Lake, lake_mdp
from adeu.experiments import (
    NAMES,
    deep_sea,
    find,
    frozen_lake_sensitivity,
    locate,
    safe_frozen_lake,
    theorem_1,
    theorem_2,
)
from adeu.experiments.lib import lake_setting
from adeu.experiments.lib.experiment import FIRST_SOLVED, MAX, MEAN, SOLVED, VIOLATIONS
from adeu.runs.load import read_metrics
from adeu.runs.statistics import wilson

CURVES = {
    "return": np.array([[0.0, 10, 20], [2, 4, 30]]),
    "solved": np.array([[0.0, 1, 1], [0, 0, 1]]),
    "seed": np.array([0.0, 1.0]),
    "episode": np.array([[100.0, 200, 300]] * 2),
    "violations": np.array([[1.0, 0, 0], [0, 0, 0]]),
}


class TestMetrics:
    def test_metrics_computed_by_hand(self):
        assert MEAN.of(CURVES).tolist() == [10, 12]
        assert MAX.over(MAX.of(CURVES)) == (25, None, None)
        assert FIRST_SOLVED.of(CURVES).tolist() == [200, 300]
        assert SOLVED.of(CURVES).tolist() == [True, True]
        assert VIOLATIONS.of(CURVES) == pytest.approx([1 / 3, 0])

    def test_first_solved_is_infinite_if_never_solved(self):
        curves = CURVES | {"solved": np.array([[0.0, 0, 0], [0, 0, 1]])}
        assert FIRST_SOLVED.of(curves).tolist() == [np.inf, 300]
        assert FIRST_SOLVED.over(FIRST_SOLVED.of(curves)).value is None
        assert SOLVED.of(curves).tolist() == [False, True]


def test_every_module_with_an_experiment_is_listed():
    modules = (
        importlib.import_module(f"{experiments.__name__}.{m.name}")
        for m in pkgutil.iter_modules(experiments.__path__)
    )
    having = {
        module.__name__.rpartition(".")[2].replace("_", "-") for module in modules if hasattr(module, "EXPERIMENT")
    }
    assert set(NAMES) == having
    assert len(having) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_is_consistent(name):
    assert find(name).name == name
    for experiment in locate(name):
        assert set(experiment.paper) <= set(experiment.cases)
        assert experiment.compared_with in experiment.cases
        metrics = {metric.name for metric in experiment.metrics}
        assert all(set(figures) <= metrics for figures in experiment.paper.values())
        case, setting = next(iter(experiment.cases.items()))
        assert setting.trainer(0).total >= 1
        (alone,) = locate(f"{experiment.name}/{case}")
        assert (alone.name, alone.compared_with) == (experiment.name, experiment.compared_with)


def test_public_names_of_cases_and_metrics():
    assert list(find("frozen-lake").cases) == ["eps-greedy", "adeu", "im", "ucb"]
    names = ["eps-greedy", "im", "ucb", "adeu-eq1", "adeu-eq5", "adeu-eq6"]
    assert list(find("safe-frozen-lake").cases) == names
    assert {metric.name for metric in find("safe-frozen-lake").metrics} >= {"mean", "max", "violations"}


PLACES = (0.05, 0.25)
"""Places of traced episodes in training."""


def small(setting, size=30, episodes=1000, **changes):
    there = dataclasses.replace(setting.lake, size=size)
    return dataclasses.replace(setting, lake=there, episodes=episodes, traced=(), **changes)


def rows(setting, seed=0):
    trainer, found = setting.trainer(seed), []
    while trainer.done < trainer.total:
        found += trainer.advance().rows
    return {name: np.array([row[name] for row in found]) for name in found[0]}


class TestLakes:
    def test_settings_of_the_paper(self):
        setting = lake_setting.adeu_counts()
        explorer = adeu.Explorer(adeu.Counts(beta=0.9), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
        assert setting.agent == adeu.tabular.QLearning(explorer, alpha=1.0, gamma=0.99, q=0.0)
        assert (setting.lake.size, setting.episodes) == (1500, 30_000)
        assert lake_setting.epsilon_greedy().agent.explorer.f == adeu.Constant(0.01)
        assert lake_setting.intrinsic_motivation().agent.intrinsic == 0.9
        assert lake_setting.ucb().agent.learners == adeu.tabular.Learners(5, 0.5, 1.0, 10.0)

    def test_the_mentor_initializes_values_beside_unsafe_cells(self):
        setting = small(safe_frozen_lake.EXPERIMENT.cases["adeu-eq1"])
        job, mdp = setting.trainer(0).job, lake_mdp(setting.lake)
        enters = mdp.cost > 0
        assert enters.any()
        np.testing.assert_array_equal(job.learner.q[:, 0][enters], -50)
        np.testing.assert_array_equal(job.learner.q[:, 0][~enters], 0)
        np.testing.assert_array_equal(job.visits, np.where(enters.any(axis=1), 100, 0))
        other = small(safe_frozen_lake.EXPERIMENT.cases["adeu-eq6"]).trainer(0).job
        assert (other.visits == 0).all()

    def test_greedy_intrinsic_motivation_is_in_the_sensitivity_table(self):
        cases, table = frozen_lake_sensitivity.CASES, find("frozen-lake")
        assert table.cases["im"].agent.explorer.f == adeu.Constant(0.01)
        assert "epsilon of 0.01, where the paper's text says that it acts greedily" in table.lesson
        for beta in (0.9, 0.1):
            agent = cases[f"im epsilon=0 beta={beta}"].agent
            assert (agent.explorer.f, agent.intrinsic) == (adeu.Constant(0.0), beta)
        assert rows(small(cases["im epsilon=0 beta=0.9"], episodes=300))["solved"].any()

    def test_first_solved_of_the_paper_is_another_metric(self):
        """Ours is a mean of multiples of 100 over 5 seeds."""
        table = find("frozen-lake")
        assert 5 * table.paper["adeu"]["first_solved"] % 100 != 0
        assert "4,515 is not a mean of five multiples of 100" in table.lesson

    @pytest.mark.slow
    def test_safe_agents_violate_less(self):
        found = {name: rows(small(case)) for name, case in safe_frozen_lake.EXPERIMENT.cases.items()}
        assert found["eps-greedy"]["violations"].mean() > 0.01
        for name in ("adeu-eq1", "adeu-eq6"):
            assert found[name]["violations"].mean() < found["eps-greedy"]["violations"].mean() / 5
            assert found[name]["solved"].any()
        assert not found["adeu-eq5"]["solved"].any()

    def test_sensitivity_changes_one_thing_at_a_time(self):
        cases = frozen_lake_sensitivity.CASES
        assert cases["adeu beta=0.5"].agent.explorer.f.beta == 0.5
        assert cases["ucb mask=1.0"].agent.learners.mask_probability == 1.0
        assert cases["greedy Q0=-20"].agent.q == -20
        assert cases["ucb alpha=0.1"].agent == dataclasses.replace(lake_setting.ucb().agent, alpha=0.1)
        assert cases["safe adeu-eq6 floor=0.1"] == safe_frozen_lake.EXPERIMENT.cases["adeu-eq6"]
        assert cases["adeu back_cost=0"].lake == Lake(back_cost=0.0)
        assert len({repr(case) for case in cases.values()}) == len(cases)

    def test_traces_are_of_the_requested_episodes(self):
        trainer = dataclasses.replace(small(lake_setting.adeu_counts()), traced=PLACES).trainer(0)
        traces = {}
        while trainer.done < trainer.total:
            traces |= trainer.advance().traces
        assert set(traces) == {"episode-50", "episode-250"}
        assert [
            dataclasses.replace(small(lake_setting.adeu_counts(), episodes=300), traced=(0.001, 1.0))
            .trainer(0)
            .traced
        ] == [(1, 300)]
        again = rows(small(lake_setting.adeu_counts()))
        whole = rows(dataclasses.replace(small(lake_setting.adeu_counts()), traced=PLACES))
        assert all((again[name] == whole[name]).all() for name in again)


class TestTheorem1:
    def test_resuming_from_a_checkpoint_gives_the_same_rows(self):
        setting = dataclasses.replace(theorem_1.METHODS["adeu"], episodes=40, states=6)
        whole, first, second = setting.trainer(3), setting.trainer(3), setting.trainer(3)
        pieces = [whole.advance() for _ in range(40)]
        for _ in range(15):
            first.advance()
        second.restore(first.arrays())
        rest = [second.advance() for _ in range(25)]
        assert [piece.rows for piece in rest] == [piece.rows for piece in pieces[15:]]
        for name, column in pieces[-1].traces["claim"].items():
            np.testing.assert_array_equal(column, rest[-1].traces["claim"][name])

    def test_adeu_reduces_exploration_after_finding_the_best_action_and_epsilon_greedy_does_not(self):
        reduced = {}
        for name in ("adeu", "eps-greedy-0.1"):
            trainer = dataclasses.replace(theorem_1.METHODS[name], states=8, episodes=150).trainer(0)
            pieces = [trainer.advance() for _ in range(150)]
            reduced[name] = pieces[-1].traces["claim"]["reduced"].mean()
        assert reduced == {"adeu": 1.0, "eps-greedy-0.1": 0.0}

    def test_figures_and_plots(self, tmp_path):
        cases = {name: dataclasses.replace(case, states=5, episodes=30) for name, case in theorem_1.METHODS.items()}
        experiment = dataclasses.replace(theorem_1.EXPERIMENT, cases=cases)
        assert adeu.runs.sweep(experiment.specs([0, 1]), tmp_path, 1) == {}
        table, pictures = experiment.write([0, 1], tmp_path)
        values = {(row["case"], row["metric"]): row["value"] for row in table}
        assert values["eps-greedy-0.1", "reduced"] == 0
        assert values["ucb", "reduced"] is None
        assert [path.suffix for path in pictures] == [".png", ".svg"]
        claim = read_metrics(tmp_path / "theorem-1" / "adeu" / "seed-0" / "traces" / "claim.csv")
        assert len(claim["found"]) == 5


class TestDeepSea:
    def test_solved_is_the_start_of_a_whole_window(self):
        steps = np.arange(1, 401) * 1000.0
        solved = np.zeros((3, 400))
        solved[0, 120:] = 1
        solved[0, 150] = 0
        solved[1, 350:] = 1
        solved[2] = 1
        found = deep_sea.solved_at({"step": np.stack([steps] * 3), "solved": solved})
        assert found.tolist() == [152_000, np.inf, 1_000]

    def test_ez_adeu_solves_a_small_sea_and_records_the_first_hit(self):
        setting = dataclasses.replace(deep_sea.cases(10)["ez-carried"], steps=150_000)
        found = rows(setting)
        assert found["step"].tolist() == [1000 * (i + 1) for i in range(150)]
        assert found["solved"][-100:].all()
        hit = found["first_hit"]
        assert 0 < hit[-1] <= found["step"][found["solved"].argmax()]
        assert set(hit) <= {0, hit[-1]}

    def test_shuffled_seas_differ_from_fixed_ones(self):
        fixed, other = deep_sea.cases(10)["ez-cut"], deep_sea.shuffled(deep_sea.cases(10)["ez-cut"])
        assert not np.array_equal(fixed.trainer(0).job.model.next_state, other.trainer(0).job.model.next_state)

    def test_all_members_run_together_and_draw_a_plot(self, tmp_path):
        members = [
            dataclasses.replace(
                member,
                cases={name: dataclasses.replace(case, steps=20_000) for name, case in member.cases.items()},
            )
            for member in deep_sea.EXPERIMENT.members[:2]
        ]
        specs = [spec for member in members for spec in member.specs([0])]
        assert adeu.runs.sweep(specs, tmp_path, 2) == {}
        for member in members:
            table, _ = member.write([0], tmp_path)
            assert {row["metric"] for row in table} == {"solved_rate", "steps_to_solve", "first_hit"}
        curves = {member.name: member.complete(tmp_path) for member in members}
        assert [list(found) for found in curves.values()] == [list(member.cases) for member in members]
        pictures = deep_sea.EXPERIMENT.draw(curves, tmp_path / "deep-sea")
        assert all(path.stat().st_size > 1000 for path in pictures)


@pytest.mark.parametrize(("seeds", "said"), [(3, "single runs"), (6, "95% intervals")])
def test_the_plot_over_sizes_names_runs_or_intervals(seeds, said, tmp_path):
    steps = np.tile(np.arange(1, 301) * 1000.0, (seeds, 1))
    solved = (steps >= np.linspace(10_000, 90_000, seeds)[:, None]).astype(float)
    curve = {"seed": np.arange(seeds), "step": steps, "solved": solved}
    svg = deep_sea.draw_all({"deep-sea/10": {"ucb": curve}, "deep-sea/20": {"ucb": curve}}, tmp_path)[1].read_text()
    titles = [text for text in ("single runs", "95% intervals") if text in svg]
    assert titles == [said]


def test_the_bounds_of_theorem_2_bracket_the_exact_probability():
    (row,) = theorem_2.TreasureSetting(size=30, mu=2.0, steps=100_000, runs=50).trainer(0).advance().rows
    assert row["proof"] <= row["exact"] < row["statement"]
    assert abs(row["simulated"] - row["exact"]) < 0.3


def test_theorem_2_pools_all_simulations(tmp_path):
    (case, setting), *_ = theorem_2.EXPERIMENT.cases.items()
    small = dataclasses.replace(setting, size=30, mu=2.0, steps=100_000, runs=20)
    experiment = dataclasses.replace(theorem_2.EXPERIMENT, cases={case: small})
    assert adeu.runs.sweep(experiment.specs([0, 1]), tmp_path, 1) == {}
    table, pictures = experiment.write([0, 1], tmp_path)
    (row,) = (row for row in table if row["metric"] == "simulated")
    assert (row["seeds"], row["runs"]) == (2, None)
    low, high = wilson(row["value"], 40)
    assert (row["low"], row["high"]) == pytest.approx((float(low), float(high)))
    assert pictures[0].stat().st_size > 1000
