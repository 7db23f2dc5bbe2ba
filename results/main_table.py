"""Write the tables of the stored MuJoCo runs into README.md and docs/td3.md, and draw their curves.

    python -m results.main_table

The tables stand between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adeu.experiments import locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.tables import by_case, number, span
from adeu.experiments.lib.watch import after_warmup
from adeu.experiments.mujoco import ADAPTIVE, draw_all, draw_one
from adeu.runs.statistics import FEWEST, Curves, improvement, known_mean
from results.keep import RESULTS, curves, summary

ROOT = RESULTS.parent
IMAGES = ROOT / "docs" / "images"
NAME = "mujoco"
Cells = Sequence[str]


def members() -> dict[str, dict[str, Curves]]:
    """Return the stored curves by domain and case, in the experiment's order."""
    found = {member.name: (RESULTS / member.name, member) for member in locate(NAME)}
    return {name: curves(folder, member) for name, (folder, member) in found.items() if folder.is_dir()}


def rows(name: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return a domain's summary by case and metric."""
    return {case: {row["metric"]: row for row in of} for case, of in by_case(summary(RESULTS / name)).items()}


def domains() -> str:
    """Return the table of RND against f = c in each domain, and the share of runs in which RND is better."""
    heads = ("", "f = c", "f = RND", "RND minus f = c", "RND better in", "g saturated", "paper: f = c", "paper: RND")
    lines, gains = list[Cells](), list[float]()
    for name, found in members().items():
        of = rows(name)
        if {"constant", "rnd"} <= of.keys():
            constant, rnd = of["constant"], of["rnd"]
            gains += differences(rnd["mean"], constant["mean"])
            lines.append(
                (
                    domain(name),
                    *(
                        f"{mean(row['mean'], single=True)}; {number(row['max']['value'], ',.0f')}"
                        for row in (constant, rnd)
                    ),
                    difference(rnd["mean"], constant["mean"]),
                    won(rnd["mean"]),
                    saturated(found["rnd"]),
                    paper(constant),
                    paper(rnd),
                )
            )
    over = improvement(gains, np.zeros(len(gains)))
    better = f"{sum(gain > 0 for gain in gains)} of {len(gains)} ({span(over.low, over.high, '.0%')})"
    return markdown(heads, [*lines, ("all", "", "", "", better, "", "", "")])


def details() -> str:
    """Return the table of all stored rows and controls."""
    heads = ("", "row", "mean", "each seed", "compared with", "better in", "max", "spread", "saturated", "paper")
    lines: list[Cells] = []
    for name, found in members().items():
        of = rows(name)
        for case, row in of.items():
            other = of.get(row["mean"]["reference"])
            lines.append(
                (
                    domain(name) if case == next(iter(of)) else "",
                    f"`{case}`",
                    mean(row["mean"]),
                    each_seed(row["mean"]),
                    f"`{row['mean']['reference']}`: {difference(row['mean'], other['mean'])}" if other else "",
                    won(row["mean"]),
                    number(row["max"]["value"], ",.0f"),
                    number(row["spread"]["value"], ".3f"),
                    saturated(found[case]) if case in ADAPTIVE else "",
                    paper(row),
                )
            )
    return markdown(heads, lines)


def domain(name: str) -> str:
    return name.removeprefix(f"{NAME}/").removesuffix("-v5")


def mean(row: dict[str, Any], single: bool = False) -> str:
    """Return a mean with its interval; `single`: or with each seed's, if they are too few for an interval."""
    beside = span(row["low"], row["high"], ",.0f") or (each_seed(row) if single and row["seeds"] > 1 else "")
    return number(row["value"], ",.0f") + (f" ({beside})" if beside else "")


def each_seed(row: dict[str, Any]) -> str:
    return ", ".join(number(run, ",.0f") for run in row["runs"].values())


def paper(row: dict[str, dict[str, Any]]) -> str:
    figures = [row[metric]["paper"] for metric in ("mean", "max")]
    return "" if None in figures else "; ".join(number(figure, ",.0f") for figure in figures)


def difference(row: dict[str, Any], other: dict[str, Any]) -> str:
    """Return the mean difference with its interval or, with too few seeds for one, the single differences."""
    if found := span(row["difference_low"], row["difference_high"], ",.0f", sign="+"):
        return f"{number(row['difference'], ',.0f', sign='+')} ({found})"
    return ", ".join(number(each, ",.0f", sign="+") for each in differences(row, other))


def differences(row: dict[str, Any], other: dict[str, Any]) -> list[float]:
    return [value - other["runs"][seed] for seed, value in row["runs"].items() if seed in other["runs"]]


def won(row: dict[str, Any]) -> str:
    """Return in how many seeds a row is better than its reference; with Wilson's interval from 5 seeds on."""
    seeds = row["common_seeds"]
    if not seeds:
        return ""
    count = f"{row['improvement'] * seeds:.0f} of {seeds}"
    return count if seeds < FEWEST else f"{count} ({span(row['improvement_low'], row['improvement_high'], '.0%')})"


def saturated(found: Curves) -> str:
    return f"{float(known_mean(after_warmup(found, 'saturated'), 0)):.0%}"


def markdown(heads: Cells, lines: Iterable[Cells]) -> str:
    rule = ("---", *("---:" for _ in heads[1:]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *lines))


PAGES = {"domains": (ROOT / "README.md", domains), "details": (ROOT / "docs" / "td3.md", details)}
"""The page of each table."""


def replaced(text: str, name: str, table: str) -> str:
    """Return a page's text with this table in the place of the old one."""
    begin, end = f"<!-- {name} -->\n\n", f"\n\n<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"the page has no place for the table {name}: {begin}{end}")
    return before + begin + table + end + after


def draw() -> None:
    """Draw the two rows that every domain has, and all rows of Hopper."""
    found = members()
    both = ("constant", "rnd")
    pair = {name: {case: curve for case, curve in of.items() if case in both} for name, of in found.items()}
    with plots.drawing(), tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        shutil.move(draw_all(pair, folder)[0], IMAGES / "mujoco.png")
        shutil.move(draw_one(found[f"{NAME}/Hopper-v5"], folder)[0], IMAGES / "hopper.png")


if __name__ == "__main__":
    for name, (page, table) in PAGES.items():
        page.write_text(replaced(page.read_text(), name, table()))
    draw()
