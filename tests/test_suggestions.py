"""Suggestions of f, g and D: the table in Python, on the command line and in the docs."""

import pathlib

import gymnasium
import pytest

import adeu
from adeu import cli, recipes
from adeu.experiments import locate
from adeu.experiments.lib.composition import changed
from adeu.suggestions import SUGGESTIONS, suggest

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "choose.md"
ENVS = {"Box": "Pendulum-v1", "Discrete": "CartPole-v1"}


@pytest.mark.parametrize("kind", ENVS)
def test_the_default_comes_first(kind):
    env = gymnasium.make(ENVS[kind])
    assert suggest(env)[0].explorer == recipes.default(env)
    assert {each.actions for each in suggest(env)} == {kind}
    assert recipes.default(gymnasium.make_vec(ENVS[kind], 2)) == recipes.default(env)


@pytest.mark.parametrize("each", SUGGESTIONS, ids=lambda each: changed(each.explorer.f))
def test_every_composition_works_and_is_in_the_docs(each):
    states = isinstance(each.explorer.f, adeu.Counts)
    env = gymnasium.make("FrozenLake-v1" if states else ENVS[each.actions])
    adeu.Behavior(each.explorer, env)
    assert bool(each.needs) == ("q_values" in each.explorer.needs("act"))
    composition = ", ".join(f"{role}={changed(getattr(each.explorer, role))}" for role in ("f", "g", "D"))
    (row,) = [
        line for line in PAGE.read_text().splitlines() if line.startswith(f"| {each.symptom} | `{composition}`")
    ]
    assert row.endswith(f"| {each.expect} | {each.look_at} | {each.evidence} |")


@pytest.mark.parametrize("each", SUGGESTIONS, ids=lambda each: changed(each.explorer.f))
def test_the_evidence_names_existing_cases(each):
    for named in each.evidence.split("; "):
        experiment, _, case = named.partition(": ")
        assert any(case.split(",")[0] in member.cases for member in locate(experiment))


def test_the_command_prints_the_suggestions(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["adeu", "suggest", "CartPole-v1"])
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    for each in suggest(gymnasium.make("CartPole-v1")):
        assert (
            "f={}, g={}, D={}".format(*map(changed, (each.explorer.f, each.explorer.g, each.explorer.D))) in printed
        )
    for other in ("Gaussian", "Counts"):
        assert other not in printed


def test_counts_are_suggested_for_numbered_states():
    assert "Counts()" in [changed(each.explorer.f) for each in suggest(gymnasium.make("FrozenLake-v1"))]


def test_other_actions_are_rejected():
    env = type("Env", (), {"action_space": gymnasium.spaces.MultiBinary(3)})()
    with pytest.raises(ValueError, match=r"env takes an environment with Box or Discrete actions, got MultiBinary"):
        recipes.default(env)
