"""`ExplorerModule` in real torchrl policies, environments and collectors."""

import copy
import dataclasses
import io

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from gymnasium import spaces

import adeu
from tests.adapters.clock import Clock
from tests.adapters.noise import NOISES, assert_remembered
from tests.adapters.sb3_tools import constant

COINS = adeu.Explorer(adeu.Rollouts(adeu.Constant(0.25), rho=0.5, c=1.0), adeu.Identity(), adeu.Gaussian())


@dataclasses.dataclass(frozen=True)
class Total(adeu.Mechanism):
    """Sum next_obs[0] in `observe` and obs[0] in `update`."""

    def init(self, key, obs):
        return jnp.zeros(2)

    def measure(self, key, state, carry, obs, **given):
        return state.sum(), carry

    def observe(self, state, transition, **given):
        return state.at[0].add(transition.next_obs[0])

    def update(self, state, batch, **given):
        return state.at[1].add(batch.obs[:, 0].sum())


LEARNS = adeu.Explorer(Total(), adeu.Saturating(c=0.1), adeu.Gaussian())


@pytest.fixture(scope="module")
def rl():
    """Import torchrl in the processes that need it, because it takes seconds."""
    import tensordict.nn
    import torchrl.collectors
    import torchrl.envs

    from adeu.adapters import torchrl as adapter

    class Rl:
        envs, collectors, nn, ExplorerModule = torchrl.envs, torchrl.collectors, tensordict.nn, adapter.ExplorerModule

        def env(self, *lengths, **settings):
            def one(length):
                return torchrl.envs.GymWrapper(Clock(length, **settings))

            serial = torchrl.envs.SerialEnv(len(lengths), [lambda n=n: one(n) for n in lengths])
            return torchrl.envs.TransformedEnv(serial, torchrl.envs.InitTracker())

        def policy(self, module, out=2, key="action", **modules):
            torch.manual_seed(0)
            actor = tensordict.nn.TensorDictModule(
                torch.nn.Linear(2, out, bias=False), in_keys=["observation"], out_keys=[key]
            )
            return tensordict.nn.TensorDictSequential(actor, *modules.values(), module)

    return Rl()


def test_the_action_changes_only_with_exploration_type_random(rl):
    env = rl.env(5, 7, actions=spaces.Box(-9.0, 9.0, (2,)))
    module = rl.ExplorerModule(constant(0.125), env, seed=0)
    policy = rl.policy(module)
    random = env.rollout(300, policy, break_when_any_done=False)
    noise = (random["action"] - policy[0](random.clone())["action"]).reshape(-1)
    assert noise.std().item() == pytest.approx(0.125 * 9, rel=0.1)
    assert not (random["action"][0] == random["action"][1]).all(dim=1).any()
    with rl.envs.set_exploration_type(rl.envs.ExplorationType.DETERMINISTIC):
        greedy = env.rollout(10, policy, break_when_any_done=False)
    assert torch.equal(greedy["action"], policy[0](greedy.clone())["action"])
    assert greedy.get("adeu", None) is None


@pytest.mark.parametrize("name", NOISES)
def test_correlated_noise_is_kept_in_the_tensordict(rl, name):
    env = rl.env(5, 7, actions=spaces.Box(-9.0, 9.0, (2,)))
    policy = rl.policy(rl.ExplorerModule(constant(0.05, NOISES[name]), env, seed=0))
    data = env.rollout(200, policy, break_when_any_done=False)
    noise = (data["action"] - policy[0](data.clone())["action"]).detach().numpy()
    for env_noise, length in zip(noise, (5, 7), strict=True):
        assert_remembered(env_noise, length)


def test_coins_of_each_environment_are_kept_in_the_tensordict(rl):
    """In a collector: one coin for each episode, also across batches."""
    lengths = (3, 5, 8)
    env = rl.env(*lengths)
    collector = rl.collectors.Collector(
        env, rl.policy(rl.ExplorerModule(COINS, env, seed=1)), frames_per_batch=3 * 20, total_frames=3 * 120
    )
    coins = torch.cat([data["adeu", "uncertainty"].clone() for data in collector], dim=-1)
    collector.shutdown()
    for i, length in enumerate(lengths):
        episodes = coins[i].reshape(-1, length)
        assert (episodes == episodes[:, :1]).all()
        assert len(episodes[:, 0].unique()) == 2
    assert coins.shape == (3, 120)
    assert not (coins == coins[:1]).all()


def test_figures_are_of_the_collected_data(rl):
    """Over all steps, except percentiles and saturation, which exclude rollout episodes."""
    env = rl.env(5, 7, actions=spaces.Box(-9.0, 9.0, (2,)))
    module = rl.ExplorerModule(COINS, env, seed=0)
    data = env.rollout(100, rl.policy(module), break_when_any_done=False)
    figures, asked = module.figures(data), data["adeu", "asked"]
    assert 0 < asked.float().mean() < 1
    assert figures["adeu/spread_p10"] == figures["adeu/spread_p90"] == 0.25
    assert figures["adeu/spread"] == pytest.approx(data["adeu", "spread"].mean().item())
    moved = (data["action"] - rl.policy(module)[0](data.clone())["action"]).abs() / 9
    assert figures["adeu/deviation"] == pytest.approx(moved.mean().item(), rel=1e-4)
    with rl.envs.set_exploration_type(rl.envs.ExplorationType.DETERMINISTIC):
        assert module.figures(env.rollout(3, rl.policy(module))) == {}


