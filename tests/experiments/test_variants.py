"""Experiments with changed settings: the names of their cases, and runs of earlier commands."""

import dataclasses
import json
import shlex

import numpy as np
import pytest

import adeu
from adeu.envs import Lake
from adeu.experiments import locate
from adeu.experiments.lib.lake_setting import adeu_counts
from adeu.experiments.lib.naming import base, disambiguate, variant, word
from adeu.experiments.lib.variants import changed, settled, stored_settings
from adeu.runs.folder import write_json
from adeu.runs.identity import to_data
from adeu.runs.spec import Spec
from adeu.runs.sweep import is_complete, sweep

SMALL = dataclasses.replace(adeu_counts(), lake=Lake(size=12), episodes=200)


def store(folder, case, setting):
    """Write the spec of a run, as an earlier command did."""
    write_json(folder / case / "seed-0" / "spec.json", Spec("frozen-lake", case, 0, setting).plain())


def one(path):
    (experiment,) = locate(path)
    return experiment


def test_a_changed_control_is_compared_with_its_changed_source(tmp_path):
    """In its own command, and in a later one that shows its stored runs."""
    hopper, names = one("mujoco/Hopper-v5"), ["constant", "rnd", "rnd-shuffled"]
    after = changed(hopper, ("gamma=0.9",), tmp_path)
    curve = {name: np.ones((5, 2)) for name in ("step", "return", "spread", "trained")} | {"seed": np.arange(5.0)}
    curves = {f"{name}-gamma=0.9": curve for name in names}
    for case in curves:
        store(tmp_path, case, after.cases[case])
    for rows, reference in (
        (after.summary(curves), "constant-gamma=0.9"),
        (
            hopper.summary(curves | {"constant": curve}, tmp_path),
            "constant",
        ),
    ):
        found = {row["case"]: row["reference"] for row in rows if row["metric"] == "mean"}
        assert found["rnd-gamma=0.9"] == reference
        assert found["rnd-shuffled-gamma=0.9"] == "rnd-gamma=0.9"


class TestNames:
    @pytest.mark.parametrize(
        ("path", "assignments", "name"),
        [
            ("frozen-lake/adeu", ["lake.size=60"], "adeu-size=60"),
            ("frozen-lake/adeu", ["size=60"], "adeu-size=60"),
            ("frozen-lake/adeu", ["episodes=600", "lake.size=60"], "adeu-size=60-episodes=600"),
            ("frozen-lake/adeu", ["lake.size=1500"], "adeu"),
            ("frozen-lake/ucb", ["learners.size=3"], "ucb-learners.size=3"),
            ("frozen-lake/ucb", ["learners=None"], "ucb-learners=none"),
            ("frozen-lake/adeu", ["alpha=1/n", "lake.safe=true"], "adeu-alpha=1-n-safe=true"),
            ("frozen-lake/adeu", ["traced=[]"], "adeu-traced=none"),
            ("frozen-lake/adeu", ['f={"part": "Constant", "c": 0.5}'], "adeu-f=constant-c=0.5"),
            ("frozen-lake-sensitivity/adeu-beta=0.3", ["size=60"], "adeu-beta=0.3-size=60"),
            ("deep-sea/10/ucb", ["steps=4000"], "ucb-steps=4000"),
            ("cart-pole", ["hidden=[8,8]"], "rnd-hidden=8+8"),
        ],
    )
    def test_a_changed_case_is_named_after_its_changes(self, path, assignments, name, tmp_path):
        cases = changed(one(path), tuple(assignments), tmp_path).cases
        assert next(iter(cases)) == name
        assert shlex.quote(name) == name

    def test_long_names_are_shortened_and_stay_unique(self):
        many = [
            dataclasses.replace(SMALL, traced=tuple(place / 100 for place in range(1, last))) for last in (50, 51)
        ]
        names = [variant("adeu", SMALL, setting) for setting in many]
        assert len(set(names)) == 2
        assert all(len(name) < 100 and shlex.quote(name) == name for name in names)

    def test_values_are_formatted_for_names(self):
        own = adeu.Sum((adeu.Counts(beta=0.1), adeu.from_function(abs)))
        assert word(own) == "sum-terms=counts-beta=0.1+fromfunction-function=abs"
        assert [word(value) for value in (None, True, (), 0.5, 3.0, "a b/c")] == [
            "none",
            "true",
            "none",
            "0.5",
            "3",
            "a-b-c",
        ]
        assert base("rnd-mean-matched-steps=5") == "rnd-mean-matched"

    def test_a_taken_name_is_extended_by_the_difference(self):
        mine, theirs = (to_data(dataclasses.replace(SMALL, episodes=episodes)) for episodes in (300, 200))
        assert disambiguate("adeu", theirs, mine) == "adeu-episodes=300"
        assert disambiguate("f", {"f": {"part": "a:F"}}, {"f": {"part": "pack.b:F"}}) == "f-b"
        assert disambiguate("f", {"f": 1, "g": 2}, {"f": 1}).startswith("f-")


