"""`ExplorerCallback` in real Stable-Baselines3 models."""

import contextlib
import csv
import dataclasses
import io
import json
import pickle
import zipfile

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from gymnasium import spaces
from scipy.stats import ks_2samp
from stable_baselines3 import DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, CheckpointCallback, EvalCallback
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import Logger, configure
from stable_baselines3.common.noise import NormalActionNoise, VectorizedActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import adeu
from adeu.adapters.sb3 import ExplorerCallback, beside
from tests.adapters.clock import Clock
from tests.adapters.sb3_tools import TWO, Record, clocks, constant, make, parameters, pendulum, replayed, same

NOISE = constant(0.125)
COIN = constant(0.5, adeu.Bernoulli())
SIMPLE = adeu.Rnd(scale=1.0, hidden=(8,), features=4)
LEARNS = adeu.Explorer(adeu.Rollouts(SIMPLE, rho=0.5, c=0.2), adeu.Saturating(c=1.0), adeu.Gaussian())


def learn(model, callback, steps, **settings):
    """Train for `steps` steps and return their record."""
    record = Record(callback)
    model.learn(steps, callback=[callback, record], **settings)
    return record


@dataclasses.dataclass(frozen=True)
class Watch(adeu.Mechanism):
    """Sum next_obs[0], terminated, truncated and the cost in `observe`."""

    def init(self, key, obs):
        return jnp.zeros(4)

    def measure(self, key, state, carry, obs, **given):
        return jnp.zeros(()), carry

    def observe(self, state, transition, **given):
        ends = [transition.next_obs[0], transition.terminated, transition.truncated, transition.cost]
        return state + jnp.stack([jnp.asarray(value, float) for value in ends])


