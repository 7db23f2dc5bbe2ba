"""Diverged training fails with a clear error in every loop, and a run keeps its last good checkpoint."""

import re

import gymnasium
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, GymLoop, JaxLoop, VectorLoop, train
from adeu.core import npz
from adeu.envs import JaxCartPole
from adeu.runs.folder import CHECKPOINT, DONE
from tests.command import run_here

EXPLORER = adeu.Explorer(adeu.Constant(0.5), adeu.Saturating(0.5), adeu.Bernoulli())
DIVERGING = Dqn(EXPLORER, hidden=(4,), batch=4, capacity=64, target_every=10, learning_rate=1e30)
MESSAGE = "Dqn: training diverged: its networks are not finite"


def in_gym():
    env, other = gymnasium.make("CartPole-v1"), gymnasium.make("CartPole-v1")
    loop = GymLoop(DIVERGING, env, other, 60, seed=0, warmup=10, evaluate_every=60, evaluate_episodes=1)
    while loop.step < loop.steps:
        loop.advance()


def in_a_vector():
    envs, other = gymnasium.make_vec("CartPole-v1", num_envs=2), gymnasium.make("CartPole-v1")
    VectorLoop(DIVERGING, envs, other, 60, warmup=10, evaluate_every=60, evaluate_episodes=1).run()


def in_jax():
    loop = JaxLoop(DIVERGING, JaxCartPole(), warmup=10, evaluate_every=60, evaluate_steps=9)
    loop.advance(loop.init(0))


def with_several_seeds():
    sizes = {"warmup": 10, "evaluate_every": 60, "evaluate_steps": 9}
    train(DIVERGING, JaxCartPole(), steps=60, seeds=[0, 1], **sizes)


@pytest.mark.parametrize(
    "loop", [in_gym, in_a_vector, in_jax, pytest.param(with_several_seeds, marks=pytest.mark.slow)]
)
def test_every_loop_reports_divergence(loop):
    with pytest.raises(ValueError, match=MESSAGE):
        loop()


def test_the_command_fails_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    """The first checkpoint is good, because nothing is learned before the warm-up ends."""
    monkeypatch.setenv("ADEU_CHECKPOINT_SECONDS", "0")
    sizes = ["hidden=[4]", "batch=4", "warmup=60", "evaluate_every=100", "evaluate_episodes=1", "learning_rate=1e30"]
    few = ["--steps", "100", "--seeds", "0", "--jobs", "1", "--json", "--out", tmp_path]
    run = run_here("train", "CartPole-v1", *few, *(word for size in sizes for word in ("--set", size)))
    assert run.returncode == 1
    assert re.search(MESSAGE, run.stderr)
    (path,) = tmp_path.rglob(CHECKPOINT)
    assert not list(tmp_path.rglob(DONE))
    arrays = npz.unpack(path.read_bytes())
    assert 0 < int(arrays["step"]) < 100
    assert all(np.isfinite(array).all() for array in arrays.values())
