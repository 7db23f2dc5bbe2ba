"""`Bonus` in real frameworks: their agents learn from the reward with the bonus."""

import functools

import numpy as np
import pytest
from stable_baselines3 import PPO, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import adeu
from adeu.adapters.sb3 import ExplorerCallback
from tests.adapters.clock import Clock
from tests.adapters.sb3_tools import constant, make

RND = adeu.Rnd(scale=1.0, hidden=(8,), features=4)


class Paid(BaseCallback):
    """Record the bonus of each step."""

    def __init__(self):
        super().__init__()
        self.bonuses = []

    def _on_step(self):
        self.bonuses.append([info["adeu/bonus"] for info in self.locals["infos"]])
        return True


def test_td3_replays_the_bonus_and_an_inner_monitor_records_the_plain_reward():
    """An explorer and a bonus together; the reward of the clock is 1."""
    env = DummyVecEnv([lambda: adeu.Bonus(Monitor(Clock(5)), RND, scale=0.5, every=4, batch=8)])
    model, paid = make(TD3, env), Paid()
    model.learn(40, callback=[ExplorerCallback(constant(0.1)), paid])
    rewards = model.replay_buffer.rewards[:40]
    np.testing.assert_allclose(rewards, 1.0 + np.array(paid.bonuses), rtol=1e-5)
    assert np.all(np.array(paid.bonuses) > 0)
    assert [episode["r"] for episode in model.ep_info_buffer] == [5.0] * 8
    assert env.envs[0].payer.updates == 9


def test_ppo_learns_from_the_bonus_of_each_environment():
    env = make_vec_env(Clock, 2, wrapper_class=adeu.Bonus, wrapper_kwargs={"f": RND, "scale": 0.5, "batch": 8})
    model, paid = PPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, seed=0), Paid()
    model.learn(32, callback=paid)
    np.testing.assert_allclose(model.rollout_buffer.rewards[:4], 1.0 + np.array(paid.bonuses)[:4], rtol=1e-5)


@pytest.mark.slow
def test_bonus_works_in_subprocesses():
    make_one = functools.partial(adeu.Bonus, Clock(5), RND, 0.5, every=4, batch=8)
    here, there = DummyVecEnv([make_one]), SubprocVecEnv([make_one] * 2)
    try:
        for env in (here, there):
            env.reset()
        for _ in range(12):
            _, mine, _, _ = here.step(np.zeros((1, 2), np.float32))
            _, theirs, _, _ = there.step(np.zeros((2, 2), np.float32))
            np.testing.assert_allclose(theirs, np.repeat(mine, 2), rtol=1e-4)
    finally:
        there.close()


def test_torchrl_gets_the_bonus():
    import torchrl.envs

    env = torchrl.envs.GymWrapper(adeu.Bonus(Clock(5), adeu.Constant(2.0), scale=0.25, normalize=False))
    data = env.rollout(5)
    np.testing.assert_allclose(data["next", "reward"][:, 0], 1.5)


def test_tianshou_gets_the_bonus():
    from tianshou.env import DummyVectorEnv

    env = DummyVectorEnv([lambda: adeu.Bonus(Clock(5), adeu.Constant(2.0), scale=0.25, normalize=False)] * 2)
    env.reset()
    _, rewards, _, _, infos = env.step(np.zeros((2, 2), np.float32))
    assert rewards.tolist() == [1.5, 1.5]
    assert [info["adeu/bonus"] for info in infos] == [0.5, 0.5]
