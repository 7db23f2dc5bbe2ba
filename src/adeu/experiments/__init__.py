"""The paper's tables, figures and theorems: one file for each, settings as data.

In `lib`, `experiment` defines an experiment, `lake_setting` the settings shared by those on frozen lakes; `tables`
and `plots` show results.
"""

from __future__ import annotations

import dataclasses
import importlib
import pathlib
import pkgutil
import re
from typing import TYPE_CHECKING

from adeu.core import check

if TYPE_CHECKING:
    from adeu.experiments.lib.experiment import Experiment, Family

FIRST = ("frozen-lake", "safe-frozen-lake", "switching")
"""Listed first, in the order of the paper."""


def _names() -> tuple[str, ...]:
    """Return a name for each module that assigns an `EXPERIMENT`, without importing the module."""
    sources = {each.name: pathlib.Path(*__path__, f"{each.name}.py") for each in pkgutil.iter_modules(__path__)}
    found = {
        module.replace("_", "-")
        for module, path in sources.items()
        if path.exists() and re.search(r"^EXPERIMENT\b.*=", path.read_text("utf-8"), re.MULTILINE)
    }
    return (*FIRST, *sorted(found - set(FIRST)))


NAMES = _names()


def find(name: str) -> Experiment | Family:
    """Return the experiment, or the family of experiments, with this name."""
    if name not in NAMES:
        raise ValueError(f"unknown experiment {name!r}; {check.nearest(name, NAMES)}")
    module = importlib.import_module(f"adeu.experiments.{name.replace('-', '_')}")
    experiment: Experiment | Family = module.EXPERIMENT
    return experiment


def unquoted(case: str) -> str:
    """Return the name of a case in a form that needs no quotes in a shell."""
    return case.replace(" ", "-")


def locate(path: str) -> tuple[Experiment, ...]:
    """Return the experiments at a path such as `frozen-lake`, `frozen-lake/adeu`, `deep-sea` or `deep-sea/40/ucb`.

    A family selects all its members. A case at the end selects only that case and the case it depends on, if any.
    """
    from adeu.experiments.lib.experiment import Family
    from adeu.runs.spec import DependsOnRun

    name, _, rest = path.partition("/")
    found = find(name)
    if isinstance(found, Family):
        if not rest:
            return found.members
        members = {member.name.removeprefix(f"{name}/"): member for member in found.members}
        size, _, rest = rest.partition("/")
        if size not in members:
            raise ValueError(f"{name} has no member {size!r}; {check.nearest(size, members)}")
        found = members[size]
    if not rest:
        return (found,)
    rest = {unquoted(case): case for case in found.cases}.get(rest, rest)
    if rest not in found.cases:
        raise ValueError(f"{found.name} has no case {rest!r}; {check.nearest(rest, found.cases)}")
    setting = found.cases[rest]
    source = setting.source if isinstance(setting, DependsOnRun) else ""
    cases = {case: found.cases[case] for case in (source, rest) if case}
    others = {case: setting for case, setting in found.cases.items() if case not in cases}
    return (dataclasses.replace(found, cases=cases, left_out=others, reference=found.compared_with),)
