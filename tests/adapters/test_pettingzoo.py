"""`ParallelBehavior` with agents that come and go, in PettingZoo's environments and in one with known steps."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from pettingzoo.test import parallel_api_test
from pettingzoo.test.example_envs import generated_agents_parallel_v0

import adeu
from adeu.adapters.pettingzoo import ParallelBehavior
from tests.adapters.noise import NOISES, assert_remembered
from tests.adapters.sb3_tools import constant, same

COINS = adeu.Explorer(adeu.Rollouts(adeu.Constant(0.25), rho=0.5, c=1.0), adeu.Identity(), adeu.Bernoulli())


class Leaving(pettingzoo.ParallelEnv):
    """Agent i observes (its time step, i) and leaves after `lengths[i]` steps; all return at the reset."""

    metadata = {"name": "leaving"}  # noqa: RUF012

    def __init__(self, *lengths, does=None):
        self.possible_agents = [f"agent_{i}" for i in range(len(lengths))]
        self.lengths = dict(zip(self.possible_agents, lengths, strict=True))
        self.agents = []
        self.sees, self.does = spaces.Box(0.0, 100.0, (2,), np.float32), does or spaces.Discrete(2)

    def observation_space(self, agent):
        return self.sees

    def action_space(self, agent):
        return self.does

    def _look(self, agents):
        numbers = {agent: float(self.possible_agents.index(agent)) for agent in agents}
        return {agent: np.array([self.time, number], np.float32) for agent, number in numbers.items()}

    def reset(self, seed=None, options=None):
        self.time, self.agents = 0, list(self.possible_agents)
        return self._look(self.agents), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.time += 1
        acting = list(self.agents)
        ends = {agent: self.time >= self.lengths[agent] for agent in acting}
        self.agents = [agent for agent in acting if not ends[agent]]
        rewards, infos = dict.fromkeys(acting, 1.0), {agent: {"cost": 2.0} for agent in acting}
        return self._look(acting), rewards, ends, dict.fromkeys(acting, False), infos


@dataclasses.dataclass(frozen=True)
class Seen(adeu.Mechanism):
    """Sum the next observations and the costs."""

    def init(self, key, obs):
        return jnp.zeros(jnp.shape(obs)[0] + 1)

    def measure(self, key, state, carry, obs, **given):
        return jnp.sum(obs), carry

    def observe(self, state, transition, **given):
        return state + jnp.append(transition.next_obs, jnp.asarray(transition.cost, float))


def zero(space):
    """Return a center of zeros for this action space."""
    return np.zeros(space.shape) if isinstance(space, spaces.Box) else np.arange(space.n, dtype=float)


def play(behavior, env, episodes, seed=0, most=100):
    """Return the decisions of each agent, a dict for each episode."""
    record = []
    for episode in range(episodes):
        observations, _ = env.reset(seed=seed + episode)
        record.append({})
        for _ in range(most):
            if not env.agents:
                break
            centers = {agent: zero(env.action_space(agent)) for agent in env.agents}
            decisions = behavior.act({agent: observations[agent] for agent in env.agents}, centers)
            assert list(decisions) == list(env.agents)
            for agent, decision in decisions.items():
                record[-1].setdefault(agent, []).append(decision)
            actions = {agent: decision.action for agent, decision in decisions.items()}
            observations, *rest = env.step(actions)
            behavior.observe(actions, rest[0], observations, *rest[1:])
    return record


def test_the_environment_passes_the_api_test():
    parallel_api_test(Leaving(2, 3, 5))


@pytest.mark.parametrize("shared", [False, True])
def test_each_agent_begins_and_ends_its_episodes_independently(shared):
    lengths = (1, 2, 5)
    env = Leaving(*lengths)
    record = play(ParallelBehavior(COINS, env, seed=3, shared=shared), env, 12)
    coins = {agent: [[d.uncertainty for d in episode[agent]] for episode in record] for agent in env.possible_agents}
    for agent, length in env.lengths.items():
        assert all(len(episode) == length and len(set(episode)) == 1 for episode in coins[agent])
        assert len({episode[0] for episode in coins[agent]}) == 2
    assert coins["agent_0"] != [episode[:1] for episode in coins["agent_1"]]


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("shared", [False, True])
def test_correlated_noise_spans_the_episode_of_each_agent(shared, name):
    env = Leaving(5, 7, does=spaces.Box(-1.0, 1.0, (2,)))
    record = play(ParallelBehavior(constant(0.05, NOISES[name]), env, shared=shared), env, 25)
    for agent, length in env.lengths.items():
        assert_remembered(np.concatenate([[d.action for d in episode[agent]] for episode in record]), length)


def test_absent_agents_draw_no_random_numbers():
    """With a shared explorer, agent 2 decides as if the others had never left."""
    away = play(ParallelBehavior(COINS, Leaving(1, 2, 5), shared=True), Leaving(1, 2, 5), 4)
    there = play(ParallelBehavior(COINS, Leaving(5, 5, 5), shared=True), Leaving(5, 5, 5), 4)
    for one, other in zip(away, there, strict=True):
        assert all(same(a, b) for a, b in zip(one["agent_2"], other["agent_2"], strict=True))
    firsts = [[episode["agent_0"][0].action for episode in record] for record in (away, there)]
    assert len(firsts[0]) == len(firsts[1]) == 4


@pytest.mark.parametrize("shared", [False, True])
def test_figures_are_per_agent(shared):
    env = Leaving(2, 6, does=spaces.Box(-1.0, 1.0, (2,)))
    noise = adeu.Explorer(COINS.f, adeu.Identity(), adeu.Gaussian())
    behavior = ParallelBehavior(noise, env, shared=shared)
    record = play(behavior, env, 20)
    for agent, figures in behavior.figures().items():
        decisions = [decision for episode in record for decision in episode[agent]]
        assert len(decisions) == 20 * env.lengths[agent]
        assert figures["adeu/spread_p10"] == figures["adeu/spread_p90"] == 0.25  # not in rollout episodes
        for name in ("uncertainty", "spread", "explored", "deviation"):
            expected = np.mean([getattr(decision, name) for decision in decisions])
            assert figures[f"adeu/{name}"] == pytest.approx(expected, rel=1e-5)
    assert behavior.figures() == {agent: {} for agent in env.possible_agents}


def test_state_of_f_is_shared_or_per_agent():
    env = Leaving(2, 4)
    explorer = adeu.Explorer(Seen(), adeu.Clip(), adeu.Bernoulli())
    shared, own = ParallelBehavior(explorer, env, shared=True), ParallelBehavior(explorer, env)
    for behavior in (shared, own):
        play(behavior, env, 1)
    np.testing.assert_array_equal(shared.behavior("agent_0").state.f, [1 + 2 + 1 + 2 + 3 + 4, 4, 2 * 6])
    np.testing.assert_array_equal(own.behavior("agent_0").state.f, [1 + 2, 0, 2 * 2])
    np.testing.assert_array_equal(own.behavior("agent_1").state.f, [1 + 2 + 3 + 4, 4, 2 * 4])


@pytest.mark.parametrize("shared", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_central_f_sees_all_agents(shared):
    env = Leaving(1, 3)
    explorer = adeu.Explorer(Seen(), adeu.Clip(), adeu.Bernoulli())
    behavior = ParallelBehavior(explorer, env, shared=shared, central=True)
    np.testing.assert_array_equal(behavior.joint({"agent_1": np.array([7.0, 1.0])}), [0, 0, 7, 1, 0, 1])
    (episode,) = play(behavior, env, 1)
    # At the start both see (0, 0) and (0, 1), both present; then agent_1 is alone, at time 1 and 2.
    assert [float(decision.uncertainty) for decision in episode["agent_0"]] == [3]
    assert [float(decision.uncertainty) for decision in episode["agent_1"]] == [3, 1 + 1 + 1, 2 + 1 + 1]
    rnd = adeu.Explorer(adeu.Rnd(scale=1.0, hidden=(8,), features=4), adeu.Clip(), adeu.Bernoulli())
    learner, size = ParallelBehavior(rnd, env, shared=shared, central=True), 6
    batch = adeu.Transition(*(np.zeros(shape) for shape in ((4, size), 4, 4, (4, size), 4, 4)))
    batch = batch._replace(action=np.zeros(4, int))
    learner.update("agent_1", batch)
    assert learner.behavior("agent_1").state.f.moments.size == 4


@pytest.mark.slow
def test_agents_may_appear_during_an_episode():
    """PettingZoo's example: agents of several types appear during the episode, each with the spaces of its type."""
    env = generated_agents_parallel_v0.parallel_env()  # endless
    behavior = ParallelBehavior(constant(0.5, adeu.Bernoulli()), env, seed=0)
    (episode,) = play(behavior, env, 1, most=25)
    steps = {agent: len(decisions) for agent, decisions in episode.items()}
    assert len(set(steps.values())) > 1
    assert all(behavior.behavior(agent).step == count for agent, count in steps.items())
    with pytest.raises(ValueError, match="possible_agents"):
        ParallelBehavior(constant(0.5, adeu.Bernoulli()), env, shared=True)


