"""Names of experiments and cases: none leaves its folder, and none is interpreted by a terminal or matplotlib."""

import io

import numpy as np
import pytest
from rich.console import Console

from adeu.experiments import NAMES, locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import MEAN, Experiment
from adeu.experiments.lib.tables import table
from adeu.runs.names import printable
from adeu.runs.spec import Spec

BAD = [
    "",
    ".",
    "..",
    "../x",
    "a/../b",
    "/etc",
    "a//b",
    "a/",
    "a\nb",
    "a\x1b[31mb",
    "a\0b",
    "\u202eb",
    "x" * 256,
    "é" * 128,
]
ODD = ["[/red]x", r"$\frac$", "$", "<b>", "a b", "[bold]", "\\", "x" * 255, "a,b", '"', "é"]


@pytest.mark.parametrize("name", [*BAD, 3, None])
def test_a_bad_name_is_rejected(name):
    for names in ((name, "case"), ("experiment", name)):
        with pytest.raises(
            ValueError, match=r"Spec: (experiment|case) takes names of folders joined by '/'"
        ) as caught:
            Spec(*names, 0, None)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5, True, "0"])
def test_a_bad_seed_is_rejected(seed):
    with pytest.raises(ValueError, match="Spec: seed takes a whole number >= 0 and <= 4294967295"):
        Spec("experiment", "case", seed, None)


def test_every_experiment_has_valid_names():
    for name in NAMES:
        for experiment in locate(name):
            assert experiment.specs([0])


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_is_shown_unchanged(name, tmp_path):
    Spec("experiment", name, 0, None)
    curve = {"return": np.zeros((2, 3)), "episode": np.arange(3)[None].repeat(2, 0), "solved": np.ones((2, 3))}
    curve |= {"seed": np.arange(2), "step": 7 * curve["episode"]}
    experiment = Experiment("e", "t", "l", {name: None}, (MEAN,), plots.learning_curves)
    console = Console(file=io.StringIO(), width=400)
    console.print(table(experiment, experiment.summary({name: curve})))
    if len(name) < 30:
        assert f" {name} " in console.file.getvalue()
    for draw in (plots.learning_curves, plots.first_solved)[: 1 if len(name) > 100 else 2]:  # too long for an axis
        for path in draw({name: curve}, tmp_path):
            assert path.stat().st_size > 1000


def test_control_characters_are_escaped():
    assert printable("a\x1b[31m\r\tb\nc\x9b\u202e") == "a\\x1b[31m\\r\tb\nc\\x9b\\u202e"
