"""Stable-Baselines3's TD3 with an explorer learns to swing up a pendulum."""

import pytest
from stable_baselines3 import TD3
from stable_baselines3.common.callbacks import EvalCallback, StopTrainingOnRewardThreshold
from stable_baselines3.common.env_util import make_vec_env

import adeu
from adeu.adapters.sb3 import ExplorerCallback

PAPER = adeu.Explorer(adeu.Rollouts(adeu.Rnd.paper(), rho=0.3, c=0.2), adeu.Sigmoid(c=0.2), adeu.Gaussian())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gave its largest spread")  # the paper's U of 187.5 does so for long
@pytest.mark.parametrize("n_envs", [1, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_td3_with_rnd_reaches_200_on_pendulum(seed, n_envs):
    """Evaluate 10 greedy episodes every 1,000 steps; one gradient step for each environment step."""
    model = TD3(
        "MlpPolicy",
        make_vec_env("Pendulum-v1", n_envs, seed=seed),
        learning_rate=1e-3,
        gamma=0.98,
        learning_starts=1000,
        gradient_steps=-1,
        policy_kwargs={"net_arch": [64, 64]},
        seed=seed,
    )
    reached = StopTrainingOnRewardThreshold(-200)
    evaluation = make_vec_env("Pendulum-v1", 1, seed=100 + seed)
    evaluate = EvalCallback(evaluation, reached, n_eval_episodes=10, eval_freq=1000 // n_envs, verbose=0)
    model.learn(10_000, callback=[ExplorerCallback(PAPER, seed=seed), evaluate])
    print(f"seed {seed}, {n_envs} environments: {evaluate.best_mean_reward:.0f} at step {model.num_timesteps}")
    assert evaluate.best_mean_reward >= -200
