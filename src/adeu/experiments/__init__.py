"""The paper's tables, figures and theorems: one file for each, settings as data.

`experiment` says what an experiment is, `lake` what those on frozen lakes share; `tables` and `plots` show results.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from adeu.core import check

if TYPE_CHECKING:
    from adeu.experiments.experiment import Experiment

NAMES = ("frozen-lake", "safe-frozen-lake", "switching", "frozen-lake-sensitivity", "theorem-1", "theorem-2")


def find(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in NAMES:
        raise ValueError(f"unknown experiment {name!r}; {check.nearest(name, NAMES)}")
    module = importlib.import_module(f"adeu.experiments.{name.replace('-', '_')}")
    experiment: Experiment = module.EXPERIMENT
    return experiment
