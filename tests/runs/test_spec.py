"""Specs: conversion to JSON, and differences between two of them."""

import dataclasses
import json

import pytest

import adeu
from adeu.envs import Lake
from adeu.experiments import NAMES, locate
from adeu.experiments.lib.lake_setting import LakeSetting, adeu_counts, epsilon_greedy, ucb
from adeu.runs.spec import Spec, differences, plain


def spec(setting, seed=0):
    return Spec("frozen-lake", "adeu", seed, setting)


class TestPlain:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_setting_round_trips_through_json(self, name):
        for experiment in locate(name):
            for setting in experiment.cases.values():
                text = json.dumps(plain(setting), allow_nan=False)
                assert json.loads(text) == plain(setting)

    def test_all_fields_are_included(self):
        data = plain(ucb())
        assert set(data) == {field.name for field in dataclasses.fields(LakeSetting)}
        assert adeu.from_json(json.dumps(data["agent"])) == ucb().agent
        assert data["lake"]["size"] == 1500
        assert data["agent"]["explorer"]["f"] == {"part": "Constant", "c": 0.0}

    def test_different_runs_have_different_json(self):
        one = spec(adeu_counts())
        assert one.plain() == spec(adeu_counts()).plain()
        others = [spec(adeu_counts(beta=0.8)), spec(adeu_counts(), seed=1), spec(epsilon_greedy())]
        others += [spec(dataclasses.replace(adeu_counts(), lake=Lake(goal=3.0)))]
        assert len({json.dumps(each.plain()) for each in [one, *others]}) == 5


class TestDifferences:
    def words(self, there, here):
        return [difference.words for difference in differences(there, here)]

    def test_differing_values_are_named(self):
        there, here = plain(adeu_counts()), plain(adeu_counts(beta=0.5))
        assert self.words(there, here) == ["agent.explorer.f.beta is 0.9 there and 0.5 here"]
        assert self.words(there, there) == []

    def test_differing_parts_are_shown_by_name(self):
        assert self.words(plain(adeu_counts()), plain(epsilon_greedy())) == [
            'agent.explorer.f is "Counts" there and "Constant" here',
            'agent.explorer.g is "ShiftedSigmoid" there and "Identity" here',
            'agent.explorer.D is "Categorical" there and "Bernoulli" here',
        ]

    def test_missing_and_unknown_fields_are_named(self):
        found = list(differences({"f": 1, "lake": {"size": 3}}, {"lake": {"size": 4, "goal": 1.0}}))
        assert found == [
            ("lake.size is 3 there and 4 here", False),
            ("lake.goal is missing there", True),
            ("f is unknown here", True),
        ]