def test_changed_cases_get_new_names_without_results_of_the_paper(tmp_path):
    lake = one("frozen-lake")
    small = changed(lake, ("lake.size=60",), tmp_path)
    assert list(small.cases) == [f"{case}-size=60" for case in lake.cases]
    assert small.compared_with == "eps-greedy-size=60"
    assert small.left_out == lake.cases
    assert small.paper == lake.paper
    assert small.heading == lake.heading.replace("1500", "60")
    some = changed(lake, ("learners.ucb=3",), tmp_path)
    assert list(some.cases) == ["eps-greedy", "adeu", "im", "ucb-ucb=3"]
    assert some.cases["adeu"] == lake.cases["adeu"]


def test_a_case_is_compared_with_the_reference_of_the_same_settings(tmp_path):
    assert changed(one("frozen-lake/adeu"), ("lake.size=60",), tmp_path).compared_with == "eps-greedy-size=60"
    assert changed(one("frozen-lake/adeu"), ("beta=0.5",), tmp_path).compared_with == "eps-greedy"
    with pytest.raises(ValueError, match="no setting 'intrinsicc'"):
        changed(one("frozen-lake/adeu"), ("intrinsicc=1",), tmp_path)


def test_a_control_follows_its_source(tmp_path):
    control = one("mujoco/Hopper-v5/rnd-shuffled")
    cases = changed(control, ("steps=5000",), tmp_path).cases
    assert list(cases) == ["rnd-steps=5000", "rnd-shuffled-steps=5000"]
    assert cases["rnd-shuffled-steps=5000"].source == "rnd-steps=5000"
    cases = changed(control, ("f.f.features=2",), tmp_path).cases
    assert list(cases) == ["rnd-features=2", "rnd-shuffled-source=rnd-features=2"]
    assert cases["rnd-shuffled-source=rnd-features=2"].source == "rnd-features=2"


class TestEarlierRuns:
    def test_a_run_of_the_same_composition_is_found_under_its_old_name(self, tmp_path):
        """In earlier versions a changed case kept its name, and `traced` held numbers of episodes."""
        lake = one("frozen-lake/adeu")
        setting = changed(lake, ("lake.size=12", "episodes=200"), tmp_path / "other").cases[
            "adeu-size=12-episodes=200"
        ]
        before = to_data(setting) | {"traced": [500, 2500, 5000]}
        spec = Spec("frozen-lake", "adeu", 0, setting).plain() | {"setting": before}
        write_json(tmp_path / "frozen-lake/adeu/seed-0/spec.json", spec)
        again = changed(lake, ("lake.size=12", "episodes=200"), tmp_path)
        assert again.cases == {"adeu": setting}
        assert "adeu" not in again.paper
        assert not is_complete(Spec("frozen-lake", "adeu", 0, setting), tmp_path)  # and it is not rejected
        assert list(changed(lake, ("lake.size=12", "episodes=300"), tmp_path).cases) == ["adeu-size=12-episodes=300"]

    def test_the_name_of_another_composition_is_not_reused(self, tmp_path):
        store(tmp_path / "frozen-lake", "adeu-size=12", SMALL)
        other = changed(one("frozen-lake/adeu"), ("lake.size=12",), tmp_path)
        assert list(other.cases) == ["adeu-size=12-episodes=30000"]

    def test_damaged_runs_and_links_are_skipped(self, tmp_path):
        store(tmp_path, "whole", SMALL)
        (tmp_path / "bad" / "seed-0").mkdir(parents=True)
        (tmp_path / "bad" / "seed-0" / "spec.json").write_text("{")
        (tmp_path / "linked").symlink_to(tmp_path / "whole")
        assert stored_settings(tmp_path) == {"whole": to_data(SMALL)}
        assert settled("new", SMALL, stored_settings(tmp_path)) == "whole"
        assert stored_settings(tmp_path / "nowhere") == {}

    def test_variants_share_a_folder_and_those_of_one_size_a_table(self, tmp_path):
        lake = dataclasses.replace(one("frozen-lake/adeu"), cases={"adeu": SMALL}, paper={"adeu": {"mean": 7}})
        shown = []
        for assignments in ((), ("lake.size=14",), ("beta=0.5",), ("beta=0.5", "lake.size=14")):
            experiment = changed(lake, assignments, tmp_path)
            assert sweep(experiment.specs([0]), tmp_path, jobs=1) == {}
            rows, _ = experiment.comparable(tmp_path).write([0], tmp_path)
            shown.append({row["case"]: row["paper"] for row in rows if row["metric"] == "mean"})
        assert shown == [
            {"adeu": 7},
            {"adeu-size=14": None},
            {"adeu-beta=0.5": None, "adeu": 7},
            {"adeu-beta=0.5-size=14": None, "adeu-size=14": None},
        ]
        assert json.loads((tmp_path / "frozen-lake/summary.json").read_text()) == rows
