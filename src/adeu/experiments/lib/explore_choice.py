"""Evaluates `explore-tuning`: the best candidates for each task, and one composition for all tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table

from adeu.experiments.lib.explore_tuned import Tuned

Rows = list[dict[str, Any]]
OWN = ("sb3-ou", "rnd-bonus")
"""Kinds with a fixed D."""
EXPLORERS = ("constant", "rnd", "stakes", "sb3-ou")
"""Kinds whose agents differ only in the explorer."""
ADAPTIVE = ("rnd", "q-std", "stakes")
SHOWN = 10
"""The number of compositions printed."""


class Candidate(NamedTuple):
    """An agent, a D and an amplitude."""

    kind: str
    noise: str
    """The name of D; empty if the kind has a fixed D."""
    amplitude: float

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.kind, self.noise, f"{self.amplitude:g}")))


class Score(NamedTuple):
    """A candidate's score; the area under the curve breaks ties in the final performance."""

    final: float
    area: float


Scores = Mapping[Candidate, Score]


def scores(candidates: Iterable[Candidate], rows: Rows) -> Scores:
    """Return the scores of the candidates in the summary of a task."""
    values = {(row["case"], row["metric"]): row["value"] for row in rows}
    return {
        each: Score(values[each.name, "final"], values[each.name, "area"])
        for each in candidates
        if (each.name, "final") in values
    }


def best(found: Scores, kind: str, noise: str | None = None) -> Candidate:
    """Return the best candidate of a kind, with a given D or any; ties go to the first."""
    among = [each for each in found if each.kind == kind and noise in (None, each.noise)]
    return max(among, key=found.__getitem__)


def choose(found: Scores) -> Tuned:
    """Return the best D with a constant spread, the best adaptive f with this D, and an amplitude for each case."""
    noise = best(found, "constant").noise
    chosen = {each.noise: best(found, "constant", each.noise) for each in found if each.kind == "constant"}
    for kind in dict.fromkeys(each.kind for each in found if each.kind != "constant" and each.noise in (noise, "")):
        chosen[kind] = best(found, kind, noise if kind not in OWN else "")
    adaptive = max((name for name in ADAPTIVE if name in chosen), key=lambda name: found[chosen[name]])
    return Tuned(noise, adaptive, {name: each.amplitude for name, each in chosen.items()})


def rank(tasks: Mapping[str, Scores]) -> list[tuple[Candidate, dict[str, float]]]:
    """Return the explorers tried on every task, sorted by their smallest share of a task's best final score.

    Ties are broken by the areas under the curves. Tasks on which no explorer made progress are ignored.
    """
    tried = {
        task: {each: score for each, score in found.items() if each.kind in EXPLORERS}
        for task, found in tasks.items()
    }
    top = {task: max(score.final for score in found.values()) for task, found in tried.items()}
    counted = [task for task, final in top.items() if final > 0]
    everywhere = [each for each in next(iter(tried.values())) if all(each in found for found in tried.values())]
    shares = {each: {task: tasks[task][each].final / top[task] for task in counted} for each in everywhere}

    def worth(candidate: Candidate) -> tuple[float, float]:
        return min(shares[candidate].values()), sum(found[candidate].area for found in tasks.values())

    return [(each, shares[each]) for each in sorted(shares, key=worth, reverse=True)]


def choice_table(candidates: Mapping[str, Iterable[Candidate]], discrete: tuple[str, ...], members: Any) -> Group:
    """Return the choice for each task, and the best compositions for all Box tasks and for all Discrete tasks."""
    found = {name.rpartition("/")[2]: rows for name, rows in members.items()}
    tasks = {task: scores(candidates[task], rows) for task, rows in found.items()}
    chosen = Table(title="Chosen for each task", title_justify="left", title_style="bold", box=box.SIMPLE)
    for title in ("task", "D", "adaptive f", "amplitudes"):
        chosen.add_column(title)
    for task, each in tasks.items():
        tuned = choose(each)
        amplitudes = ", ".join(f"{case} {amplitude:g}" for case, amplitude in tuned.amplitudes.items())
        chosen.add_row(task, tuned.noise, tuned.adaptive, amplitudes)
    boxes = {task: each for task, each in tasks.items() if task not in discrete}
    kinds = {"Box": boxes, "Discrete": {task: each for task, each in tasks.items() if task in discrete}}
    return Group(chosen, *(_ranking(kind, rank(each)) for kind, each in kinds.items() if each))


def _ranking(kind: str, ranked: list[tuple[Candidate, dict[str, float]]]) -> Table:
    shown = Table(
        title=f"One composition for every {kind} task: its share of each task's best final performance",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE,
    )
    shown.add_column("")
    for task in ranked[0][1]:
        shown.add_column(task, justify="right")
    shown.add_column("smallest", justify="right")
    for candidate, shares in ranked[:SHOWN]:
        shown.add_row(candidate.name, *(f"{share:.2f}" for share in (*shares.values(), min(shares.values()))))
    return shown