class TestActions:
    @pytest.mark.parametrize("kind", [TD3, DDPG, SAC])
    def test_noise_acts_in_the_scaled_space_around_the_deterministic_action(self, kind):
        model, callback = make(kind, clocks(7, 7)), ExplorerCallback(NOISE)
        record = learn(model, callback, 600)
        obs, actions = np.concatenate(record.obs), np.concatenate(record.actions)
        center = model.policy.scale_action(model.predict(obs, deterministic=True)[0])
        inside = np.abs(center) < 0.5  # clipping is 4 standard deviations away
        noise = (actions - center)[inside]
        assert inside.sum() > 400
        assert np.std(noise) == pytest.approx(0.125, rel=0.1)
        assert abs(np.mean(noise)) < 0.02
        taken = np.stack([env.unwrapped.taken for env in model.env.envs], axis=1).reshape(-1, 2)
        np.testing.assert_array_equal(taken, model.policy.unscale_action(actions))
        low, high = model.action_space.low, model.action_space.high
        np.testing.assert_allclose(taken, low + (actions + 1) / 2 * (high - low), rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("epsilon", [0.0, 1.0])
    def test_dqn_explores_by_the_spread_and_not_by_its_epsilon(self, epsilon):
        own = {"exploration_initial_eps": epsilon, "exploration_final_eps": epsilon}
        model = make(DQN, clocks(7, 5, actions=TWO, offset=1.0), **own)
        record = learn(model, ExplorerCallback(COIN), 400)
        best = model.predict(np.concatenate(record.obs), deterministic=True)[0]
        actions = np.concatenate(record.actions)
        explored = np.concatenate([decision.explored for decision in record.decisions])
        np.testing.assert_array_equal(actions[~explored], best[~explored])
        assert 0.4 < np.mean(explored) < 0.6
        assert 0.4 < np.mean(actions[explored] == best[explored]) < 0.6

    def test_the_random_warm_up_is_unchanged(self):
        models = [make(TD3, clocks(5, 7), learning_starts=30) for _ in range(2)]
        plain, exploring = Record(), ExplorerCallback(NOISE)
        models[0].learn(30, callback=plain)
        record = learn(models[1], exploring, 30)
        assert same(plain.actions, record.actions)
        assert not record.decisions
        assert exploring.behavior.step == 30  # warm-up steps are observed
        assert len(learn(models[1], exploring, 10, reset_num_timesteps=False).decisions) == 5


class SharedNoise(NormalActionNoise):
    """SB3's normal noise with the random numbers that an explorer draws in environment `index` of two."""

    def __init__(self, explorer, seed, index):
        super().__init__(np.zeros(1), np.full(1, explorer.f.c))
        shape = {"observation_space": spaces.Box(-1, 1, (1,)), "action_space": spaces.Box(-1, 1, (1,))}
        both, self.draws = (adeu.Behavior(explorer, type("Env", (), shape | {"num_envs": n}), seed) for n in (2, 1))
        self.draws.carry = jax.tree.map(lambda leaf: leaf[index : index + 1], both.carry)
        self.drawn = False

    def __call__(self):
        self.drawn = True
        return self.draws.act(np.zeros((1, 1)), np.zeros((1, 1))).action[0]

    def reset(self):
        if self.drawn:  # SB3 also resets new noise
            self.draws.begin()


class TestConstant:
    """A constant f is equivalent to SB3's `NormalActionNoise`."""

    @pytest.mark.parametrize(("kind", "n_envs"), [(TD3, 1), (DDPG, 1), (TD3, 2)])
    def test_training_is_identical_with_the_same_random_numbers(self, kind, n_envs):
        """The standard deviation is a power of 2, so that multiplying by it does not round (see also conftest.py)."""
        noise = SharedNoise(NOISE, 3, 0)
        if n_envs == 2:
            noise = VectorizedActionNoise(NormalActionNoise(np.zeros(1), np.ones(1)), 2)
            noise.noises = [SharedNoise(NOISE, 3, 0), SharedNoise(NOISE, 3, 1)]
        results = []
        for settings, callback in (({"action_noise": noise}, None), ({}, ExplorerCallback(NOISE, seed=3))):
            env = DummyVecEnv([lambda: gymnasium.make("Pendulum-v1", max_episode_steps=20)] * n_envs)
            model = make(kind, env, gradient_steps=1, **settings)
            model.learn(50 * n_envs, callback=callback)
            results.append([*replayed(model), *parameters(model)])
        assert same(*results)
        before = make(kind, pendulum())
        assert not same(parameters(before), results[0][5:])  # it did learn

    def test_noise_has_the_same_distribution(self):
        noises = []
        for settings, callback in (
            ({"action_noise": NormalActionNoise(np.zeros(2), np.full(2, 0.125))}, None),
            ({}, ExplorerCallback(NOISE)),
        ):
            model, record = make(TD3, clocks(5, 7), **settings), Record()
            model.learn(1600, callback=[record] if callback is None else [callback, record])
            center = model.policy.scale_action(model.predict(np.concatenate(record.obs), deterministic=True)[0])
            noises.append((np.concatenate(record.actions) - center).ravel())
        assert ks_2samp(*noises).pvalue > 0.01


class TestEnvironments:
    def test_options_and_rollout_coins_follow_the_episodes_of_each_environment(self):
        """Compare eight environments with episodes of 2 to 16 steps to a `Behavior` whose `begin` the test calls."""
        lengths = (2, 3, 5, 7, 8, 11, 13, 16)
        explorer = adeu.Explorer(
            adeu.Rollouts(adeu.Constant(0.25), rho=0.5, c=1.0), adeu.Identity(), adeu.Options(mu=1.2)
        )
        model, callback = make(DQN, clocks(*lengths, actions=TWO)), ExplorerCallback(explorer, seed=5)
        record = learn(model, callback, 8 * 48)
        env = type("Env", (), {"observation_space": model.observation_space, "action_space": TWO, "num_envs": 8})
        reference = adeu.Behavior(explorer, env, seed=5)
        for t, (obs, decision) in enumerate(zip(record.obs, record.decisions, strict=True)):
            ended = np.array([(t + 1) % length == 0 for length in lengths])
            np.testing.assert_array_equal(ended, record.ended[t])
            center = model.q_net(torch.as_tensor(obs)).detach().numpy()
            assert same(decision, reference.act(obs, center))
            reference.begin(ended)
        coins = np.array([decision.uncertainty for decision in record.decisions])
        for i, length in enumerate(lengths):
            episodes = coins[: 48 // length * length, i].reshape(-1, length)
            assert (episodes == episodes[:, :1]).all()  # one coin per episode
        assert all(len(np.unique(coins[:, i])) == 2 for i in range(5))  # different across episodes
        assert not (coins == coins[:, :1]).all()  # different across environments

    def test_environments_decide_independently(self):
        model, callback = make(TD3, clocks(5, 5)), ExplorerCallback(NOISE)
        model.env.envs[1].unwrapped.mark = 0.0  # the same observations in both
        record = learn(model, callback, 60)
        first, second = np.array(record.actions).swapaxes(0, 1)
        assert same(np.array(record.obs)[:, 0], np.array(record.obs)[:, 1])
        assert not (first == second).all(axis=1).any()

    @pytest.mark.parametrize("truncates", [False, True])
    def test_observe_gets_the_final_observation_the_kind_of_end_and_the_cost(self, truncates):
        watch = adeu.Explorer(Watch(), adeu.Identity(), adeu.Gaussian())
        callback = ExplorerCallback(watch)
        env = DummyVecEnv([lambda: Clock(5), lambda: Clock(4)])
        if truncates:
            env = DummyVecEnv([lambda n=n: gymnasium.wrappers.TimeLimit(Clock(9), n) for n in (5, 4)])
        learn(make(TD3, env), callback, 40)  # 4 episodes of 5 steps, 5 of 4
        next_obs = 4 * (1 + 2 + 3 + 4 + 5) + 5 * (1 + 2 + 3 + 4)
        expected = [next_obs, *((0, 9) if truncates else (9, 0)), next_obs]
        np.testing.assert_array_equal(callback.behavior.state.f, expected)

    def test_f_sees_what_the_policy_sees_and_learns_from_the_agents_batches(self, monkeypatch):
        """With `VecNormalize`, and two gradient steps every four steps."""
        seen, learned, drawn = [], [], []
        sample = ReplayBuffer.sample
        monkeypatch.setattr(ReplayBuffer, "sample", lambda *a, **k: drawn.append(sample(*a, **k)) or drawn[-1])
        host = adeu.from_host(lambda obs: seen.append(obs) or np.zeros(len(obs)), learned.append)
        env = VecNormalize(clocks(5, 4, offset=500.0), norm_reward=False)
        model = make(TD3, env, gradient_steps=2, train_freq=4)
        buffer = model.replay_buffer
        callback = ExplorerCallback(adeu.Explorer(adeu.Sum((Watch(), host)), adeu.Identity(), adeu.Gaussian()))
        record = learn(model, callback, 64)
        assert same(seen, record.obs)  # normalized, as the policy sees them
        assert np.abs(np.concatenate(seen)).max() <= 10 < 500 <= model.replay_buffer.observations[:30, :, 0].min()
        for ours, agents in zip(learned, drawn, strict=True):
            np.testing.assert_array_equal(ours.obs, agents.observations.numpy())
            np.testing.assert_array_equal(ours.next_obs, agents.next_observations.numpy())
            np.testing.assert_array_equal(ours.action, agents.actions.numpy())
            np.testing.assert_array_equal(ours.reward, agents.rewards.numpy()[:, 0])
            np.testing.assert_array_equal(ours.terminated, agents.dones.numpy()[:, 0] == 1)
        assert len(learned) == 2 * 8
        assert model.replay_buffer is buffer
        next_obs = callback.behavior.state.f[0][0]
        assert abs(float(next_obs)) < 64 * 10  # final observations are normalized too: raw ones are about 500

    def test_discrete_observations_are_counted(self):
        env = DummyVecEnv([lambda: gymnasium.make("FrozenLake-v1", is_slippery=False)] * 2)
        explorer = adeu.Explorer(adeu.Counts(), adeu.ShiftedSigmoid(2.0), adeu.Bernoulli())
        callback = ExplorerCallback(explorer)
        model = make(DQN, env, gradient_steps=1)
        record = learn(model, callback, 80)
        np.testing.assert_array_equal(
            callback.behavior.state.f, np.bincount(np.concatenate(record.obs), minlength=16)
        )

    def test_dict_observations_go_through_the_encoder(self):
        class Named(gymnasium.ObservationWrapper):
            def __init__(self):
                super().__init__(Clock(4))
                self.observation_space = spaces.Dict(
                    {"clock": self.env.observation_space, "side": spaces.Discrete(3)}
                )

            def observation(self, observation):
                return {"clock": observation, "side": 1}

        callback = ExplorerCallback(
            adeu.Explorer(adeu.Sum((SIMPLE, Watch())), adeu.Clip(), adeu.Gaussian()), encoder=lambda obs: obs["clock"]
        )
        model = make(TD3, DummyVecEnv([Named] * 2), gradient_steps=1)
        learn(model, callback, 40)
        assert callback.behavior.state.f[1][0] == 10 * (1 + 2 + 3 + 4)
        assert callback.behavior.state.f[0].moments.size > 0


class TestLearning:
    @pytest.mark.parametrize(("kind", "critics"), [(TD3, 2), (TD3, 5), (SAC, 5)])
    def test_q_values_come_from_the_models_critics(self, kind, critics):
        explorer = adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(), rho=0.0, c=0.2), adeu.Clip(), adeu.Gaussian())
        callback = ExplorerCallback(explorer)
        model = make(kind, clocks(5, 4), policy_kwargs={"net_arch": [8], "n_critics": critics})
        record = learn(model, callback, 20)
        obs = np.concatenate(record.obs)
        mean = model.policy.scale_action(model.predict(obs, deterministic=True)[0])
        q = torch.stack(model.critic(torch.as_tensor(obs), torch.as_tensor(mean))).detach()
        assert q.shape == (critics, 20, 1)
        uncertainty = np.concatenate([decision.uncertainty for decision in record.decisions])
        np.testing.assert_allclose(uncertainty, q.numpy().std(axis=0)[:, 0], rtol=1e-4, atol=1e-6)
        assert uncertainty.min() > 0

    def test_disagreement_of_one_critic_is_zero_and_warns(self):
        callback = ExplorerCallback(adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Gaussian()))
        with pytest.warns(UserWarning, match="one critic"):
            record = learn(make(DDPG, clocks(5)), callback, 5)
        assert all(decision.uncertainty == 0 for decision in record.decisions)

    def test_the_logger_records_figures_of_the_decisions(self, tmp_path):
        model = make(TD3, clocks(10, 10), learning_starts=40, gradient_steps=1)
        model.set_logger(configure(str(tmp_path), ["csv"]))
        record = learn(model, ExplorerCallback(LEARNS), 120, log_interval=2)
        model.logger.close()
        rows = list(csv.DictReader((tmp_path / "progress.csv").read_text().splitlines()))
        assert len(rows) == 6
        assert rows[0]["adeu/spread"] == rows[1]["adeu/spread"] == ""  # the warm-up decides nothing
        for number, row in enumerate(rows[2:]):
            decisions = record.decisions[10 * number : 10 * number + 10]
            for name in ("uncertainty", "spread", "explored", "deviation"):
                expected = np.mean([getattr(decision, name) for decision in decisions])
                assert float(row[f"adeu/{name}"]) == pytest.approx(expected, rel=1e-5)
            spreads = np.concatenate([decision.spread[decision.asked] for decision in decisions])
            assert len(spreads) in (0, 10, 20)  # none in rollout episodes
            expected = {}
            if spreads.size:
                low, high = np.percentile(spreads, [10, 90])
                expected = {"spread_p10": low, "spread_p90": high, "saturated": np.mean(spreads >= 0.99)}
            found = {name: row[f"adeu/{name}"] for name in ("spread_p10", "spread_p90", "saturated")}
            assert {name: float(text) for name, text in found.items() if text} == pytest.approx(expected, rel=1e-5)
        assert 0 < sum(bool(row["adeu/saturated"]) for row in rows) < len(rows)
        assert float(rows[-1]["adeu/explored"]) == 1

    def test_other_callbacks_that_dump_the_logger_get_the_figures(self, tmp_path):
        """Like EvalCallback, dump within an episode; each dump has the figures since the last one."""

        class Writes(BaseCallback):
            def _on_step(self):
                if self.n_calls % 3 == 0:
                    self.logger.dump(self.num_timesteps)
                return True

        model = make(TD3, clocks(100))
        model.set_logger(configure(str(tmp_path), ["csv"]))
        callback = ExplorerCallback(adeu.Explorer(adeu.Schedule(1.0, 0.0, 12), adeu.Identity(), adeu.Gaussian()))
        model.learn(12, callback=[callback, Writes()], log_interval=None)
        model.logger.close()
        rows = list(csv.DictReader((tmp_path / "progress.csv").read_text().splitlines()))
        spreads = callback.behavior.history.reshape(4, 3)
        assert [float(row["adeu/spread"]) for row in rows] == pytest.approx(spreads.mean(axis=1).tolist())

    def test_a_model_with_an_explorer_that_cannot_be_pickled_is_copied_with_its_logger(self):
        secret = adeu.from_function(lambda obs: obs[0])
        model = make(TD3, clocks(5))
        model.set_logger(Logger(None, []))
        model.learn(10, callback=ExplorerCallback(adeu.Explorer(secret, adeu.Clip(), adeu.Gaussian())))
        copied = pickle.loads(pickle.dumps(model.logger))
        copied.dump()
        assert copied.name_to_value == {}


