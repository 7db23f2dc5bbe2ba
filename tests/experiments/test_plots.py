"""Plots: colors of cases, bands or single runs, and files."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from adeu.experiments import NAMES, locate
from adeu.experiments.lib import plots
from adeu.runs.statistics import band, wilson


def test_a_case_has_the_same_unique_color_everywhere():
    assert plots.style(["adeu"])["adeu"] == plots.style(["eps-greedy", "adeu"])["adeu"]
    for experiment in (experiment for name in NAMES for experiment in locate(name)):
        cases = list(experiment.cases)[: len(plots.COLORS)]
        colors = [color for color, _ in plots.style(cases).values()]
        assert len(set(colors)) == len(cases)
    assert len(set(plots.style(map(str, range(20))).values())) == 20  # beyond the colors, line styles differ


def test_variants_of_a_case_share_its_color_with_another_line_style():
    styles = plots.style(["adeu", "adeu-size=60", "im", "im-size=60", "adeu-eq1-size=60"])
    assert styles["adeu-size=60"][0] == styles["adeu"][0] == plots.style(["adeu-size=60"])["adeu-size=60"][0]
    assert len(set(styles.values())) == 5


@pytest.mark.parametrize("seeds", [1, 4, 5, 9])
def test_a_mean_has_a_band_with_five_seeds_and_single_runs_with_fewer(seeds):
    axes, x = Figure().subplots(), np.arange(6.0)
    values = np.random.default_rng(0).gamma(2.0, size=(seeds, 6))
    values[:, 3] = 1.0
    plots.plot_mean(axes, x, values, "red", "-", "case")
    drawn = [line.get_ydata().tolist() for line in axes.lines]
    assert drawn[0] == values.mean(axis=0).tolist()
    if seeds < 5:
        assert drawn[1:] == values.tolist()
        assert not axes.collections
        assert max(line.get_linewidth() for line in axes.lines[1:]) < axes.lines[0].get_linewidth()
    else:
        assert len(drawn) == 1
        _, low, high = band(values)
        low[3] = high[3] = 1.0  # all values are equal
        edges = {(px, py) for px, py in axes.collections[0].get_paths()[0].vertices.tolist()}
        assert edges >= set(zip(x, low, strict=True)) | set(zip(x, high, strict=True))


def test_bands_that_dwarf_their_lines_are_cut_off():
    figure, x = Figure(), np.arange(6.0)
    wild, calm = (axes for axes in figure.subplots(1, 2))
    values = np.linspace(0.0, 1.0, 6) + np.zeros((5, 1))
    plots.plot_mean(wild, x, values + np.array([[-3.0], [0.0], [0.0], [0.0], [3.0]]), "red", "-", "case")
    plots.plot_mean(calm, x, values + np.array([[-0.1], [0.0], [0.0], [0.0], [0.1]]), "red", "-", "case")
    before = calm.get_ylim()
    for axes in (wild, calm):
        plots.crop(axes)
    assert wild.get_ylim() == pytest.approx((-0.5, 1.5))
    assert calm.get_ylim() == before


def test_a_share_has_a_wilson_band_with_any_number_of_seeds():
    axes, x = Figure().subplots(), np.arange(3.0)
    plots.plot_share(axes, x, np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]), "red", "-", "case")
    low, high = wilson([0.0, 0.5, 1.0], 2)
    edges = {(px, py) for px, py in axes.collections[0].get_paths()[0].vertices.tolist()}
    assert edges >= set(zip(x, low, strict=True)) | set(zip(x, high, strict=True))


def test_the_title_names_the_band_or_single_runs():
    few, many = {"seed": np.arange(3)}, {"seed": np.arange(5)}
    assert plots.about([few]) == "mean over 3 seeds; thin lines: single runs"
    assert plots.about([many]) == "mean over 5 seeds; band: its 95% interval"
    assert plots.about([few, many]) == "mean over 3 or 5 seeds; band: its 95% interval; thin lines: single runs"
    assert plots.about([{"seed": np.arange(1)}]) == "one seed"


def curves():
    rng = np.random.default_rng(0)
    return {
        case: {
            "return": rng.random((3, 20)),
            "episode": np.arange(20)[None].repeat(3, 0),
            "step": rng.integers(1, 9, (3, 20)).cumsum(axis=1),
            "seed": np.arange(3),
        }
        for case in ("adeu", "other")
    }


@pytest.mark.parametrize(
    ("counted", "times"),
    [
        ("steps", {"episode": [[0, 16, 107, 114]], "step": [[0, 1000, 2000, 2500]]}),
        ("episodes", {"episode": [[10, 20, 30, 35]], "step": [[80, 95, 130, 136]]}),
    ],
)
def test_the_axis_counts_what_is_regular(tmp_path, counted, times):
    """Also with one seed, whose episodes are the same as themselves."""
    curve = {name: np.array(values) for name, values in times.items()}
    curve |= {"return": np.array([[0.0, 0.2, 0.4, 0.5]]), "seed": np.arange(1)}
    with plots.drawing():
        _, picture = plots.learning_curves({"adeu": curve}, tmp_path)
    text = picture.read_text()
    assert f"<!-- {counted} -->" in text
    assert "<!-- 0.2 -->" in text


def test_equal_data_give_equal_files(tmp_path):
    """In two processes, because matplotlib's salt for SVG ids is random by default."""
    script = (
        "import sys, pathlib\n"
        "from adeu.experiments.lib import plots; from tests.experiments.test_plots import curves\n"
        "with plots.drawing(): plots.learning_curves(curves(), pathlib.Path(sys.argv[1]))"
    )
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", script, tmp_path / name], check=True)
    for name in ("curves.svg", "curves.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_writing_a_plot_does_not_follow_links(tmp_path):
    (tmp_path / "mine").write_text("mine")
    for suffix in (".png", ".svg"):
        (tmp_path / f"curves{suffix}").symlink_to(tmp_path / "mine")
    for path in plots.learning_curves(curves(), tmp_path):
        assert not path.is_symlink()
    assert (tmp_path / "mine").read_text() == "mine"


def test_matplotlibrc_does_not_change_plots():
    import matplotlib

    with matplotlib.rc_context({"lines.linewidth": 40.0, "text.usetex": True}):
        with plots.drawing():
            assert matplotlib.rcParams["text.usetex"] is False
            assert matplotlib.rcParams["lines.linewidth"] == matplotlib.rcParamsDefault["lines.linewidth"]
        assert matplotlib.rcParams["lines.linewidth"] == 40.0
