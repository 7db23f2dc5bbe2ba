"""Compiler options for several threads: used only with several threads, and only if XLA knows them."""

import gymnasium
import jax
import numpy as np
import pytest

import adeu
from adeu.agents import Td3, compiling
from adeu.agents.replay_numpy import RowLayout


@pytest.fixture
def threads(monkeypatch):
    """Return a function that sets the number of threads; clear the compiled functions afterwards."""

    def set_threads(count):
        monkeypatch.setenv("NPROC", str(count))
        compiling.options.cache_clear()
        compiling.compile_agent.cache_clear()

    yield set_threads
    monkeypatch.undo()
    compiling.options.cache_clear()
    compiling.compile_agent.cache_clear()


def update_of_td3():
    """Return the compiled update as text."""
    env = gymnasium.make("Pendulum-v1")
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
    agent = Td3(explorer, hidden=(64, 64), batch=64).bind(env.observation_space, env.action_space)
    run, key = compiling.compile_agent(agent), jax.random.key_data(jax.random.key(0))
    rows, next_obs = (np.zeros((2, 64, width), np.float32) for width in (RowLayout.of(agent).width, 3))
    learned = jax.eval_shape(run.init, key, next_obs[0, 0])
    return run.learn.lower(key, learned, rows, next_obs, np.int32(0)).compile().as_text()


def test_matrix_products_use_several_threads(threads):
    threads(1)
    alone = update_of_td3()
    threads(2)
    assert "ynn" not in update_of_td3()
    if jax.__version_info__ >= (0, 10):
        assert "ynn" in alone


def test_unknown_options_are_dropped(threads, monkeypatch):
    threads(2)
    monkeypatch.setattr(compiling, "THREADED", {"xla_cpu_no_such_option": ""})
    assert compiling.options() is None