class TestOutsideTraining:
    def test_the_environments_pass_the_check(self):
        check_env(Clock(), warn=False)
        check_env(Clock(actions=TWO), warn=False)

    @pytest.mark.parametrize(("kind", "env"), [(SAC, "Pendulum-v1"), (DQN, "CartPole-v1")])
    def test_evaluation_and_predict_are_unchanged(self, kind, env):
        def outcomes(model):
            returns = []
            for deterministic in (True, False):
                torch.manual_seed(0)
                np.random.seed(0)
                model.action_space.seed(0)
                evaluation = DummyVecEnv([lambda: gymnasium.make(env, max_episode_steps=50)])
                evaluation.seed(0)
                with pytest.warns(UserWarning, match="Monitor"):
                    returns += evaluate_policy(model, evaluation, 2, deterministic, return_episode_rewards=True)[0]
            return returns

        half = {"exploration_initial_eps": 0.5, "exploration_final_eps": 0.5} if kind is DQN else {}
        model = make(kind, gymnasium.make(env), **half)
        if half:
            model.exploration_rate = 0.5  # it is 0 before the first step
        before = outcomes(model)
        callback = ExplorerCallback(COIN if kind is DQN else NOISE)
        model.learn(20, callback=callback, log_interval=None)
        decided = len(callback.behavior.history)
        assert decided == 20
        assert outcomes(model) == before
        assert len(callback.behavior.history) == decided

    def test_evaluation_during_training_does_not_change_it(self):
        results = []
        for evaluates in (False, True):
            model, callback = make(TD3, pendulum(), gradient_steps=1), ExplorerCallback(NOISE)
            short = DummyVecEnv([lambda: gymnasium.make("Pendulum-v1", max_episode_steps=10)])
            evaluation = EvalCallback(short, eval_freq=10, n_eval_episodes=1, verbose=0)
            with pytest.warns(UserWarning, match="Monitor") if evaluates else contextlib.nullcontext():
                model.learn(40, callback=[callback, evaluation] if evaluates else callback)
            results.append(replayed(model))
        assert same(*results)

    def test_a_later_learn_without_the_callback_does_not_explore(self):
        models = [make(TD3, clocks(5), action_noise=None) for _ in range(2)]
        models[0].learn(20, callback=ExplorerCallback(NOISE))
        assert isinstance(models[0], TD3)
        assert type(models[0]).__name__ == "TD3"
        for model in models:
            model.learn(20)
            assert type(model) is TD3
        assert same(replayed(models[0])[2][20:], replayed(models[1])[2])

    def test_an_interrupted_training_detaches_the_explorer(self):
        class Dies(Record):
            def _on_step(self):
                raise KeyboardInterrupt

        model = make(TD3, clocks(5))
        with pytest.raises(KeyboardInterrupt):
            model.learn(10, callback=[ExplorerCallback(NOISE), Dies()])
        callback = ExplorerCallback(NOISE)
        assert len(learn(model, callback, 10).decisions) == 10
        model.learn(10, callback=(record := Record()))
        center = model.policy.scale_action(model.predict(np.concatenate(record.obs))[0])
        np.testing.assert_allclose(np.concatenate(record.actions), center, atol=1e-6)

    def test_learn_begins_new_episodes_only_if_it_resets_the_environment(self):
        """The clocks of 100 steps do not end here; a new rollout coin is drawn only after a reset."""
        explorer = adeu.Explorer(adeu.Rollouts(adeu.Constant(0.25), rho=0.5, c=1.0), adeu.Identity(), adeu.Gaussian())
        model, callback = make(TD3, clocks(*[100] * 16)), ExplorerCallback(explorer)
        first = learn(model, callback, 32).decisions[-1].uncertainty
        continued = learn(model, callback, 32, reset_num_timesteps=False).decisions[-1].uncertainty
        anew = learn(model, callback, 32).decisions[0].uncertainty
        assert same(first, continued)
        assert not same(first, anew)


