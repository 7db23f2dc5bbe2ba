"""Bad input of tabular agents is rejected before any work."""

import gymnasium
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.envs import Lake, lake_mdp

MODEL = tabular.from_mdp(lake_mdp(Lake(size=4)))
S = MODEL.num_states
EXPLORER = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())
ARRAYS = {"next_state": [[0, 1], [1, 0]], "reward": [[0, 0], [0, 1]], "terminal": [[False, False], [False, True]]}


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("explorer", adeu.Constant(0.1)),
        ("alpha", 0.0),
        ("alpha", 1.1),
        ("alpha", float("nan")),
        ("alpha", "1/m"),
        ("gamma", -0.1),
        ("gamma", 1.01),
        ("intrinsic", -1.0),
        ("learners", 5),
        ("q", np.zeros((S, 4))),
        ("q", np.inf),
    ],
)
def test_bad_fields_are_rejected(argument, value):
    with pytest.raises(ValueError, match=f"QLearning: {argument} takes "):
        tabular.QLearning(**{"explorer": EXPLORER} | {argument: value})


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("episodes", 0),
        ("episodes", 1.5),
        ("max_steps", 0),
        ("seed", -1),
        ("evaluate_every", 0),
        ("q", np.zeros((S, 3))),
        ("q", np.inf),
        ("q", "high"),
        ("visits", -1),
        ("visits", 0.5),
        ("visits", np.zeros(S + 1, int)),
    ],
)
@pytest.mark.parametrize("kind", [tabular.QLearning, tabular.TableDqn])
def test_bad_arguments_of_a_job_are_rejected(kind, argument, value):
    with pytest.raises(ValueError, match=f"{kind.__name__}: {argument} takes "):
        kind(EXPLORER).job(MODEL, **{"episodes": 1, "max_steps": 1, "seed": 0} | {argument: value})


@pytest.mark.parametrize("change", [{"size": 0}, {"mask_probability": 0.0}, {"start": -1.0}, {"ucb": -1.0}])
def test_bad_learners_are_rejected(change):
    with pytest.raises(ValueError, match=f"Learners: {next(iter(change))} takes "):
        tabular.Learners(**change)


@pytest.mark.parametrize(
    ("argument", "value", "complaint"),
    [
        ("next_state", [0, 1], r"shape \(states, actions\)"),
        ("next_state", [[0, 1], [2, 0]], r"states 0 .. 1, got 2"),
        ("next_state", [[0, 1], [-1, 0]], r"states 0 .. 1, got -1"),
        ("next_state", [[0, 0.5], [1, 0]], "int64"),
        ("reward", [[0, 0, 0], [0, 1, 0]], r"shape \(2, 2\)"),
        ("reward", [[0, np.nan], [0, 1]], "finite"),
        ("terminal", [True, False], r"shape \(2, 2\)"),
        ("cost", [[0, np.inf], [0, 1]], "finite"),
        ("start", 2, "a state 0 .. 1"),
        ("start", [0.5, 0.4], "add up to 1"),
        ("start", [1.0, 0.0, 0.0], "2 probabilities"),
        ("mask", [[True, True], [False, False]], "none in 1"),
    ],
)
def test_bad_arrays_are_rejected(argument, value, complaint):
    with pytest.raises(ValueError, match=f"from_arrays: {argument} takes .*{complaint}"):
        tabular.from_arrays(**ARRAYS | {argument: value})


@pytest.mark.parametrize(
    ("P", "complaint"),
    [
        ({}, "states 0 .. S - 1"),
        ({1: {0: [(1.0, 0, 0.0, False)]}}, "states 0 .. S - 1"),
        (
            {0: {0: [(0.5, 0, 0.0, False), (0.4, 0, 0.0, True)]}},
            r"P\[0\]\[0\] takes .* add up to 1, got 'a sum of 0.9'",
        ),
        ({0: {0: [(1.5, 0, 0.0, False), (-0.5, 0, 0.0, True)]}}, "probabilities >= 0"),
        ({0: {0: []}}, r"\(probability, next state, reward, terminated\)"),
        ({0: {0: [(1.0, 0, 0.0)]}}, r"\(probability, next state, reward, terminated\)"),
        ({0: {0: [(1.0, 3, 0.0, False)]}}, "next states 0 .. 0, got 3"),
        ({0: {0: [(1.0, 0, np.nan, False)]}}, "finite"),
        ({0: {0: [(np.nan, 0, 0.0, False)]}}, "finite"),
        ({0: {0: [(1.0, 0, 0.0, True)]}, 1: {1: [(1.0, 0, 0.0, True)]}}, r"P\[1\] takes actions 0 .. 0"),
    ],
)
def test_bad_transition_tables_are_rejected(P, complaint):
    with pytest.raises(ValueError, match=f"from_table: .*{complaint}"):
        tabular.from_table(P)


def test_an_environment_without_a_table_is_rejected():
    with pytest.raises(ValueError, match="from_gymnasium: env takes an environment with a transition table P"):
        tabular.from_gymnasium(gymnasium.make("CartPole-v1"))


@pytest.mark.parametrize(
    ("f", "complaint"),
    [
        (adeu.Rnd(), r"Rnd\(.* has no tabular form; adeu.tabular.lower.register"),
        (adeu.Inverse(adeu.from_function(abs)), "FromFunction.* has no tabular form"),
        (adeu.Triggered(adeu.Rnd()), r"Rnd\(.* has no tabular form"),
        (adeu.TdError(), "TdError.* has no tabular form without num_states"),
        (
            adeu.HyperStates(adeu.EnsembleStd(), [0] * S),
            "HyperStates.* has no tabular form, because its f needs values",
        ),
    ],
)
def test_parts_without_a_tabular_form_are_rejected(f, complaint):
    explorer = adeu.Explorer(f, adeu.Identity(), adeu.Bernoulli())
    with pytest.raises(TypeError, match=complaint):
        tabular.QLearning(explorer).train(MODEL, episodes=1, max_steps=1, seed=0)


def test_parts_of_another_size_are_rejected():
    for f, guard in ((adeu.Counts(S + 1), None), (adeu.Constant(0.1), adeu.KnownUnsafe([S], [0]))):
        explorer = adeu.Explorer(f, adeu.Identity(), adeu.Bernoulli(), guard=guard)
        with pytest.raises(ValueError, match="states takes"):
            tabular.QLearning(explorer).train(MODEL, episodes=1, max_steps=1, seed=0)
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
    with pytest.raises(ValueError, match="Gaussian"):
        tabular.QLearning(explorer).train(MODEL, episodes=1, max_steps=1, seed=0)
