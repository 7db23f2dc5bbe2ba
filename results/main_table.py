"""Write the tables of the stored MuJoCo runs into README.md and docs/td3.md, and draw their curves.

    python -m results.main_table

The tables stand between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adeu.experiments import locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.tables import by_case, number, span
from adeu.experiments.lib.watch import after_warmup
from adeu.experiments.mujoco import draw_all, draw_one
from adeu.runs import statistics
from adeu.runs.statistics import Curves, known_mean
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
    """Return the table of RND against f = c in each domain, and over all pairs of runs with the same seed."""
    heads = ("", "f = c", "f = RND", "RND minus f = c", "RND better in", "g saturated", "paper: f = c", "paper: RND")
    lines, gains = list[Cells](), list[float]()
    for name, found in members().items():
        of = rows(name)
        constant, rnd = of["constant"], of["rnd"]
        gains += [gain / constant["mean"]["paper"] for gain in differences(rnd["mean"], constant["mean"])]
        lines.append(
            (
                name.removeprefix(f"{NAME}/").removesuffix("-v5"),
                *(f"{mean(row['mean'])}; {number(row['max']['value'], ',.0f')}" for row in (constant, rnd)),
                difference(rnd["mean"], constant["mean"]),
                won(rnd["mean"]),
                saturated(found["rnd"]),
                paper(constant),
                paper(rnd),
            )
        )
    over, better = statistics.mean(gains), statistics.improvement(gains, np.zeros(len(gains)))
    total = f"{number(over.value, '.0%', sign='+')} ({span(over.low, over.high, '.0%', sign='+')})"
    count = f"{sum(gain > 0 for gain in gains)} of {len(gains)} ({span(better.low, better.high, '.0%')})"
    lines.append(("all", "", "", f"{total} of the paper's f = c", count, "", "", ""))
    return markdown(heads, lines)


def details() -> str:
    """Return the table of all stored rows and controls."""
    heads = ("", "row", "mean", "each seed", "compared with", "better in", "max", "spread", "saturated", "paper")
    lines: list[Cells] = []
    for name, found in members().items():
        of = rows(name)
        for case, row in of.items():
            reference = row["mean"]["reference"]
            lines.append(
                (
                    "" if lines and case != next(iter(of)) else name.removeprefix(f"{NAME}/").removesuffix("-v5"),
                    f"`{case}`",
                    mean(row["mean"]),
                    ", ".join(number(run, ",.0f") for run in row["mean"]["runs"].values()),
                    f"`{reference}`: {difference(row['mean'], of[reference]['mean'])}" if reference else "",
                    won(row["mean"]) if reference else "",
                    number(row["max"]["value"], ",.0f"),
                    number(row["spread"]["value"], ".3f"),
                    saturated(found[case]) if reference and not case.endswith(("shuffled", "matched")) else "",
                    paper(row),
                )
            )
    return markdown(heads, lines)


def mean(row: dict[str, Any]) -> str:
    found = span(row["low"], row["high"], ",.0f")
    return number(row["value"], ",.0f") + (f" ({found})" if found else "")


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
    count = f"{row['improvement'] * row['common_seeds']:.0f} of {row['common_seeds']}"
    return f"{count} ({span(row['improvement_low'], row['improvement_high'], '.0%')})"


def saturated(found: Curves) -> str:
    return f"{float(known_mean(after_warmup(found, 'saturated'), 0)):.0%}"


def markdown(heads: Cells, lines: Iterable[Cells]) -> str:
    rule = ("---", *("---:" for _ in heads[1:]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *lines))


def pages() -> Iterator[tuple[pathlib.Path, str, str]]:
    """Yield each page, the name of its table, and the table."""
    yield ROOT / "README.md", "domains", domains()
    yield ROOT / "docs" / "td3.md", "details", details()


def replaced(text: str, name: str, table: str) -> str:
    """Return a page's text with this table in the place of the old one."""
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"the page has no place for the table {name}: {begin}{end}")
    return before + begin + table + end + after


def draw() -> None:
    """Draw the two rows that every domain has, and all rows of Hopper."""
    found = members()
    pair = {name: {case: of[case] for case in ("constant", "rnd")} for name, of in found.items()}
    with plots.drawing(), tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        shutil.move(draw_all(pair, folder)[0], IMAGES / "mujoco.png")
        shutil.move(draw_one(found[f"{NAME}/Hopper-v5"], folder)[0], IMAGES / "hopper.png")


if __name__ == "__main__":
    for page, name, table in pages():
        page.write_text(replaced(page.read_text(), name, table))
    draw()
