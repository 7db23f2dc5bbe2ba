"""`adeu train`: an experiment with one case per f in a Gymnasium environment."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from adeu import recipes
from adeu.core import check
from adeu.experiments.lib import plots
from adeu.experiments.lib.agent_choices import AGENTS, check_fit, choose, explorer_of, read_parts
from adeu.experiments.lib.experiment import MAX, MEAN, SOLVED, SPREAD, Experiment, read
from adeu.experiments.lib.gym_env import make_env
from adeu.experiments.lib.naming import variant, word
from adeu.experiments.lib.training_setting import read_run
from adeu.experiments.lib.variants import settled, stored_settings
from adeu.registry import read_part, to_json
from adeu.runs.identity import to_data
from adeu.runs.override import override
from adeu.runs.spec import Setting

if TYPE_CHECKING:
    from gymnasium import Env


def training(
    env: str,
    agent: str | None,
    f: Sequence[str],
    g: str | None,
    D: str | None,
    steps: int | None,
    changes: Sequence[str],
    out: pathlib.Path,
) -> Experiment:
    """Return an experiment with a case for each f; f, g and D are names or JSON of parts.

    A case is named after its f and all other choices, so that each combination has separate runs in `out`. If no
    part is given, an agent with networks uses `adeu.recipes.default`.
    """
    made = make_env(env)
    name = choose(made) if agent is None else agent
    if name not in AGENTS:
        raise ValueError(f"adeu train: unknown agent {name!r}; {check.nearest(name, AGENTS)}")
    chosen = AGENTS[name]
    names, before = dict[str, str](), dict[str, Setting]()
    default = not (f or g or D) and name != "q-learning"
    usual = default_parts(made) if default else chosen.parts
    for text in f or (usual["f"],):
        if text in names:
            check.refuse("adeu train", "--f", "each f once", text)
        texts = {"f": text, "g": g or usual["g"], "D": D or usual["D"]}
        parts = read_parts(texts)
        check_fit(name, made, parts, texts)
        called = ["default"] if default else words(texts, usual)
        names[text] = "-".join([name] * (name != choose(made)) + called)
        before[text] = chosen.setting(env, explorer_of(parts))
    if steps is not None:
        if chosen.length != "steps":
            check.refuse("adeu train", "--steps", f"no value for {name}: give --set {chosen.length}=...", steps)
        changes = [f"steps={steps}", *changes]
    after = override(before, changes)
    wanted = {text: variant(names[text], before[text], setting) for text, setting in after.items()}
    return in_environment(env, settle(wanted, after, out / in_environment(env, {}).name))


def default_parts(env: Env[Any, Any]) -> dict[str, str]:
    """Return the f, g and D of `adeu.recipes.default`, as JSON."""
    explorer = recipes.default(env)
    return {"f": to_json(explorer.f), "g": to_json(explorer.g), "D": to_json(explorer.D)}


def words(texts: Mapping[str, str], usual: Mapping[str, str]) -> list[str]:
    """Return the words for f, g and D in the name of a case; g and D only if they differ from the defaults."""
    parts = {role: read_part(f"--{role}", text) for role, text in texts.items() if role != "f"}
    others = [role for role, part in parts.items() if part != read_part("", usual[role])]
    return [name_part(texts["f"])] + [name_part(texts[role]) for role in others]


def name_part(text: str) -> str:
    """Return a part's name without its import path; for JSON, also the fields that differ from the defaults."""
    return word(read_part("", text)) if text.lstrip().startswith("{") else word(text.rpartition(":")[2].lower())


def settle(wanted: Mapping[str, str], settings: Mapping[str, Setting], folder: pathlib.Path) -> dict[str, Setting]:
    """Return the cases by unique names, consistent with stored runs; reject an f given twice."""
    taken, cases = stored_settings(folder), dict[str, Setting]()
    for text, setting in settings.items():
        case = settled(wanted[text], setting, taken)
        if case in cases:
            check.refuse("adeu train", "--f", "each f once", text)
        cases[case], taken[case] = setting, to_data(setting)
    return cases


def in_environment(env: str, cases: Mapping[str, Setting]) -> Experiment:
    """Return the experiment of all agents trained in an environment."""
    return Experiment(
        name=f"train/{env.replace('/', '-').replace(':', '-')}",
        title=f"Training in {env}",
        lesson="Each point of the curve is the mean return of greedy episodes.",
        cases=cases,
        metrics=(MEAN, MAX, SOLVED, SPREAD),
        draw=plots.learning_curves,
        seeds=range(3),
        read=read_training,
    )


def read_training(folder: pathlib.Path) -> dict[str, NDArray[Any]]:
    """Return a run's columns; tabular runs have no warm-up."""
    columns = read(folder)
    return read_run(folder) if "saturated" in columns else columns
