"""Specs: their way to JSON, and what --set changes."""

import dataclasses
import json

import pytest

import adeu
from adeu.envs import Lake
from adeu.experiments import NAMES, locate
from adeu.experiments.lib.lake_setting import LakeSetting, adeu_counts, epsilon_greedy, ucb
from adeu.runs.spec import Spec, assign, differences, override, plain


def spec(setting, seed=0):
    return Spec("frozen-lake", "adeu", seed, setting)


class TestPlain:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_setting_is_json(self, name):
        for experiment in locate(name):
            for setting in experiment.cases.values():
                text = json.dumps(plain(setting), allow_nan=False)
                assert json.loads(text) == plain(setting)

    def test_nothing_is_left_out(self):
        data = plain(ucb())
        assert set(data) == {field.name for field in dataclasses.fields(LakeSetting)}
        assert data["learners"] == {"size": 5, "mask_probability": 0.5, "start": 1.0, "ucb": 10.0}
        assert data["lake"]["size"] == 1500
        assert data["f"] == {"part": "Constant", "c": 0.0}

    def test_two_runs_that_differ_differ_in_json(self):
        one = spec(adeu_counts())
        assert one.plain() == spec(adeu_counts()).plain()
        others = [spec(adeu_counts(beta=0.8)), spec(adeu_counts(), seed=1), spec(epsilon_greedy())]
        others += [spec(dataclasses.replace(adeu_counts(), lake=Lake(goal=3.0)))]
        assert len({json.dumps(each.plain()) for each in [one, *others]}) == 5

    def test_differences_are_named(self):
        there, here = plain(adeu_counts()), plain(adeu_counts(beta=0.5))
        assert list(differences(there, here)) == ["f.beta is 0.9 there and 0.5 here"]


class TestSet:
    @pytest.mark.parametrize(
        ("path", "text", "value"),
        [
            ("episodes", "7", 7),
            ("episodes", "1e3", 1000),
            ("alpha", "1/n", "1/n"),
            ("alpha", "0.5", 0.5),
            ("lake.size", "10", 10),
            ("lake.layout", "Z", "Z"),
            ("lake.safe", "true", True),
            ("lake.goal", "3", 3.0),
            ("lake.goal", "null", None),
            ("f.beta", "2", 2.0),
            ("traced", "[1, 5]", (1, 5)),
        ],
    )
    def test_values_are_read_as_the_field_takes_them(self, path, text, value):
        found = assign(adeu_counts(), path, text)
        for name in path.split("."):
            found = getattr(found, name)
        assert found == value
        assert type(found) is type(value)

    def test_a_named_tuple_is_changed_too(self):
        assert assign(ucb(), "learners.ucb", "3").learners.ucb == 3.0

    def test_only_cases_that_have_it_are_changed(self):
        cases = override({"adeu": adeu_counts(), "coin": epsilon_greedy()}, ["f.beta=0.5", "episodes=9"])
        assert cases["adeu"].f == adeu.Counts(beta=0.5)
        assert cases["coin"].f == adeu.Constant(0.01)
        assert cases["coin"].episodes == 9

    @pytest.mark.parametrize(
        ("assignment", "message"),
        [
            ("f.bta=1", "no setting 'f.bta' at 'bta'; did you mean 'beta'"),
            ("lake.siz=1", "did you mean 'size'"),
            ("learners.ucb=1", "learners is None"),
            ("episodes.x=1", "episodes is 30000"),
            ("episodes=many", "episodes takes int, got 'many'"),
            ("episodes=1.5", "episodes takes int, got '1.5'"),
            ("lake.safe=1", "lake.safe takes bool, got '1'"),
            ("lake.size=2", "Lake: size takes a whole number >= 3, got 2"),
            ("f.beta=-1", "Counts: beta takes a finite number > 0, got -1"),
            ("f=Rnd", "f takes values for its fields: num_states, beta"),
            ("episodes", "path=value"),
            ("=3", "path=value"),
        ],
    )
    def test_a_bad_one_is_refused(self, assignment, message):
        with pytest.raises(ValueError, match=message):
            override({"adeu": adeu_counts()}, [assignment])
