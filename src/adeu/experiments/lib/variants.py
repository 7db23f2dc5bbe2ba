"""Experiments with changed settings: the names of their cases, consistent with stored runs."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from adeu.core import files
from adeu.core.json_data import Json
from adeu.experiments.lib.experiment import Experiment
from adeu.experiments.lib.naming import disambiguate, variant
from adeu.runs.folder import SPEC, stored_spec
from adeu.runs.identity import fill_in, to_data
from adeu.runs.override import override
from adeu.runs.spec import DependsOnRun, Setting


def changed(experiment: Experiment, assignments: tuple[str, ...], out: pathlib.Path) -> Experiment:
    """Return the experiment with settings changed.

    A changed case gets a new name, so that its runs are stored beside those of the unchanged cases. Only unchanged
    cases have figures of the paper and of others.
    """
    if not assignments:
        return experiment
    own, reference = experiment.cases, experiment.compared_with
    after = override(own, assignments)
    if reference not in own:  # its stored runs may be in the table, too
        own = {**own, reference: experiment.left_out[reference]}
        after = override(own, assignments)
    named, taken = dict[str, tuple[str, Setting]](), stored_settings(out / experiment.name)
    for case, setting in after.items():
        new = _following(setting, {old: name for old, (name, _) in named.items()})
        wanted = variant(case, own[case], new if setting == own[case] else setting)
        name = case if new == own[case] else settled(wanted, new, taken)
        named[case], taken[name] = (name, new), to_data(new)
    cases = dict(named[case] for case in experiment.cases)
    known = {**experiment.cases, **experiment.left_out}
    foreign = {name for case, (name, _) in named.items() if named[case] != (case, own[case])}
    return dataclasses.replace(
        experiment,
        cases=cases,
        left_out={case: setting for case, setting in known.items() if case not in cases},
        reference=named[reference][0],
        paper=_without(foreign, experiment.paper),
        others={who: _without(foreign, figures) for who, figures in experiment.others.items()},
    )


def settled(name: str, setting: Setting, taken: Mapping[str, Json]) -> str:
    """Return a unique name for a setting.

    A setting that is already taken keeps its name; if another setting has the name, a suffix is added.

    Args:
        name: the preferred name.
        setting: the setting of the case.
        taken: the settings that have names, by name, as JSON data.
    """
    mine, filled = to_data(setting), {case: fill_in(theirs, setting) for case, theirs in taken.items()}
    for case, theirs in filled.items():
        if theirs == mine:
            return case
    while name in filled:
        name = disambiguate(name, filled[name], mine)
    return name


def stored_settings(folder: pathlib.Path) -> dict[str, Json]:
    """Return the setting of each case in an experiment's folder; skip damaged runs."""
    found: dict[str, Json] = {}
    for run, names in files.walk(folder):
        if SPEC in names and re.fullmatch(r"seed-\d{1,10}", run.name) and run.parent != folder:
            with contextlib.suppress(ValueError, OSError):
                spec = stored_spec(run, folder)
                if spec is not None:
                    found.setdefault(run.parent.relative_to(folder).as_posix(), spec["setting"])
    return found


def _following(setting: Any, names: Mapping[str, str]) -> Any:
    """Return the setting with its source case renamed."""
    if isinstance(setting, DependsOnRun) and setting.source:
        return dataclasses.replace(setting, source=names.get(setting.source, setting.source))  # type: ignore[type-var]
    return setting


def _without(cases: set[str], figures: Mapping[str, Any]) -> dict[str, Any]:
    return {case: figure for case, figure in figures.items() if case not in cases}
