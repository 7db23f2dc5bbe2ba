"""Rows of summary.json and curves.csv: intervals or single runs, and comparisons over common seeds."""

import dataclasses
import json

import numpy as np
import pytest

from adeu.experiments import mujoco
from adeu.experiments.lib.experiment import FIRST_SOLVED, MAX, MEAN, SOLVED, SPREAD, Experiment, curve_columns
from adeu.runs.statistics import difference, improvement, mean, share

DOCUMENTED = ["case", "metric", "value", "low", "high", "seeds", "paper"]


def curves(seeds, better=0.0, solved=True):
    """Return runs whose return is a random value of their seed plus `better`."""
    seeds = np.array(seeds, float)
    luck = np.random.default_rng(0).gamma(2.0, 100.0, 50)[seeds.astype(int)]
    returns = (luck + better)[:, None] + np.array([0.0, 1.0, 2.0])
    steps = np.tile([10.0, 20.0, 30.0], (len(seeds), 1))
    return {
        "seed": seeds,
        "step": steps,
        "episode": steps / 10,
        "return": returns,
        "spread": returns * 0 + 0.1,
        "solved": np.full(returns.shape, float(solved)),
    }


def experiment(**changes):
    cases = {"first": None, "second": None, "third": None}
    metrics = (MEAN, MAX, FIRST_SOLVED, SOLVED, SPREAD)
    made = Experiment(
        "name", "title", "lesson", cases, metrics, lambda curves, folder: [], paper={"second": {"mean": 7.0}}
    )
    return dataclasses.replace(made, **changes)


def rows(found, **changes):
    table = experiment(**changes).summary(found)
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    return {(row["case"], row["metric"]): row for row in table}


def test_the_documented_columns_come_first():
    for row in rows({"first": curves(range(5)), "second": curves(range(5))}).values():
        assert list(row)[:7] == DOCUMENTED
    assert rows({"second": curves(range(5))})["second", "mean"]["paper"] == 7


def test_intervals_need_five_seeds():
    found = curves(range(5))
    row = rows({"first": found})["first", "mean"]
    assert (row["value"], row["low"], row["high"]) == mean(found["return"].mean(axis=1))
    assert row["low"] < row["value"] < row["high"]
    few = rows({"first": curves(range(4))})
    assert few["first", "mean"]["value"] is not None
    assert {(row["low"], row["high"]) for row in few.values() if row["metric"] != "solved"} == {(None, None)}
    assert (few["first", "solved"]["low"], few["first", "solved"]["high"]) == share([1, 1, 1, 1])[1:]


def test_single_runs_are_keyed_by_their_seed():
    found = curves([7, 3], solved=False)
    table = rows({"first": found})
    assert table["first", "mean"]["runs"] == {"7": found["return"][0].mean(), "3": found["return"][1].mean()}
    assert table["first", "first_solved"]["runs"] == {"7": None, "3": None}
    assert table["first", "solved"]["runs"] == {"7": 0.0, "3": 0.0}
    assert table["first", "max"]["runs"] is None


def test_max_of_the_average_run_has_no_interval_and_no_comparison():
    table = rows({"first": curves(range(20)), "second": curves(range(20), 5.0)})
    assert "biased up" in MAX.title
    row = table["second", "max"]
    assert (row["low"], row["high"], row["reference"], row["difference"]) == (None,) * 4


def test_cases_are_compared_over_common_seeds():
    """The reference has seeds 0 to 7, the other case seeds 11 to 2."""
    first, second = curves(range(8)), curves([11, 10, 9, 8, 7, 6, 5, 4, 3, 2], better=3.0)
    row = rows({"first": first, "second": second})["second", "mean"]
    assert (row["seeds"], row["common_seeds"], row["reference"]) == (10, 6, "first")
    x, y = second["return"].mean(axis=1)[::-1][:6], first["return"].mean(axis=1)[2:]
    assert [row[f"difference{end}"] for end in ("", "_low", "_high")] == list(difference(x, y))
    assert row["difference"] == pytest.approx(3.0)
    assert [row[f"improvement{end}"] for end in ("", "_low", "_high")] == list(improvement(x, y))
    assert row["improvement"] == 1


def test_lower_may_be_better_or_neither():
    first, second = curves(range(6)), curves(range(6))
    later = {"solved": np.tile([0.0, 1.0, 1.0], (6, 1)), "spread": second["spread"] + 0.1}
    table = rows({"first": first, "second": second | later})
    assert table["second", "first_solved"]["difference"] == 1
    assert table["second", "first_solved"]["improvement"] == 0
    assert table["second", "spread"]["difference"] == pytest.approx(0.1)
    assert table["second", "spread"]["improvement"] is None


def test_the_reference_may_be_another_case_or_missing():
    found = {"first": curves(range(5)), "second": curves(range(5), 1.0)}
    assert {row["reference"] for row in rows(found).values()} == {None, "first"}
    other = rows(found, reference="second")
    assert other["first", "mean"]["difference"] == pytest.approx(-1)
    assert other["second", "mean"]["difference"] is None
    assert {row["common_seeds"] for row in rows(found, reference="third").values()} == {None}
    apart = rows({"first": curves([0, 1]), "second": curves([2, 3])})["second", "mean"]
    assert (apart["common_seeds"], apart["difference"], apart["improvement"]) == (0, None, None)


def test_a_control_is_compared_with_its_source():
    """Without runs of its source, it is compared with the reference."""
    cases = {"first": None, "second": mujoco.cases("Hopper-v5", "paper")["rnd-shuffled"], "rnd": None}
    found = {"first": curves(range(5)), "second": curves(range(5), 1.0), "rnd": curves(range(5), 5.0)}
    for known in ({"cases": cases}, {"cases": {"second": cases["second"]}, "left_out": cases, "reference": "first"}):
        table = rows(found, **known)
        assert table["second", "mean"]["reference"] == "rnd"
        assert table["second", "mean"]["difference"] == pytest.approx(-4)
        assert table["rnd", "mean"]["reference"] == "first"
        del found["rnd"]
        assert rows(found, **known)["second", "mean"]["reference"] == "first"
        found["rnd"] = curves(range(5), 5.0)


def test_curves_have_a_band_or_single_runs():
    found = curve_columns({"many": curves(range(5)), "few": curves([4, 9])})
    assert list(found)[:8] == ["case", "step", "episode", "return", "low", "high", "seed-4", "seed-9"]
    many, few = slice(0, 3), slice(3, 6)
    assert all(
        low < value < high
        for low, value, high in zip(*(found[n][many] for n in ("low", "return", "high")), strict=True)
    )
    assert found["seed-4"][many] == found["low"][few] == found["high"][few] == [None] * 3
    assert found["seed-9"][few] == curves([4, 9])["return"][1].tolist()
    assert "seed-4" not in curve_columns({"many": curves(range(5))})
