"""Plots of experiments, as PNG for the screen and SVG for print."""

from __future__ import annotations

import contextlib
import io
import itertools
import pathlib
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adeu.core import files
from adeu.experiments.lib.naming import base
from adeu.runs.statistics import FEWEST, Curves, band, known_mean, wilson
from adeu.runs.statistics.estimate import average

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
COLORS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")
"""The palette of Okabe and Ito, which colour-blind readers can distinguish."""
CASES = {"eps-greedy": 0, "adeu": 1, "adeu-eq1": 1, "im": 2, "ucb": 3, "adeu-eq5": 4, "adeu-eq6": 5}
"""The index of a case's colour in all plots."""
Line = str | tuple[float, tuple[float, ...]]
"""A line style of matplotlib."""
LINES: tuple[Line, ...] = ("-", (0, (4, 4)), (0, (1, 2)))
"""If there are more cases than colours, the styles of the first, second and third case of each colour."""
WIDEST = 30
"""The maximal number of letters of a case's name in one line."""
WIDE = 100.0
"""The ratio of the maximum to the lower quartile above which an axis is logarithmic."""


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of all pictures, ignoring any matplotlibrc."""
    with contextlib.chdir("/"):  # its first import reads a matplotlibrc in the working folder
        import matplotlib
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("axes.spines", top=False, right=False)
        matplotlib.rc("legend", frameon=False)
        yield


def save(figure: Figure, path: pathlib.Path) -> list[pathlib.Path]:
    """Write the figure as .png and .svg, reproducibly: equal figures give equal files."""
    import matplotlib

    paths = [path.with_name(path.name + suffix) for suffix in (".png", ".svg")]
    for each in paths:
        buffer, kind = io.BytesIO(), each.suffix[1:]
        with matplotlib.rc_context({"svg.hashsalt": "adeu"}):
            metadata = {"Date": None} if kind == "svg" else None
            figure.savefig(buffer, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
        files.write(each, buffer.getvalue())
    return paths


def side_by_side(figure: Figure) -> tuple[Axes, Axes]:
    """Return the left and right axes of a figure."""
    axes: tuple[Axes, Axes] = tuple(figure.subplots(1, 2))
    return axes


def label(case: str) -> str:
    """Return a case's name as a label: wrapped, and with escaped dollar signs."""
    return textwrap.fill(case, WIDEST).replace("$", r"\$")


def style(cases: Iterable[str]) -> dict[str, tuple[str, Line]]:
    """Return colour and line style of each case.

    `im` is dashed, so that a coinciding line remains visible. Variants of a case have its colour and another style.
    """
    names = list(cases)
    known = {name: CASES[base(name)] for name in names if base(name) in CASES}
    styles: dict[str, tuple[str, Line]] = {}
    for name, place in known.items():
        before = sum(color == COLORS[place] for color, _ in styles.values())
        styles[name] = COLORS[place], LINES[((base(name) == "im") + before) % len(LINES)]
    free = [color for place, color in enumerate(COLORS) if place not in known.values()]
    others = zip((name for name in names if name not in known), itertools.cycle(itertools.product(LINES, free)))
    styles |= {name: (color, line) for name, (line, color) in others}
    return {name: styles[name] for name in names}


def about(curves: Iterable[Curves]) -> str:
    """Return a description of the lines and bands that `plot_mean` draws for these cases."""
    seeds = sorted({len(curve["seed"]) for curve in curves})
    words = [f"mean over {' or '.join(map(str, seeds))} seeds" if seeds != [1] else "one seed"]
    words += ["band: its 95% interval"] * (seeds[-1] >= FEWEST)
    words += ["thin lines: single runs"] * (1 < seeds[0] < FEWEST)
    return "; ".join(words)


def log_helps(values: Floats) -> bool:
    """Return whether a logarithmic axis is clearer than a linear one.

    It is if many values are small compared with the largest, and none is far below 0.

    Examples:
        >>> log_helps(np.array([0.0, 3.0, 40.0, 90_000.0])), log_helps(np.array([-1_400.0, -150.0]))
        (True, False)
    """
    known = values[np.isfinite(values)]
    positive = known[known > 0]
    if not positive.size or known.min() < -known.max() / WIDE:
        return False
    return bool(known.max() / WIDE > np.quantile(positive, 0.25))


