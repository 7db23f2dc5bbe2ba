"""`Exploration` in real tianshou algorithms and collectors."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from gymnasium import spaces

import adeu
from tests.adapters.clock import Clock
from tests.adapters.noise import NOISES, assert_remembered
from tests.adapters.sb3_tools import TWO, constant


@dataclasses.dataclass(frozen=True)
class Total(adeu.Mechanism):
    """Sum next_obs[0], the episode ends and the cost in `observe`, and obs[0] in `update`."""

    def init(self, key, obs):
        return jnp.zeros(4)

    def measure(self, key, state, carry, obs, **given):
        return jnp.zeros(()), carry

    def observe(self, state, transition, **given):
        seen = [transition.next_obs[0], transition.terminated, transition.cost, 0.0]
        return state + jnp.stack([jnp.asarray(value, float) for value in seen])

    def update(self, state, batch, **given):
        return state.at[3].add(batch.obs[:, 0].sum())


@pytest.fixture(scope="module")
def ts():
    """Import tianshou in the processes that need it, because it takes seconds."""
    import tianshou.algorithm as algorithms
    from tianshou.algorithm import algorithm_base
    from tianshou.algorithm.modelfree.ddpg import ContinuousDeterministicPolicy
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.continuous import ContinuousActorDeterministic, ContinuousCritic
    from tianshou.utils.torch_utils import policy_within_training_step

    from adeu.adapters.tianshou import Exploration

    # Each policy compiles in advance for seconds; the functions it needs are compiled at the first call anyway.
    algorithm_base.Policy._compile = staticmethod(lambda: None)

    class Ts:
        within_training = staticmethod(policy_within_training_step)

        def make(self, explorer, *lengths, algorithm="TD3", actions=None, noise=None, seed=0, **settings):
            """Return the algorithm, its exploration, the training collector and another collector."""
            torch.manual_seed(0)
            env = Clock(actions=actions)
            adam, common = AdamOptimizerFactory(lr=1e-3), {"action_space": env.action_space}
            if algorithm == "DQN":
                net = Net(state_shape=(2,), action_shape=2, hidden_sizes=[8])
                policy = DiscreteQLearningPolicy(model=net, **common)
                agent = algorithms.DQN(policy=policy, optim=adam)
            else:
                net = Net(state_shape=(2,), hidden_sizes=[8])
                actor = ContinuousActorDeterministic(preprocess_net=net, action_shape=(2,))
                policy = ContinuousDeterministicPolicy(actor=actor, exploration_noise=noise, **common)
                critics = [
                    ContinuousCritic(
                        preprocess_net=Net(state_shape=(2,), action_shape=(2,), hidden_sizes=[8], concat=True)
                    )
                    for _ in range(2)
                ]
                optim = {"policy_optim": adam, "critic_optim": adam}
                agent = algorithms.TD3(policy=policy, critic=critics[0], critic2=critics[1], **optim)
            collectors = [
                Collector(
                    agent,
                    DummyVectorEnv([lambda n=n: Clock(n, actions=actions) for n in lengths]),
                    VectorReplayBuffer(1000, len(lengths)),
                    exploration_noise=settings.get("explores", True),
                )
                for _ in range(2)
            ]
            exploration = Exploration(explorer, agent, collectors[0], seed)
            for collector in collectors:
                collector.reset()
            return agent, exploration, *collectors

    return Ts()


def batch_of(collector):
    return collector.buffer.sample(0)[0]


def test_only_the_training_collector_explores(ts):
    agent, exploration, training, testing = ts.make(constant(0.125), 5, 7)
    training.collect(n_step=400)
    batch = batch_of(training)
    mean = agent.policy(batch).act.detach().numpy()
    noise = batch.act - mean
    assert np.std(noise[np.abs(mean) < 0.5]) == pytest.approx(0.125, rel=0.1)
    figures = exploration.figures()
    assert 0.07 < figures.pop("adeu/deviation") < 0.125  # the mean of |noise|, reduced by clipping
    fixed = dict.fromkeys(("uncertainty", "spread", "spread_p10", "spread_p90"), 0.125) | {
        "explored": 1.0,
        "saturated": 0,
    }
    assert figures == pytest.approx({f"adeu/{name}": value for name, value in fixed.items()})
    testing.collect(n_step=20)
    batch = batch_of(testing)
    np.testing.assert_allclose(batch.act, agent.policy(batch).act.detach().numpy(), atol=1e-6)
    assert exploration.behavior.step == 400


@pytest.mark.parametrize("name", NOISES)
def test_correlated_noise_spans_an_episode(ts, name):
    agent, _, training, _ = ts.make(constant(0.05, NOISES[name]), 5, 7)
    training.collect(n_step=400)
    for buffer, length in zip(training.buffer.buffers, (5, 7), strict=True):
        batch = buffer.sample(0)[0]
        assert_remembered(batch.act - agent.policy(batch).act.detach().numpy(), length)


def test_dqn_explores_by_the_spread(ts):
    explorer = constant(0.5, adeu.Bernoulli())
    agent, exploration, training, _ = ts.make(explorer, 5, 7, algorithm="DQN", actions=TWO)
    agent.policy.set_eps_training(0.0)
    training.collect(n_step=400)
    batch = batch_of(training)
    share = np.mean(batch.act != agent.policy(batch).act)
    assert 0.18 < share < 0.32  # half of the random actions, which are half of all
    assert 0.4 < exploration.figures()["adeu/explored"] < 0.6


def test_each_environment_follows_its_episodes_even_if_some_are_idle(ts):
    """Collect a fixed number of episodes, so that some environments idle, and compare with a `Behavior`."""
    coins = adeu.Explorer(adeu.Rollouts(adeu.Constant(0.25), rho=0.5, c=1.0), adeu.Identity(), adeu.Gaussian())
    agent, exploration, training, _ = ts.make(coins, 3, 4, 6, seed=7)
    training.collect(n_episode=4)  # lengths 3, 4 and 6: environment 0 is idle from step 6 on, 1 from step 4 on
    env = {"observation_space": Clock().observation_space, "action_space": spaces.Box(-1, 1, (2,)), "num_envs": 3}
    reference = adeu.Behavior(coins, type("Env", (), env), seed=7)
    stored = [training.buffer.buffers[i][: len(training.buffer.buffers[i])] for i in range(3)]
    assert [len(rows) for rows in stored] == [6, 4, 6]
    for t in range(6):
        rows = [min(t, len(rows) - 1) for rows in stored]
        obs = np.stack([rows_of.obs[row] for rows_of, row in zip(stored, rows, strict=True)])
        center = agent.policy(type("Batch", (), {"obs": obs, "info": {}})).act.detach().numpy()
        resting = np.array([t >= len(rows_of) for rows_of in stored])
        reference.skip(resting)
        decision = reference.act(obs, center)
        for i in np.flatnonzero(~resting):
            np.testing.assert_allclose(stored[i].act[t], decision.action[i], atol=1e-6)
        ended = np.array([(t + 1) % n == 0 for n in (3, 4, 6)]) & ~resting
        zero = np.zeros(3)
        reference.observe(adeu.Transition(obs, decision.action, zero, obs, ended, zero))
    assert exploration.behavior.step == reference.step == 16


@pytest.mark.slow
def test_f_observes_each_step_once_and_updates_from_the_batches(ts):
    explorer = adeu.Explorer(Total(), adeu.Identity(), adeu.Gaussian())
    agent, exploration, training, _ = ts.make(explorer, 5, 5)
    training.collect(n_step=10, random=True)
    assert exploration.figures() == {}
    training.collect(n_step=10)
    total = 4 * (1 + 2 + 3 + 4 + 5)  # with the final observations
    np.testing.assert_array_equal(exploration.behavior.state.f, [total, 4, total, 0])
    drawn = []
    sample = training.buffer.sample
    training.buffer.sample = lambda size: drawn.append(sample(size)) or drawn[-1]
    with ts.within_training(agent.policy):
        agent.update(training.buffer, sample_size=16)
        agent.update(training.buffer, sample_size=16)
    expected = sum(batch.obs[:, 0].sum() for batch, _ in drawn)
    assert exploration.behavior.state.f[3] == expected > 0


def test_uncertainty_is_the_disagreement_of_the_critics(ts):
    explorer = adeu.Explorer(adeu.EnsembleStd(), adeu.Clip(), adeu.Gaussian())
    agent, exploration, training, _ = ts.make(explorer, 5, 4)
    training.collect(n_step=20)
    batch = batch_of(training)
    mean = agent.policy(batch).act.detach()
    q = np.stack([critic(batch.obs, mean).detach().numpy() for critic in (agent.critic, agent.critic2)])
    assert exploration.figures()["adeu/uncertainty"] == pytest.approx(q.std(axis=0).mean(), rel=1e-4)


def test_other_exploration_is_rejected(ts):
    from tianshou.exploration import GaussianNoise

    with pytest.raises(ValueError, match="without exploration_noise"):
        ts.make(constant(0.1), 5, noise=GaussianNoise())
    with pytest.raises(ValueError, match=r"Collector\(exploration_noise=True\)"):
        ts.make(constant(0.1), 5, explores=False)
    with pytest.raises(ValueError, match="Gaussian: action space takes a Box"):
        ts.make(constant(0.1), 5, algorithm="DQN", actions=TWO)
    with pytest.raises(ValueError, match=r"none of adeu's; Behavior\.act .*got \['goal_preferences'\]"):
        ts.make(adeu.recipes.go_explore(by="agent", bins=2), 5)


def test_state_of_a_host_object_is_saved(ts, tmp_path):
    nets = [torch.nn.Linear(2, 1) for _ in range(2)]
    explorations = []
    for net in nets:
        host = adeu.from_host(lambda obs, net=net: net(torch.as_tensor(obs)).square()[:, 0], state=net)
        explorations.append(ts.make(adeu.Explorer(host, adeu.Saturating(c=0.1), adeu.Gaussian()), 5, 7)[1])
    explorations[0].behavior.save(tmp_path / "explorer.npz")
    explorations[1].behavior.load(tmp_path / "explorer.npz")
    assert torch.equal(nets[0].weight, nets[1].weight)
