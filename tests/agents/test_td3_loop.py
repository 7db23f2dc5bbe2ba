"""TD3 in a compiled loop: the environment is Gymnasium's, and many seeds at once are as many runs."""

import dataclasses

import gymnasium
import jax
import numpy as np
import pytest

import adeu
from adeu.agents import Td3, compiled, train
from tests.agents.pendulum import Pendulum, State

EXPLORER = adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(), 0.5, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
SMALL = Td3(EXPLORER, hidden=(8,), policy_delay=1, batch=16, warmup=40, capacity=100, evaluate_every=50)


def test_the_pendulum_is_gymnasiums():
    env, mine = gymnasium.make("Pendulum-v1").unwrapped, Pendulum()
    env.reset(seed=0)
    step, rng = jax.jit(mine.step_env), np.random.default_rng(0)
    state = State(*np.float32(env.state), np.int32(0))
    for _ in range(100):
        action = rng.uniform(-2, 2, 1).astype(np.float32)
        obs, state, reward, _, _ = step(jax.random.key(0), state, action, None)
        theirs, their_reward, *_ = env.step(action)
        assert np.asarray(obs) == pytest.approx(theirs, abs=2e-3)
        assert float(reward) == pytest.approx(their_reward, abs=2e-2)


@pytest.mark.slow
def test_many_seeds_at_once_are_as_many_runs():
    loop = compiled(SMALL, Pendulum(limit=30))
    seeds = [3, 0, 8]
    together = loop.init(np.array(seeds))
    pieces = []
    for _ in range(2):
        together, piece = loop.advance(together)
        pieces.append(piece)
    for place, seed in enumerate(seeds):
        alone = loop.init(seed)
        for piece in pieces:
            alone, mine = loop.advance(alone)
            for theirs, ours in zip(piece, mine, strict=True):
                assert np.asarray(theirs)[place] == pytest.approx(np.asarray(ours), rel=1e-4, abs=1e-4, nan_ok=True)
        mine, theirs = (jax.tree.leaves(state.learner) for state in (alone, together))
        for one, all_seeds in zip(mine, theirs, strict=True):
            assert np.asarray(all_seeds)[place] == pytest.approx(np.asarray(one), rel=1e-3, abs=1e-4)
    assert int(together.step[0]) == 140
    ended = together.learner.replay.data
    assert np.any(ended.truncated)
    assert not np.any(ended.terminated)  # a pendulum's episodes are only ever cut
    assert len({float(value) for value in pieces[-1].evaluation}) == 3


@pytest.mark.slow
def test_it_learns_the_pendulum_with_many_seeds_at_once():
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
    td3 = Td3(explorer, learning_rate=1e-3, warmup=1_000, capacity=10_000, evaluate_every=3_000, evaluate_steps=200)
    pieces = train(dataclasses.replace(td3, hidden=(64, 64)), Pendulum(), steps=9_000, seeds=[0, 1])
    assert (pieces.evaluation.max(axis=0) > -200).all()
