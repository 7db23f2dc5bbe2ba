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


CITED = {
    ("parts.md", "`Rnd(scale=U)` uses the square"): ["Eq. 3"],
    ("parts.md", "[`Inverse(f_safety)`]"): ["Eq. 5"],
    ("parts.md", "[`Ratio(f, f_safety, lam)`]"): ["Eq. 6"],
    ("index.md", "`Inverse`, `Ratio`"): ["Eq. 5", "Eq. 6"],
    ("safety.md", "explores where the cost is low"): ["Eq. 5", "Eq. 6"],
    ("experiments.md", "`adeu run frozen-lake` |"): ["Table 3"],
    ("experiments.md", "`adeu run safe-frozen-lake` |"): ["Table 4", "Eq. 6"],
    ("experiments.md", "`adeu run mujoco` |"): ["Table 5", "Table 4"],
}
"""The citations in the docs' lines about a part or an experiment. The appendix calls the MuJoCo table Table 4."""


@pytest.mark.parametrize(("page", "about"), CITED)
def test_the_docs_cite_the_papers_numbers(page, about):
    (line,) = (line for line in (ROOT / "docs" / page).read_text().splitlines() if about in line)
    assert re.findall(r"(?:Eq\.|Table) \d", line) == CITED[page, about]


def test_no_equation_above_7_and_no_table_above_5_is_cited():
    files = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    text = "\n".join(path.read_text() for path in files)
    assert {int(number) for number in re.findall(r"Eq\. (\d+)", text)} <= set(range(1, 8))
    assert {int(number) for number in re.findall(r"Table (\d+)", text)} <= set(range(1, 6))
