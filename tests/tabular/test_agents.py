"""Tabular agents are values: they print, compare, hash, bind and convert to JSON like parts."""

import dataclasses
import json

import gymnasium
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.envs import Lake, lake_mdp

COUNTING = adeu.Explorer(adeu.Counts(beta=0.5), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
MODEL = tabular.from_mdp(lake_mdp(Lake(size=6)))
AGENTS = [
    tabular.QLearning(COUNTING),
    tabular.QLearning(COUNTING, alpha="1/n", intrinsic=0.9, learners=tabular.Learners(size=3, ucb=2.0), q=-1.0),
    tabular.TableDqn(COUNTING),
    tabular.TableDqn(COUNTING, gamma=0.9, tables=4, center="ucb", ucb=3.0),
]


@pytest.mark.parametrize("agent", AGENTS, ids=repr)
def test_an_agent_is_a_value(agent):
    again = adeu.from_json(adeu.to_json(agent))
    assert again == agent
    assert hash(again) == hash(agent)
    assert repr(again) == repr(agent)
    assert dataclasses.replace(agent, gamma=0.5) != agent


def test_json_names_an_agent_by_its_import_path():
    data = json.loads(adeu.to_json(AGENTS[1]))
    assert data["part"] == "adeu.tabular.q_learning:QLearning"
    assert data["explorer"]["f"] == {"part": "Counts", "num_states": None, "beta": 0.5}
    assert data["learners"]["part"] == "adeu.tabular.q_learning:Learners"


@pytest.mark.parametrize("agent", AGENTS, ids=repr)
def test_an_agent_binds_its_explorer(agent):
    bound = agent.bind(gymnasium.spaces.Discrete(36), gymnasium.spaces.Discrete(4))
    assert bound.explorer.f == adeu.Counts(num_states=36, beta=0.5)
    with pytest.raises(ValueError, match="num_states takes the observation space's 7, got 36"):
        bound.bind(gymnasium.spaces.Discrete(7), gymnasium.spaces.Discrete(4))


def test_integers_become_floats():
    assert repr(tabular.QLearning(COUNTING, alpha=1, gamma=1, q=0)) == repr(tabular.QLearning(COUNTING, gamma=1.0))


@pytest.mark.parametrize("agent", AGENTS, ids=repr)
def test_train_runs_the_job(agent):
    arguments = {"episodes": 30, "max_steps": 12, "seed": 4, "evaluate_every": 10, "q": 0.5, "visits": 2}
    for one, other in zip(agent.train(MODEL, **arguments), tabular.run(agent.job(MODEL, **arguments)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_initial_tables_are_those_of_the_job_or_else_of_the_agent():
    agent = tabular.QLearning(COUNTING, q=-1.0)
    table = np.arange(MODEL.num_states * 4.0).reshape(-1, 4)
    for q, expected in [(None, -1.0), (2.0, 2.0), (table, table)]:
        job = agent.job(MODEL, episodes=1, max_steps=1, seed=0, q=q)
        np.testing.assert_array_equal(job.learner.q[:, 0], np.broadcast_to(expected, table.shape))
    apart = tabular.TableDqn(COUNTING, start=0.0).job(MODEL, episodes=1, max_steps=1, seed=0, q=table, visits=3)
    np.testing.assert_array_equal(apart.learner.target[:, 0], table)
    assert (apart.visits == 3).all()
