"""The figures of a tally, computed by hand, and saving and restoring it."""

import math

import numpy as np
import pytest

import adeu
from adeu.behavior.tally import Tally

EXPLORER = adeu.Explorer(adeu.Constant(1.0), adeu.Saturating(0.2), adeu.Gaussian())


def decision(spread, asked=True, deviation=0.0, uncertainty=0.0):
    return adeu.Decision(
        np.zeros(2),
        np.bool_(True),
        np.float32(uncertainty),
        np.float32(spread),
        np.bool_(asked),
        np.float32(deviation),
    )


def test_percentiles_and_saturation_are_of_the_steps_in_which_f_was_asked():
    tally = Tally(EXPLORER)
    for number in range(11):  # 0.00, 0.02, ... 0.20; the last is saturated
        tally.add(decision(0.02 * number, deviation=0.1 * number), switches=1, episodes=number == 10)
    for _ in range(11):
        tally.add(decision(0.2, asked=False, deviation=0.5), switches=0, episodes=0)
    row = tally.columns()
    assert row["spread_p10"] == pytest.approx(0.02)
    assert row["spread_p90"] == pytest.approx(0.18)
    assert row["saturated"] == pytest.approx(1 / 11)
    assert row["spread"] == pytest.approx(0.15)  # over all steps
    assert row["deviation"] == pytest.approx(0.5)
    assert row["switches"] == 11


def test_without_steps_all_figures_are_nan():
    tally = Tally(EXPLORER)
    assert all(map(math.isnan, tally.columns().values()))
    tally.add(decision(0.2), 0, 0)
    assert tally.columns()["saturated"] == 1.0
    assert all(map(math.isnan, tally.columns().values()))


def test_if_f_was_never_asked_only_its_figures_are_nan():
    tally = Tally(EXPLORER)
    tally.add(decision(0.2, asked=False, deviation=0.25), 0, 0)
    row = tally.columns()
    assert {name for name, value in row.items() if math.isnan(value)} == {"saturated", "spread_p10", "spread_p90"}
    assert row["deviation"] == 0.25


def test_discrete_actions_have_no_deviation():
    tally = Tally(adeu.Explorer(adeu.Constant(1.0), adeu.Saturating(0.2), adeu.Bernoulli()))
    tally.add(decision(0.2), 0, 0)
    assert "deviation" not in tally.columns()


def test_several_environments_equal_single_ones():
    spreads, asked = np.float32([0.1, 0.15, 0.2]), np.array([True, False, True])
    single, several = Tally(EXPLORER), Tally(EXPLORER)
    for spread, was_asked in zip(spreads, asked, strict=True):
        single.add(decision(spread, was_asked, 2 * spread), 0, 0)
    several.add(adeu.Decision(np.zeros((3, 2)), asked, spreads, spreads, asked, 2 * spreads), 0, 0)
    ours, theirs = single.columns(), several.columns()
    for name in ("spread", "deviation", "saturated", "spread_p10", "spread_p90"):
        assert ours[name] == pytest.approx(theirs[name])


def test_a_restored_tally_gives_the_same_bits():
    random, tally, other = np.random.default_rng(0), Tally(EXPLORER), Tally(EXPLORER)
    steps = [decision(random.random(), random.random() < 0.5, random.random(), random.random()) for _ in range(50)]
    for step in steps[:20]:
        tally.add(step, 1, 0)
    other.restore({name: array.copy() for name, array in tally.arrays().items()})
    for step in steps[20:]:
        tally.add(step, 0, 1)
        other.add(step, 0, 1)
    assert tally.columns() == other.columns()


def test_scalars_are_the_figures_that_exist_with_a_prefix():
    tally, same = Tally(EXPLORER), Tally(EXPLORER)
    for number in range(11):
        for each in (tally, same):
            each.add(decision(0.02 * number, asked=number > 5, deviation=0.1))
    row = same.columns()
    names = {"uncertainty", "spread", "spread_p10", "spread_p90", "saturated", "explored", "deviation"}
    assert tally.scalars() == {f"adeu/{name}": row[name] for name in names}
    assert tally.scalars() == {}
    tally.add(decision(0.2, asked=False))
    assert tally.scalars().keys() == {f"adeu/{name}" for name in ("uncertainty", "spread", "explored", "deviation")}


def test_it_keeps_a_limited_number_of_spreads(monkeypatch):
    monkeypatch.setattr("adeu.behavior.tally.MOST", 10)
    tally = Tally(EXPLORER)
    for number in range(25):
        tally.add(decision(0.001 * number))
    assert len(tally.arrays()["asked"]) == 10
    row = tally.columns()
    assert row["spread_p10"] == pytest.approx(np.percentile(0.001 * np.arange(15, 25), 10))
    assert row["spread"] == pytest.approx(0.012)  # over all steps
