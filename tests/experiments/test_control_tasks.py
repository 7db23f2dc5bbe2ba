"""Control tasks as experiments: their settings, and metrics computed by hand."""

import dataclasses

import numpy as np
import pytest

import adeu
from adeu.envs import JaxMountainCar
from adeu.experiments import cart_pole, mountain_car
from adeu.experiments.lib import control_tasks


def test_settings_of_the_cases():
    rnd = cart_pole.EXPERIMENT.cases["rnd"].trainer(0)
    assert isinstance(rnd.loop.agent.explorer.f, adeu.Rnd)
    assert (rnd.goal, rnd.loop.evaluate_episodes, rnd.loop.env.limit) == (475.0, 100, 500)
    ez, coin = (mountain_car.EXPERIMENT.cases[case] for case in ("ez-adeu", "eps-greedy"))
    tossing = dataclasses.replace(ez.agent.explorer, D=coin.agent.explorer.D)
    same = dataclasses.replace(ez, agent=dataclasses.replace(ez.agent, explorer=tossing))
    assert same == coin, "the cases differ in more than D"
    assert ez.trainer(0).loop.agent.from_zero
    assert not mountain_car.EXPERIMENT.cases["ez-adeu-usual-init"].trainer(0).loop.agent.from_zero
    assert (ez.trainer(0).goal, ez.trainer(0).loop.env) == (0.95, JaxMountainCar(sparse=True))
    dear = mountain_car.EXPERIMENT.cases["ez-adeu-step-cost"].trainer(0)
    assert (dear.goal, dear.loop.env) == (-110.0, JaxMountainCar())
    with pytest.raises(ValueError, match=r"JaxSetting: env takes a Sea or 'CartPole-v1' or 'Mount.*, got 'Pong'"):
        dataclasses.replace(ez, env="Pong")
    with pytest.raises(ValueError, match="JaxSetting: agent takes an Agent, got None"):
        dataclasses.replace(ez, agent=None)


def test_metrics_computed_by_hand():
    solved = np.array([[0.0, 1, 0], [0, 0, 0], [0, 0, 1]])
    curves = {"solved": solved, "step": np.array([[10.0, 20, 30]] * 3)}
    figures = {metric.name: metric.of(curves).tolist() for metric in control_tasks.METRICS[:2]}
    assert figures == {"solved_rate": [True, False, True], "first_solved": [20, np.inf, 30]}
