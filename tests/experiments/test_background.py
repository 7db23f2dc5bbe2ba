"""Background knowledge: the side branch of the lake, the demonstrations, and which cases recover."""

import dataclasses

import numpy as np
import pytest

from adeu.envs import Lake, lake_mdp
from adeu.experiments import background

SIZE = 12
MDP, WAYS = background.with_branch(lake_mdp(Lake(size=SIZE)), branch=3, prize=1.0)


@pytest.mark.parametrize(("name", "last", "steps"), [("right", 1e5, 22), ("hole", -10.0, 10), ("away", 1.0, 13)])
def test_a_demonstration_ends_as_intended(name, last, steps):
    states, actions = WAYS[name]
    assert len(states) == steps
    assert (MDP.next_state[states[:-1], actions[:-1]] == states[1:]).all()
    assert not MDP.terminal[states[:-1], actions[:-1]].any()
    assert MDP.terminal[states[-1], actions[-1]]
    assert MDP.reward[states[-1], actions[-1]] == last


def test_every_step_off_the_branch_ends_the_episode():
    plain = lake_mdp(Lake(size=SIZE))
    changed = np.argwhere(MDP.next_state[: len(plain.reward)] != plain.next_state)
    assert len(changed) == 1
    middle = changed[0][0]
    for i, cell in enumerate(range(len(plain.reward), len(MDP.reward))):
        assert np.count_nonzero(~MDP.terminal[cell]) == (2 if i < 2 else 1)
        assert (middle if i == 0 else cell - 1) in MDP.next_state[cell][~MDP.terminal[cell]]
        assert sorted(MDP.reward[cell])[:3] == [-10.0] * 3
    assert MDP.reward[middle].max() > 1.0  # a step forward has a higher reward than the end of the branch


def recovered(case):
    setting = background.EXPERIMENT.cases[case]
    trainer = dataclasses.replace(setting, lake=Lake(size=SIZE), branch=3, episodes=3_000).trainer(0)
    rows = [row for _ in range(300) for row in trainer.advance().rows]
    return next((row["episode"] for row in rows if row["solved"]), None)


def test_cases_recover_as_expected():
    assert recovered("right rho=0") == 10
    assert 10 < recovered("none") < 500
    assert recovered("hole rho=0") < recovered("none")
    assert recovered("away rho=0") is None
    assert recovered("away constant") is not None
