"""Equations and tables are cited by their numbers in the paper."""

import pathlib
import re

import pytest

import adeu
from adeu.agents import Td3

ROOT = pathlib.Path(__file__).parent.parent
NUMBERS = {
    adeu.Explorer: "Eq. 1",
    adeu.Rnd: "Eq. 3",
    adeu.Inverse: "Eq. 5",
    adeu.Ratio: "Eq. 6",
    adeu.ExpectedCost: "Eq. 5 and Eq. 6",
    adeu.Sigmoid: "Eq. 7",
    adeu.Constant: "Table 5",
    Td3: "Table 5",
}


@pytest.mark.parametrize("part", NUMBERS, ids=lambda part: part.__name__)
def test_a_part_cites_its_equation(part):
    paper = part.__doc__.partition("Paper:")[2]
    assert re.findall(r"(?:Eq\.|Table) \d", paper) == re.findall(r"(?:Eq\.|Table) \d", NUMBERS[part])


def test_no_equation_above_7_and_no_table_above_5_is_cited():
    files = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    text = "\n".join(path.read_text() for path in files)
    assert {int(number) for number in re.findall(r"Eq\. (\d+)", text)} <= set(range(1, 8))
    assert {int(number) for number in re.findall(r"Table (\d+)", text)} <= set(range(1, 6))
