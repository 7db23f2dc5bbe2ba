"""Control tasks as experiments: what a run is made of, and their figures by hand."""

import dataclasses

import numpy as np
import pytest

import adeu
from adeu.envs import JaxMountainCar
from adeu.experiments import cart_pole, control, mountain_car


def test_what_is_run():
    rnd = cart_pole.EXPERIMENT.cases["rnd"].trainer(0)
    assert isinstance(rnd.dqn.explorer.f, adeu.Rnd)
    assert (rnd.goal, rnd.dqn.evaluate_episodes, rnd.env.limit) == (475.0, 100, 500)
    ez, coin = (mountain_car.EXPERIMENT.cases[case] for case in ("ez-adeu", "eps-greedy"))
    assert dataclasses.replace(ez, D=coin.D) == coin, "the same but for D"
    assert ez.trainer(0).dqn.from_zero
    assert not mountain_car.EXPERIMENT.cases["ez-adeu-usual-init"].trainer(0).dqn.from_zero
    assert (ez.trainer(0).goal, ez.trainer(0).env) == (0.95, JaxMountainCar(sparse=True))
    dear = mountain_car.EXPERIMENT.cases["ez-adeu-step-cost"].trainer(0)
    assert (dear.goal, dear.env) == (-110.0, JaxMountainCar())
    with pytest.raises(ValueError, match=r"a run: task takes CartPole-v1 or MountainCar-v0 or .*, got 'Pong'"):
        dataclasses.replace(ez, task="Pong").trainer(0)


def test_figures_by_hand():
    solved = np.array([[0.0, 1, 0], [0, 0, 0], [0, 0, 1]])
    curves = {"solved": solved, "step": np.array([[10.0, 20, 30]] * 3)}
    figures = {metric.name: metric.of for metric in control.METRICS}
    assert figures["solved_rate"](curves) == pytest.approx(2 / 3)
    assert figures["first_solved"](curves) == 30
    assert figures["first_solved"]({name: column[1:2] for name, column in curves.items()}) is None