def plot_mean(axes: Axes, x: Floats, values: Floats, color: str, line: Line, case: str) -> None:
    """Draw the mean over seeds of `values` (seeds, rows), with its 95% band or, below 5 seeds, the single runs."""
    if len(values) < FEWEST:
        plot_runs(axes, x, values, color, line, case)
        return
    _plot_line(axes, x, known_mean(values, 0), color, line, case)
    mean, low, high = band(values)
    low, high = np.where(np.isnan(low), mean, low), np.where(np.isnan(high), mean, high)  # if all seeds agree
    axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)


def plot_runs(axes: Axes, x: Floats, values: Floats, color: str, line: Line, case: str) -> None:
    """Draw the mean over seeds of `values` (seeds, rows), and the single runs."""
    _plot_line(axes, x, known_mean(values, 0), color, line, case)
    marker = "." if len(x) == 1 else ""
    axes.plot(x, values.T, color=color, linestyle=line, marker=marker, linewidth=0.6, alpha=0.55)


def crop(axes: Axes) -> None:
    """Cut off bands more than half of the lines' range beyond the lines: with few runs, bands can dwarf them."""
    heights = [height for line in axes.lines for height in np.asarray(line.get_ydata(), float) if np.isfinite(height)]
    if heights and min(heights) < max(heights):
        margin, (bottom, top) = (max(heights) - min(heights)) / 2, axes.get_ylim()
        axes.set_ylim(max(bottom, min(heights) - margin), min(top, max(heights) + margin))


def plot_share(axes: Axes, x: Floats, values: Floats, color: str, line: Line, case: str) -> None:
    """Draw the share of seeds for which `values` (seeds, rows) is 1, with Wilson's 95% band."""
    share = average(values, axis=0)
    _plot_line(axes, x, share, color, line, case)
    axes.fill_between(x, *wilson(share, len(values)), color=color, alpha=0.12, linewidth=0)


def _plot_line(axes: Axes, x: Floats, y: Floats, color: str, line: Line, case: str) -> None:
    """Draw a line with a legend entry; a single row is a dot."""
    marker = "o" if len(x) == 1 else ""
    axes.plot(x, y, color=color, linestyle=line, marker=marker, linewidth=1.5, label=label(case))


def _is_regular(times: Floats) -> bool:
    """Whether the evaluations of all seeds are at the same, evenly spaced times; the last one may be closer."""
    return bool(np.all(times == times[0]) and len(np.unique(np.diff(times[0, :-1]))) <= 1)


def learning_curves(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the return over steps if evaluations are regular in steps, else over episodes; see `plot_mean`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    styles = style(curves)
    counted = "step" if all(_is_regular(curve["step"]) for curve in curves.values()) else "episode"
    for case, curve in curves.items():
        plot_mean(axes, curve[counted][0, :], curve["return"], *styles[case], case)
    returns = np.concatenate([curve["return"].ravel() for curve in curves.values()])
    if log_helps(returns):
        axes.set_yscale("symlog", linthresh=10.0 ** round(np.log10(np.nanmax(returns)) - 3))
    axes.set(xlabel=f"{counted}s", ylabel="return of greedy episodes")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.grid(alpha=0.25)
    axes.set_title(about(curves.values()), fontsize=9, loc="left", color="gray")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return save(figure, folder / "curves")


def first_solved(curves: Mapping[str, Curves], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw the episode at which each seed solved its task; seeds that never did are counted at the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1 + 0.22 * len(curves)), layout="constrained")
    axes = figure.subplots()
    last = max(float(np.max(curve["episode"])) for curve in curves.values())
    for row, curve in enumerate(curves.values()):
        solved = curve["solved"] > 0
        ever = solved.any(axis=1)
        episode = curve["episode"][np.arange(len(solved)), solved.argmax(axis=1)]
        axes.plot(episode[ever], np.full(np.count_nonzero(ever), row), "o", color=COLORS[1], markersize=4, alpha=0.7)
        if not ever.all():
            axes.plot(1.06 * last, row, "x", color=COLORS[0], markersize=5)
            axes.annotate(
                f"{np.count_nonzero(~ever)} never", (1.08 * last, row), va="center", fontsize=7, color=COLORS[0]
            )
    axes.set_yticks(range(len(curves)), [case.replace("$", r"\$") for case in curves], fontsize=8)
    axes.set_ylim(len(curves) - 0.5, -0.5)
    axes.set(xlabel="episode at which a greedy episode first reached the goal", xlim=(0, 1.2 * last))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.25)
    return save(figure, folder / "first-solved")