@pytest.mark.parametrize("shared", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_loaded_behavior_resumes(shared, tmp_path):
    env = Leaving(2, 3)
    first, again = (ParallelBehavior(COINS, env, seed=seed, shared=shared) for seed in (1, 2))
    play(first, env, 2)
    first.save(tmp_path / "agents")
    again.load(tmp_path / "agents")
    for one, other in zip(play(first, env, 3), play(again, env, 3), strict=True):
        assert all(same(a, b) for agent in one for a, b in zip(one[agent], other[agent], strict=True))
    with pytest.raises(FileNotFoundError, match="no files written by ParallelBehavior"):
        again.load(tmp_path)


@pytest.mark.parametrize("shared", [False, True])
def test_state_of_a_host_object_is_saved(shared, tmp_path):
    env, known = Leaving(2, 3), {"mean": np.zeros(2)}
    host = adeu.from_host(lambda obs: np.ones(len(obs)), known.update, state=lambda: known, set_state=known.update)
    behavior = ParallelBehavior(adeu.Explorer(host, adeu.Clip(), adeu.Bernoulli()), env, shared=shared)
    play(behavior, env, 1)
    known["mean"] = np.array([0.5, 1.5])
    behavior.save(tmp_path / "agents")
    known["mean"] = np.zeros(2)
    behavior.load(tmp_path / "agents")
    np.testing.assert_array_equal(known["mean"], [0.5, 1.5])


def test_each_agent_may_have_a_different_explorer():
    env = Leaving(2, 2)
    explorers = {"agent_0": constant(0.0, adeu.Bernoulli()), "agent_1": constant(1.0, adeu.Bernoulli())}
    record = play(ParallelBehavior(explorers, env), env, 5)
    assert not any(decision.explored for episode in record for decision in episode["agent_0"])
    assert all(decision.explored for episode in record for decision in episode["agent_1"])
    with pytest.raises(ValueError, match="a single Explorer if shared=True"):
        ParallelBehavior(explorers, env, shared=True)


def test_what_the_loop_does_not_give_is_named():
    env = Leaving(2, 2)
    error = adeu.Explorer(adeu.TdError(), adeu.Clip(), adeu.Bernoulli())
    for explorer in (error, {"agent_0": error}):
        with pytest.raises(
            ValueError, match=r"only from transitions \(agents that do: Dqn, Sac, Td3\), got.*td_error"
        ):
            ParallelBehavior(explorer, env)
    behavior = ParallelBehavior(adeu.recipes.go_explore(by="agent", bins=2), env)
    observations, _ = env.reset()
    with pytest.raises(TypeError, match="goal_preferences"):
        behavior.act(observations, dict.fromkeys(observations, np.zeros(2)))