class TestFiles:
    def trained(self):
        model, callback = make(TD3, clocks(5, 7), gradient_steps=1), ExplorerCallback(LEARNS, seed=1)
        learn(model, callback, 60)
        return model, callback

    def test_a_loaded_explorer_makes_the_same_decisions(self, tmp_path):
        model, callback = self.trained()
        model.save(tmp_path / "td3")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["td3.adeu.npz", "td3.zip"]
        loaded, again = TD3.load(tmp_path / "td3", env=clocks(5, 7)), ExplorerCallback(LEARNS, seed=99)
        assert type(loaded) is TD3
        again.load(tmp_path / "td3.zip")
        loaded.learn(0, callback=again, reset_num_timesteps=False)
        random = np.random.default_rng(0)
        stream = [
            (random.normal(size=(2, 2)), random.uniform(-1, 1, (2, 2)), random.random(2) < 0.2) for _ in range(50)
        ]
        again.load(tmp_path / "td3")  # learn(0) began an episode
        decided = []
        for one in (callback, again):
            decided.append([])
            for obs, center, ended in stream:
                decided[-1].append(one.behavior.act(obs, center))
                one.behavior.begin(ended)
        for never, was in zip(*decided, strict=True):
            assert same(never, was)
        assert same([callback.behavior.step], [again.behavior.step])

    def test_training_resumes_after_loading(self, tmp_path):
        model, _ = self.trained()
        model.save(str(tmp_path / "td3.zip"))
        loaded, again = TD3.load(tmp_path / "td3", env=clocks(5, 7)), ExplorerCallback(LEARNS)
        again.load(tmp_path / "td3")
        learn(loaded, again, 20, reset_num_timesteps=False)
        assert again.behavior.step == 80

    def test_the_saved_model_does_not_contain_the_explorer(self, tmp_path):
        plain = make(TD3, clocks(5, 7), gradient_steps=1)
        plain.learn(60)
        plain.save(tmp_path / "plain")
        model, _ = self.trained()
        model.save(tmp_path / "explored")
        kept = [json.loads(zipfile.ZipFile(tmp_path / f"{name}.zip").read("data")) for name in ("plain", "explored")]
        assert kept[0].keys() == kept[1].keys()
        sizes = [(tmp_path / f"{name}.zip").stat().st_size for name in ("plain", "explored")]
        assert sizes[1] < 1.1 * sizes[0]
        model.save(file := io.BytesIO())  # no path for the explorer's file
        assert isinstance(TD3.load(file), TD3)

    def test_checkpoints_include_the_explorer(self, tmp_path):
        model, callback = make(TD3, clocks(5)), ExplorerCallback(NOISE)
        model.learn(20, callback=CallbackList([callback, CheckpointCallback(10, str(tmp_path))]))
        for step in (10, 20):
            other = ExplorerCallback(NOISE)
            other.load(tmp_path / f"rl_model_{step}_steps.zip")
            make(TD3, clocks(5)).learn(0, callback=other)
            assert other.behavior.step == step

    def test_missing_files_and_behaviors_are_reported(self, tmp_path):
        callback = ExplorerCallback(NOISE)
        with pytest.raises(FileNotFoundError, match=r"nothing\.adeu\.npz"):
            callback.load(tmp_path / "nothing.zip")
        with pytest.raises(ValueError, match=r"behavior is not available before the first learn\(\)"):
            callback.save(tmp_path / "nothing")
        assert beside("a/b.c").name == "b.c.adeu.npz"


