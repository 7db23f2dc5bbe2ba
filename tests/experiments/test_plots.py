"""The colours of cases, and the files of pictures."""

import subprocess
import sys

import numpy as np

from adeu.experiments import NAMES, locate, plots


def test_a_case_keeps_its_colour_and_shares_it_with_none():
    assert plots.style(["adeu"])["adeu"] == plots.style(["eps-greedy", "adeu"])["adeu"]
    for experiment in (experiment for name in NAMES for experiment in locate(name)):
        cases = list(experiment.cases)[: len(plots.COLORS)]
        colors = [color for color, _ in plots.style(cases).values()]
        assert len(set(colors)) == len(cases)
    assert len(set(plots.style(map(str, range(20))).values())) == 20  # where colours run out, lines differ


def curves():
    rng = np.random.default_rng(0)
    return {
        case: {"return": rng.random((3, 20)), "episode": np.arange(20)[None].repeat(3, 0)}
        for case in ("adeu", "other")
    }


def test_equal_data_give_equal_files(tmp_path):
    """In two processes too: matplotlib's salt for names in SVG is random by default."""
    script = (
        "import sys, pathlib; from adeu.experiments import plots; from tests.experiments.test_plots import curves\n"
        "with plots.drawing(): plots.learning_curves(curves(), pathlib.Path(sys.argv[1]))"
    )
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", script, tmp_path / name], check=True)
    for name in ("curves.svg", "curves.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_picture_follows_no_link(tmp_path):
    (tmp_path / "mine").write_text("mine")
    for suffix in (".png", ".svg"):
        (tmp_path / f"curves{suffix}").symlink_to(tmp_path / "mine")
    for path in plots.learning_curves(curves(), tmp_path):
        assert not path.is_symlink()
    assert (tmp_path / "mine").read_text() == "mine"


def test_no_matplotlibrc_changes_a_picture():
    import matplotlib

    with matplotlib.rc_context({"lines.linewidth": 40.0, "text.usetex": True}):
        with plots.drawing():
            assert matplotlib.rcParams["text.usetex"] is False
            assert matplotlib.rcParams["lines.linewidth"] == matplotlib.rcParamsDefault["lines.linewidth"]
        assert matplotlib.rcParams["lines.linewidth"] == 40.0