def test_a_behavior_with_the_same_random_streams_decides_the_same(rl):
    env = rl.env(4)
    policy = rl.policy(rl.ExplorerModule(COINS, env, seed=3))
    data = env.rollout(12, policy, break_when_any_done=False)[0]
    generator = torch.Generator().manual_seed(3)
    torch.randint(2**31, (1,), generator=generator)  # the seed of f's initial state
    seed = torch.randint(2**31, (1,), generator=generator).item()
    behavior = adeu.Behavior(COINS, Clock(), seed=seed)
    for t in range(12):
        center = policy[0](data[t].clone())["action"]
        np.testing.assert_allclose(data["action"][t], behavior.act(data["observation"][t], center).action, atol=1e-6)
        if (t + 1) % 4 == 0:
            behavior.begin()


def test_f_observes_learns_and_is_part_of_the_state_dict(rl):
    env = rl.env(5, 5)
    module = rl.ExplorerModule(LEARNS, env, seed=0)
    data = env.rollout(10, rl.policy(module), break_when_any_done=False)
    assert (data["adeu", "uncertainty"] == 0).all()
    module.observe(data)
    module.update(data)
    expected = [4 * (1 + 2 + 3 + 4 + 5), 4 * (0 + 1 + 2 + 3 + 4)]  # with the final observations
    assert module.state_dict()["state_0"].tolist() == expected
    assert (env.rollout(2, rl.policy(module))["adeu", "uncertainty"] == sum(expected)).all()

    torch.save(module.state_dict(), file := io.BytesIO())
    other = rl.ExplorerModule(LEARNS, env, seed=0)
    other.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
    assert (env.rollout(2, rl.policy(other))["adeu", "uncertainty"] == sum(expected)).all()
    copied = copy.deepcopy(module)
    assert (env.rollout(2, rl.policy(copied))["adeu", "uncertainty"] == sum(expected)).all()


def test_critics_provide_the_q_values_that_f_needs(rl):
    env = rl.env(5, 4)
    critics = rl.nn.TensorDictModule(torch.nn.Linear(2, 3), in_keys=["action"], out_keys=["q"])
    explorer = adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Gaussian())
    with pytest.raises(ValueError, match=r"ExplorerModule: explorer takes.*Dqn, Sac, Td3\), got \['q_values'\]"):
        rl.ExplorerModule(explorer, env)
    with pytest.raises(ValueError, match=r"none of adeu's; Behavior\.act .*got \['goal_preferences'\]"):
        rl.ExplorerModule(adeu.recipes.go_explore(by="agent", bins=2), env)
    module = rl.ExplorerModule(explorer, env, seed=0, given={"q_values": "q"})
    data = env.rollout(3, rl.policy(module, critics=critics), break_when_any_done=False)
    expected = data["q"].std(dim=-1, correction=0)
    torch.testing.assert_close(data["adeu", "uncertainty"], expected)


def test_an_f_that_needs_the_last_reward_is_rejected(rl):
    explorer = adeu.recipes.value_promise(0.1, D=adeu.Gaussian())
    with pytest.raises(ValueError, match="ExplorerModule: explorer takes an f that needs no reward: a collector's"):
        rl.ExplorerModule(explorer, rl.env(5, 4), given={"q_values": "q"})


@pytest.mark.parametrize("one_hot", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_discrete_actions_work_in_both_encodings(rl, one_hot):
    explorer = constant(0.5, adeu.Bernoulli())
    inner = rl.envs.GymEnv("CartPole-v1", categorical_action_encoding=not one_hot)
    env = rl.envs.TransformedEnv(inner, rl.envs.InitTracker())
    module = rl.ExplorerModule(explorer, env, seed=0)
    value = rl.nn.TensorDictModule(torch.nn.Linear(4, 2), in_keys=["observation"], out_keys=["action_value"])
    data = env.rollout(200, rl.nn.TensorDictSequential(value, module), break_when_any_done=False)
    assert env.action_spec.is_in(data["action"][0])
    action = data["action"].argmax(dim=-1) if one_hot else data["action"]
    best = data["action_value"].argmax(dim=-1)
    explored = data["adeu", "explored"]
    assert torch.equal(action[~explored], best[~explored])
    assert 0.4 < explored.float().mean() < 0.6
    assert (action != best).any()
    module.observe(data)
    module.update(data)


def test_a_missing_init_tracker_is_reported(rl):
    env = rl.envs.GymWrapper(Clock())
    with pytest.raises(KeyError, match="InitTracker"):
        env.rollout(2, rl.policy(rl.ExplorerModule(constant(0.1), env)))


def test_state_of_a_host_object_is_part_of_the_state_dict(rl):
    env, objects = rl.env(5, 5), [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)]

    def module_of(net, **state):
        host = adeu.from_host(lambda obs: net(torch.as_tensor(obs)).square()[:, 0], lambda batch: None, **state)
        return rl.ExplorerModule(adeu.Explorer(host, adeu.Saturating(c=0.1), adeu.Gaussian()), env, seed=0)

    one, other = (rl.policy(module_of(net, state=net)) for net in objects)
    torch.save(one.state_dict(), file := io.BytesIO())
    other.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
    assert torch.equal(objects[0].weight, objects[1].weight)
    values = [env.rollout(5, policy)["adeu", "uncertainty"] for policy in (one, other)]
    assert torch.equal(*values)
    with pytest.warns(UserWarning, match="is not saved"):
        without = rl.policy(module_of(objects[0])).state_dict()
    with pytest.raises(RuntimeError, match=r"Missing key.*host_states"):
        other.load_state_dict(without)