@pytest.mark.parametrize(("kind", "env"), [(TD3, lambda: clocks(5)), (DQN, lambda: clocks(5, actions=TWO))])
def test_without_an_explorer_the_default_is_used_and_printed(kind, env, capsys):
    model, callback = make(kind, env(), verbose=1), ExplorerCallback()
    model.learn(20, callback=callback)
    spaces_seen = callback._last.interface
    bound = adeu.recipes.default(model).bind(spaces_seen.observation_space, spaces_seen.action_space)
    assert callback.behavior.explorer == bound
    assert f"ExplorerCallback uses {adeu.recipes.default(model)}" in capsys.readouterr().out


class TestRejected:
    def refused(self, model, match, callback=None, error=ValueError):
        with pytest.raises(error, match=match):
            model.learn(10, callback=callback or ExplorerCallback(NOISE))

    def test_unsupported_models_are_rejected(self):
        self.refused(PPO("MlpPolicy", clocks(5), n_steps=8, batch_size=8), "takes a TD3, DDPG, SAC or DQN.*got 'PPO'")
        noise = NormalActionNoise(np.zeros(2), np.ones(2))
        self.refused(make(TD3, clocks(5), action_noise=noise), "without action_noise")
        self.refused(make(SAC, clocks(5), use_sde=True), "without gSDE")

    def test_incompatible_parts_are_rejected(self):
        self.refused(make(DQN, clocks(5, actions=TWO)), "Gaussian: action space takes a Box")
        bernoulli = ExplorerCallback(constant(0.1, adeu.Bernoulli()))
        self.refused(make(TD3, clocks(5)), "Bernoulli: action space takes a Discrete", bernoulli)

        @dataclasses.dataclass(frozen=True)
        class Wishful(adeu.Mechanism):
            def measure(self, key, state, carry, obs, *, oracle, **given):
                return oracle, carry

        wishful = ExplorerCallback(adeu.Explorer(Wishful(), adeu.Identity(), adeu.Gaussian()))
        self.refused(make(TD3, clocks(5)), r"no more than q_values in act\(\).*got.*oracle", wishful)
        returning = ExplorerCallback(adeu.recipes.go_explore(by="agent", bins=2))
        none = r"agents that do: none of adeu's; Behavior\.act takes it from your loop\), got \['goal_preferences'\]"
        self.refused(make(TD3, clocks(5)), none, returning)
        error = adeu.Explorer(adeu.Rollouts(adeu.TdError(), rho=0.1, c=0.2), adeu.Clip(), adeu.Gaussian())
        self.refused(
            make(TD3, clocks(5)),
            r"learn only from transitions \(agents that do: Dqn, Sac, Td3\), got.*td_error",
            ExplorerCallback(error),
        )
        with pytest.raises(ValueError, match="explorer takes an Explorer"):
            ExplorerCallback(adeu.Constant(0.1))
