"""Run the doctests of the adapters here, so that only the process that runs them imports the frameworks."""

import doctest
import importlib
import pathlib

import pytest

import adeu

FOLDER = pathlib.Path(adeu.__file__).parent / "adapters"
MODULES = [path.stem for path in sorted(FOLDER.glob("*.py")) if ">>>" in path.read_text()]


@pytest.mark.parametrize("name", MODULES)
def test_doctests_pass(name):
    module = importlib.import_module(f"adeu.adapters.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
