"""Error messages about a framework that is missing, too old or too new."""

import importlib.metadata
import pathlib
import tomllib

import pytest

from adeu.adapters.versions import RANGES, require


@pytest.mark.parametrize("distribution", RANGES)
def test_installed_versions_are_accepted(distribution):
    require(distribution)


@pytest.mark.parametrize(
    ("version", "fits"),
    [("2.5.9", False), ("2.6.0a1", True), ("2.10", True), ("2.9.2.post1", True), ("3.0.0a2", False)],
)
def test_versions_outside_the_range_are_rejected(version, fits, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda distribution: version)
    if fits:
        require("stable-baselines3")
        return
    with pytest.raises(ImportError) as caught:
        require("stable-baselines3")
    install = "pip install 'adeu-rl[sb3]'"
    assert str(caught.value) == f"adeu.adapters.sb3 takes stable-baselines3 >= 2.6, < 3: {install}; found {version}"


def test_a_missing_framework_is_reported(monkeypatch):
    monkeypatch.setitem(RANGES, "no-such-framework", ("1", "2", "torchrl"))
    with pytest.raises(ImportError, match=r"pip install 'adeu-rl\[torchrl\]'; it is not installed"):
        require("no-such-framework")


def test_the_extras_have_the_same_ranges():
    project = tomllib.loads((pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for distribution, (oldest, too_new, extra) in RANGES.items():
        assert project["optional-dependencies"][extra] == [f"{distribution}>={oldest},<{too_new}"]
        development = next(line for line in project["optional-dependencies"]["dev"] if line.startswith("adeu-rl["))
        assert extra in development.removeprefix("adeu-rl[").removesuffix("]").split(",")
