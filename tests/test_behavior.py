"""`Behavior` in real Gymnasium environments."""

import dataclasses
import re
import warnings
from typing import ClassVar

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import adeu
from adeu.behavior.interface import Interface
from tests.functions import Mentor, Rarest
from tests.loops import play, same, stack

RND = adeu.Rnd(scale=1.0, hidden=(16,), features=8)
DISCRETE = [adeu.Categorical(), adeu.Bernoulli(), adeu.Options()]
MOST_STATEFUL = [*(pytest.param(D, marks=pytest.mark.slow) for D in DISCRETE[:2]), DISCRETE[2]]
"""The other two are slow tests, because the contract's tests cover them, too."""


def lean(obs):
    """Return preferences for CartPole: push towards the side the pole falls to."""
    return np.stack([-obs[..., 2], obs[..., 2]], axis=-1)


def rest(obs):
    return np.zeros((*obs.shape[:-1], 1))


def explorer(D=None, f=RND, g=None):
    return adeu.Explorer(f=f, g=g or adeu.Sigmoid(c=0.2), D=D or adeu.Bernoulli())


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


class TestDocumentedUse:
    """The documented loop works in one environment and in a vector of 8."""

    def check(self, D, name, num_envs, policy):
        paper = adeu.Explorer(f=adeu.Rollouts(adeu.Rnd.paper(), rho=0.3, c=0.2), g=adeu.Sigmoid(c=0.2), D=D)
        env = gymnasium.make_vec(name, num_envs, vectorization_mode="sync") if num_envs else gymnasium.make(name)
        behavior = adeu.Behavior(paper, env, seed=0)
        decisions = play(behavior, env, 120, policy)
        lead = (120, num_envs) if num_envs else (120,)
        assert decisions.explored.shape == decisions.spread.shape == decisions.uncertainty.shape == lead
        assert decisions.explored.any()
        space = env.single_action_space if num_envs else env.action_space
        for action in decisions.action.reshape(-1, *space.shape):
            assert space.contains(action)
        assert behavior.history.shape == lead
        assert ((decisions.spread >= 0.1) & (decisions.spread <= 0.2)).all()

    @pytest.mark.parametrize("num_envs", [None, 8])
    def test_gaussian_on_pendulum(self, num_envs):
        self.check(adeu.Gaussian(), "Pendulum-v1", num_envs, rest)

    @pytest.mark.parametrize("num_envs", [None, 8])
    @pytest.mark.parametrize("D", MOST_STATEFUL, ids=repr)
    def test_discrete_on_cartpole(self, D, num_envs):
        self.check(D, "CartPole-v1", num_envs, lean)


class TestCompilation:
    traces = 0

    def test_equal_explorers_share_one_compilation(self):
        @dataclasses.dataclass(frozen=True)
        class Traced(adeu.Mechanism):
            c: float

            def measure(self, key, state, carry, obs, **given):
                TestCompilation.traces += 1
                return jnp.asarray(self.c), carry

        env = gymnasium.make("CartPole-v1")
        for number, (c, traces) in enumerate([(0.1, 1), (0.1, 1), (0.2, 2)]):
            behavior = adeu.Behavior(explorer(f=Traced(c)), env, seed=number)
            play(behavior, env, 30, lean)
            assert TestCompilation.traces == traces

    def test_steps_and_skipped_environments_do_not_compile_again(self):
        types = []

        @dataclasses.dataclass(frozen=True)
        class Clock(adeu.Mechanism):
            def measure(self, key, state, carry, obs, *, step, **given):
                types.append((step.dtype, step.weak_type))
                return step / 100, carry

        env = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
        behavior = adeu.Behavior(explorer(f=Clock(), g=adeu.Identity()), env)
        decisions = play(behavior, env, 60, lean)
        assert np.isnan(behavior.history).any()  # some episode ended, so an environment was skipped
        assert decisions.uncertainty[-1, 0] * 100 == behavior.step - 2
        assert types == [(jnp.int32, False)]


class TestVectors:
    def test_permuting_the_environments_permutes_the_decisions(self):
        env = gymnasium.make_vec("CartPole-v1", 6)
        order = np.array([3, 5, 0, 1, 4, 2])
        random = np.random.default_rng(0)
        for D in DISCRETE:
            plain, permuted = (
                adeu.Behavior(explorer(D, f=adeu.Rollouts(adeu.Constant(0.9), 0.5, 0.1), g=adeu.Identity()), env)
                for _ in range(2)
            )
            permuted.carry = jax.tree.map(lambda x: x[order], permuted.carry)
            for _ in range(20):
                obs, center = random.normal(size=(6, 4)), random.normal(size=(6, 2))
                expected = plain.act(obs, center)
                assert same(permuted.act(obs[order], center[order]), [value[order] for value in expected])

    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    @pytest.mark.parametrize("D", MOST_STATEFUL, ids=repr)
    def test_each_environment_has_the_random_stream_of_a_single_one(self, mode, D):
        """With a constant f; episodes end at different times, and reset steps do not count."""
        vector = gymnasium.make_vec(
            "CartPole-v1", 3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
        )
        frozen = explorer(D, f=adeu.Rollouts(adeu.Constant(0.6), rho=0.5, c=0.1), g=adeu.Identity())
        together = adeu.Behavior(frozen, vector, seed=3)
        streams, steps = together.carry, [[], [], []]
        obs, _ = vector.reset(seed=0)
        ended = np.zeros(3, bool)
        for _ in range(80):
            center = lean(obs)
            decision = together.act(obs, center)
            next_obs, reward, terminated, truncated, info = vector.step(decision.action)
            transition = adeu.Transition(obs, decision.action, reward, next_obs, terminated, truncated)
            together.observe(transition, info)
            for i in range(3):
                if not (mode == AutoresetMode.NEXT_STEP and ended[i]):
                    row = [value[i] for value in (obs, center, *transition[1:6])]
                    steps[i].append((row, [value[i] for value in decision]))
            ended = terminated | truncated
            obs = next_obs
        assert sum(map(len, steps)) == together.step < 3 * 80 + (mode == AutoresetMode.SAME_STEP)
        alone = adeu.Behavior(frozen, gymnasium.make("CartPole-v1"))
        for i in range(3):
            alone.carry = jax.tree.map(lambda x, i=i: x[i : i + 1], streams)
            for (obs, center, *rest), expected in steps[i]:
                assert same(alone.act(obs, center), expected)
                alone.observe(adeu.Transition(obs, *rest))

    def test_reset_steps_are_ignored(self):
        env = gymnasium.make_vec("FrozenLake-v1", 4, vectorization_mode="sync", is_slippery=False)
        assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        behavior = adeu.Behavior(explorer(f=adeu.Counts(16)), env)
        obs, _ = env.reset(seed=0)
        visits, ended = np.zeros(16, int), np.zeros(4, bool)
        for _ in range(60):
            decision = behavior.act(obs, np.zeros((4, 4)))
            assert not decision.explored[ended].any()
            next_obs, reward, terminated, truncated, info = env.step(decision.action)
            behavior.observe(adeu.Transition(obs, decision.action, reward, next_obs, terminated, truncated), info)
            np.add.at(visits, obs[~ended], 1)
            assert np.isnan(behavior.history[-1]).tolist() == ended.tolist()
            ended, obs = terminated | truncated, next_obs
        assert behavior.step == visits.sum() < 240
        np.testing.assert_array_equal(behavior.state.f, visits)

    def test_with_same_step_autoreset_f_gets_the_final_observation_and_its_cost(self):
        class Count(gymnasium.Env):
            """Observe the number of steps of the episode; end after `length` steps."""

            observation_space = gymnasium.spaces.Dict(steps=gymnasium.spaces.Box(0, 9, (1,)))
            action_space = gymnasium.spaces.Discrete(2)

            def __init__(self, length):
                self.length = length

            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                self.steps = 0
                return {"steps": np.zeros(1, np.float32)}, {}

            def step(self, action):
                self.steps += 1
                obs = {"steps": np.full(1, self.steps, np.float32)}
                return obs, 0.0, self.steps == self.length, False, {"cost": 10.0 * self.steps}

        @dataclasses.dataclass(frozen=True)
        class Record(adeu.Mechanism):
            """Keep the last (next_obs, cost) of each environment."""

            def init(self, key, obs):
                return jnp.zeros((10, 2))

            def measure(self, key, state, carry, obs, **given):
                return 0.0, carry

            def observe(self, state, transition, **given):
                last = transition.next_obs["steps"][0]
                return state.at[last.astype(int)].set(jnp.stack([last, transition.cost]))

        env = gymnasium.vector.SyncVectorEnv(
            [lambda: Count(2), lambda: Count(3)], autoreset_mode=AutoresetMode.SAME_STEP
        )
        behavior = adeu.Behavior(explorer(f=Record()), env)
        play(behavior, env, 7, lambda obs: np.zeros((2, 2)))
        expected = np.zeros((10, 2))
        expected[1:4] = [[1, 10], [2, 20], [3, 30]]
        np.testing.assert_array_equal(behavior.state.f, expected)
        assert behavior.step == 14

    def test_same_step_autoreset_needs_info_and_an_explicit_cost_takes_precedence(self):
        env = gymnasium.make_vec(
            "FrozenLake-v1", 2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
        )
        behavior = adeu.Behavior(explorer(f=adeu.ExpectedCost(16)), env)
        step = adeu.Transition([0, 1], [0, 0], [0.0, 0.0], [1, 0], [False, True], [False, False], cost=[1.0, 2.0])
        with pytest.raises(ValueError, match="autoreset SAME_STEP takes an info with 'final_obs'"):
            behavior.observe(step)
        info = {"final_obs": np.array([None, 5], object), "_final_obs": np.array([False, True])}
        info |= {"final_info": {"cost": np.array([0.0, 9.0])}, "_final_info": np.array([False, True])}
        behavior.observe(step, info)
        assert behavior.state.f[:2, 0].tolist() == [1.0, 2.0]
        behavior.observe(step._replace(cost=None), info)
        assert behavior.state.f[:2, 0].tolist() == [0.0, 9.0]
        info["final_info"]["cost"] = np.array([0.0, np.nan])
        with pytest.raises(ValueError, match=re.escape("info['final_info']['cost'] takes finite numbers, got nan")):
            behavior.observe(step._replace(cost=None), info)

    def test_a_box_may_have_no_dimensions_and_double_precision(self):
        class Spaces:
            observation_space = gymnasium.spaces.Discrete(3)
            action_space = gymnasium.spaces.Box(-0.1, 0.3, (), np.float64)

        behavior = adeu.Behavior(explorer(adeu.Gaussian(), f=adeu.Constant(2.0), g=adeu.Identity()), Spaces())
        assert all(Spaces.action_space.contains(np.asarray(behavior.act(0, 0.2).action)) for _ in range(50))

    def test_a_discrete_space_may_start_anywhere(self):
        class Spaces:
            observation_space = gymnasium.spaces.Discrete(3, start=5)
            action_space = gymnasium.spaces.Discrete(2, start=-1)

        behavior = adeu.Behavior(explorer(f=adeu.Counts(3)), Spaces())
        with behavior.evaluation():
            assert behavior.act(7, [1.0, 0.0]).action == -1
        behavior.observe(adeu.Transition(7, -1, 0.0, 5, False, False))
        np.testing.assert_array_equal(behavior.state.f, [0, 0, 1])
        hosted = adeu.Behavior(explorer(f=adeu.from_host(lambda obs: 1.0 * obs)), Spaces())
        assert hosted.act(7, [1.0, 0.0]).uncertainty == 7
        with pytest.raises(ValueError, match=re.escape("action takes members of Discrete(2, start=-1), got [1]")):
            behavior.observe(adeu.Transition(7, 1, 0.0, 5, False, False))
        with pytest.raises(ValueError, match=re.escape("observation takes numbers that fit int32, got 4294967301")):
            behavior.act(2**32 + 5, [1.0, 0.0])
        with pytest.raises(ValueError, match=re.escape("observation takes members of Discrete(3, start=5), got [8]")):
            behavior.act(8, [1.0, 0.0])


class TestEpisodes:
    def test_observe_begins_a_new_episode_after_the_end_of_one(self):
        env = gymnasium.make("CartPole-v1")
        f = adeu.Rollouts(adeu.Constant(0.0), rho=0.5, c=1.0)
        behavior = adeu.Behavior(explorer(f=f, g=adeu.Identity()), env, seed=1)
        obs, coins = np.zeros(4), []
        for t in range(300):
            coins.append(float(behavior.act(obs, [0.0, 1.0]).uncertainty))
            behavior.observe(adeu.Transition(obs, 1, 1.0, obs, t % 3 == 2, t % 30 == 29))
        episodes = np.reshape(coins, (100, 3))
        assert (episodes == episodes[:, :1]).all()
        assert 30 < episodes[:, 0].sum() < 70

    def test_begin_starts_new_episodes(self):
        env = gymnasium.make_vec("CartPole-v1", 2)
        options = explorer(adeu.Options(mu=1.01), f=adeu.Constant(1.0), g=adeu.Identity())
        behavior = adeu.Behavior(options, env)
        behavior.act(np.zeros((2, 4)), np.zeros((2, 2)))
        assert (np.asarray(behavior.carry.carry.D.steps_left) > 0).all()
        behavior.begin([True, False])
        assert (np.asarray(behavior.carry.carry.D.steps_left) > 0).tolist() == [False, True]
        behavior.begin()
        assert (np.asarray(behavior.carry.carry.D.steps_left) > 0).tolist() == [False, False]

    def test_schedules_follow_the_steps(self):
        env = gymnasium.make("CartPole-v1")
        behavior = adeu.Behavior(explorer(f=adeu.Schedule(1.0, 0.0, 50), g=adeu.Identity()), env)
        decisions = play(behavior, env, 60, lean)
        np.testing.assert_allclose(decisions.spread, np.maximum(1 - np.arange(60) / 50, 0), atol=1e-6)

    def test_f_gets_explored_of_the_previous_step(self):
        @dataclasses.dataclass(frozen=True)
        class Echo(adeu.Mechanism):
            def measure(self, key, state, carry, obs, *, explored, **given):
                return jnp.where(explored, 0.9, 0.1), carry

        env = gymnasium.make("CartPole-v1")
        behavior = adeu.Behavior(explorer(f=Echo(), g=adeu.Identity()), env)
        decisions = play(behavior, env, 60, lean)
        assert decisions.explored.any()
        before = np.append(False, decisions.explored[:-1])
        first = decisions.uncertainty[1:] != np.where(before[1:], np.float32(0.9), np.float32(0.1))
        assert first.sum() <= 6  # only at the start of episodes


class TestGuards:
    def test_the_guard_decides_in_its_states(self):
        env = gymnasium.make("FrozenLake-v1")
        guard = adeu.KnownUnsafe(states=[4, 9], actions=[3, 0])
        for D in DISCRETE:
            guarded = adeu.Explorer(adeu.Constant(0.9), adeu.Identity(), D, guard)
            behavior = adeu.Behavior(guarded, env)
            for state, action in [(4, 3), (9, 0)] * 20:
                behavior.act(
                    0, [0.0, 1.0, 0.0, 0.0]
                )  # may begin an option, which must not continue in the next state
                decision = behavior.act(state, [0.0, 1.0, 0.0, 0.0])
                assert decision.action == action
                assert decision.spread == 0
                assert not decision.explored
            elsewhere = [behavior.act(1, [0.0, 1.0, 0.0, 0.0]) for _ in range(50)]
            assert any(decision.explored for decision in elsewhere)
            with behavior.evaluation():
                assert behavior.act(4, [0.0, 1.0, 0.0, 0.0]).action == 3

    def test_a_guard_in_a_box_sets_the_action(self):
        class Spaces:
            observation_space = gymnasium.spaces.Discrete(3)
            action_space = gymnasium.spaces.Box(-1, 1, (2,))

        guard = adeu.KnownUnsafe(states=[1], actions=[[0.25, -0.5]])
        behavior = adeu.Behavior(adeu.Explorer(adeu.Constant(0.9), adeu.Identity(), adeu.Gaussian(), guard), Spaces())
        assert behavior.act(1, [0.0, 0.0]).action.tolist() == [0.25, -0.5]
        assert behavior.act(2, [0.0, 0.0]).action.tolist() != [0.0, 0.0]
        whole = adeu.KnownUnsafe(states=[1], actions=[[0, 1]])
        behavior = adeu.Behavior(adeu.Explorer(adeu.Constant(0.9), adeu.Identity(), adeu.Gaussian(), whole), Spaces())
        assert behavior.act(1, [0.3, 0.3]).action.tolist() == [0.0, 1.0]

    def test_a_users_guard_may_use_the_observation(self):
        class Edge(adeu.Guard):
            def __call__(self, state, carry, obs, uncertainty, **given):
                return jnp.abs(obs[0]) > 2.0, 1, carry

        guarded = adeu.Explorer(adeu.Constant(1.0), adeu.Identity(), adeu.Bernoulli(), Edge())
        behavior = adeu.Behavior(guarded, gymnasium.make("CartPole-v1"))
        at_the_edge = [behavior.act([2.5, 0, 0, 0], [9.0, 0.0]) for _ in range(30)]
        assert {int(decision.action) for decision in at_the_edge} == {1}
        assert {int(behavior.act([0, 0, 0, 0], [9.0, 0.0]).action) for _ in range(30)} == {0, 1}


class TestLearningParts:
    """A distribution that learns in `observe` and a guard that learns in `update`."""

    explorer = adeu.Explorer(adeu.Counts(16), adeu.Saturating(c=1.0), Rarest(), Mentor(threshold=0.5))

    def played(self, env, seed=0, steps=40):
        behavior = adeu.Behavior(self.explorer, env, seed)
        play(behavior, env, steps, lambda obs: np.zeros((*np.shape(obs), 4)))
        return behavior

    def test_they_learn_in_observe_and_update(self):
        env = gymnasium.make("FrozenLake-v1")
        start, behavior = adeu.Behavior(self.explorer, env).state, self.played(env)
        assert (behavior.state.D - start.D).sum() == pytest.approx(40, abs=1e-4)
        batch = adeu.Transition([0, 1], [2, 3], [10.0, 20.0], [0, 0], [False] * 2, [False] * 2)
        behavior.update(batch)
        assert behavior.state.guard - start.guard == pytest.approx([0, 0, 10, 20], abs=1e-4)
        behavior.begin()
        asked = behavior.act(5, [0.0, 1.0, 0.0, 0.0])
        assert (asked.action, asked.spread, asked.explored, asked.asked) == (3, 0.0, False, False)
        assert behavior.carry.carry.guard.tolist() == [1]

    def test_it_goes_on_bit_for_bit(self, tmp_path):
        env = gymnasium.make_vec("FrozenLake-v1", 3, vectorization_mode="sync")
        first, second = self.played(env), adeu.Behavior(self.explorer, env, seed=1)
        first.save(tmp_path / "behavior")
        second.load(tmp_path / "behavior")
        zeros = lambda obs: np.zeros((3, 4))  # noqa: E731
        assert same(*(play(behavior, env, 20, zeros, seed=1) for behavior in (first, second)))
        assert same(leaves(first._tree()), leaves(second._tree()))
        other = adeu.Behavior(dataclasses.replace(self.explorer, guard=Mentor(threshold=0.6)), env)
        with pytest.raises(ValueError, match="saved with another explorer"):
            other.load(tmp_path / "behavior")

    def test_environments_are_independent(self):
        env, order = gymnasium.make_vec("FrozenLake-v1", 4), np.array([2, 3, 1, 0])
        plain, permuted = (adeu.Behavior(self.explorer, env) for _ in range(2))
        permuted.carry = jax.tree.map(lambda x: x[order], permuted.carry)
        random = np.random.default_rng(0)
        for _ in range(10):
            obs, center = random.integers(16, size=4), random.normal(size=(4, 4))
            expected = plain.act(obs, center)
            assert same(permuted.act(obs[order], center[order]), [value[order] for value in expected])
        before = plain.carry.carry
        plain.begin([True, False, False, False])
        after = plain.carry.carry
        assert before.guard.tolist() == [2, 2, 2, 2]
        assert after.guard.tolist() == [0, 2, 2, 2]
        assert after.D.tolist() == [0, *before.D.tolist()[1:]]

    def test_a_changed_shape_is_rejected(self):
        class Grows(Rarest):
            def observe(self, state, transition, **given):
                return jnp.append(state, 1.0)

        class Counts(Mentor):
            def __call__(self, state, carry, obs, uncertainty, **given):
                return True, 0, carry + 0.5

        env, step = gymnasium.make("FrozenLake-v1"), adeu.Transition(0, 0, 0.0, 0, False, False)
        grows = adeu.Behavior(dataclasses.replace(self.explorer, D=Grows()), env)
        message = r"Grows\(.*\)\.observe\(\) must return a state like float32\[4\], it returned float32\[5\]"
        with pytest.raises(TypeError, match=message):
            grows.observe(step)
        counts = adeu.Behavior(dataclasses.replace(self.explorer, guard=Counts()), env)
        message = r"Counts\(.*\)\.__call__\(\) must return a carry like int32\[\], it returned float32\[\]"
        with pytest.raises(TypeError, match=message):
            counts.act(0, np.zeros(4))

    def test_a_guard_may_contain_a_host_function(self):
        @dataclasses.dataclass(frozen=True)
        class Warned(adeu.Guard):
            f: adeu.Mechanism

            def __call__(self, state, carry, obs, uncertainty, **given):
                danger, f_carry = self.f.measure(None, state[0], carry[0], obs, **given)
                return danger > 0.5, 1, (f_carry,)

        guard = Warned(adeu.from_host(lambda obs: obs > 2, name="danger"))
        behavior = adeu.Behavior(dataclasses.replace(self.explorer, guard=guard), gymnasium.make("FrozenLake-v1"))
        assert [bool(behavior.act(obs, np.zeros(4)).asked) for obs in (1, 2, 3)] == [True, True, False]


class TestEvaluation:
    def test_it_does_not_explore_or_change_the_state(self):
        env = gymnasium.make("CartPole-v1")
        f = adeu.Sum((adeu.Calibrated(RND), adeu.TdError()))
        behavior = adeu.Behavior(explorer(adeu.Options(), f=f), env)
        play(behavior, env, 40, lean, learn=False)
        before = leaves(behavior._tree())
        with behavior.evaluation():
            decisions = play(behavior, env, 40, lean)
        assert not decisions.explored.any()
        assert not decisions.spread.any()
        assert (decisions.uncertainty > 0).all()
        assert same(before, leaves(behavior._tree()))
        behavior.act(np.zeros(4), [0.0, 1.0])
        assert not same(before, leaves(behavior._tree()))

    def test_ties_are_broken_at_random_and_reproducibly(self):
        behavior = adeu.Behavior(explorer(f=adeu.Constant(0.0)), gymnasium.make("CartPole-v1"))
        runs = []
        for _ in range(2):
            with behavior.evaluation():
                runs.append([int(behavior.act(np.zeros(4), [1.0, 1.0]).action) for _ in range(40)])
        assert 5 < sum(runs[0]) < 35
        assert runs[0] == runs[1]

    def test_a_box_returns_the_mean(self):
        env = gymnasium.make("Pendulum-v1")
        behavior = adeu.Behavior(explorer(adeu.Gaussian()), env)
        with behavior.evaluation():
            assert behavior.act(np.zeros(3), [0.7]).action == np.float32(0.7)


class TestLearning:
    def test_update_and_observe_do_not_change_the_carry(self):
        env = gymnasium.make("FrozenLake-v1")
        f = adeu.Sum((adeu.Counts(16), adeu.Rollouts(adeu.TdError(), 0.5, 0.1)))
        behavior = adeu.Behavior(explorer(f=f), env)
        before = leaves(behavior.carry)
        step = adeu.Transition(3, 1, 0.5, 4, False, False)
        behavior.observe(step)
        behavior.update([step, step], td_error=np.ones(2))
        assert same(before, leaves(behavior.carry))
        assert behavior.state.f[0][3] == 1
        assert behavior.state.f[1][0] < 1

    def test_arrays_may_be_reused_as_soon_as_a_call_returns(self):
        """A compiled step may still read its inputs after the call, so they must be copies."""
        interface = Interface(gymnasium.make_vec("CartPole-v1", 3), None)
        obs, numbers, flags = np.zeros((3, 4), np.float32), np.zeros(3, np.float32), np.zeros(3, bool)
        step = adeu.Transition(obs, np.zeros(3, np.int32), numbers, obs, flags, flags, numbers)
        mine = [*step, numbers, flags]
        for read in (interface.transition(step, None), interface.batch(step)):
            assert not any(np.shares_memory(theirs, own) for theirs in read for own in mine)
        assert not np.shares_memory(
            interface.given({"td_error": numbers}, 3, frozenset({"td_error"}))["td_error"], numbers
        )

    def test_mappings_torch_tensors_and_jax_arrays_are_accepted(self):
        env = gymnasium.make_vec("Pendulum-v1", 2)
        random = np.random.default_rng(0)
        obs, center = random.normal(size=(2, 3)).astype(np.float32), np.float32([[0.3], [-0.2]])
        flags, reward = np.zeros(2, bool), np.ones(2)
        results = []
        for convert in (np.asarray, jnp.asarray, lambda x: torch.tensor(x).requires_grad_(x.dtype == np.float32)):
            behavior = adeu.Behavior(explorer(adeu.Gaussian(), f=adeu.Sum((RND, adeu.EnsembleStd()))), env)
            q_values = convert(np.float32([[1.0, 2.0], [3.0, 5.0]]))
            decision = behavior.act(convert(obs), convert(center), q_values=q_values)
            assert all(type(value) is np.ndarray for value in decision)
            step = adeu.Transition(obs, decision.action, reward, obs, flags, flags)._asdict()
            step = {name: convert(value) for name, value in step.items() if name != "cost"}
            behavior.observe(step)
            behavior.update(step)
            results.append((*decision, *leaves(behavior.state)))
        assert same(results[0], results[1])
        assert same(results[0], results[2])

    def test_a_host_mechanism_measures_and_learns(self):
        seen, learned = [], []

        def compute(obs):
            seen.append(obs.shape)
            return torch.as_tensor(np.abs(obs).sum(axis=1))

        env = gymnasium.make_vec("CartPole-v1", 2)
        host = adeu.from_host(compute, learned.append)
        behavior = adeu.Behavior(explorer(f=adeu.Rollouts(host, 0.0, 0.0), g=adeu.Identity()), env)
        obs = np.float32([[1, 2, 0, 0], [0, 0, 0, 0.5]])
        assert behavior.act(obs, np.zeros((2, 2))).uncertainty.tolist() == [3.0, 0.5]
        assert behavior.explorer.needs("act") == {"host_uncertainty"}
        assert behavior.needs("act") == set()
        step = adeu.Transition(obs, np.zeros(2, int), np.zeros(2), obs, np.zeros(2, bool), np.zeros(2, bool))
        behavior.update(step)
        assert learned[0].obs.shape == (2, 4)
        alone = adeu.Behavior(explorer(f=host), gymnasium.make("CartPole-v1"))
        assert alone.act(obs[0], np.zeros(2)).uncertainty == 3.0
        assert seen == [(2, 4), (1, 4)]
        with pytest.raises(ValueError, match="a different name"):
            adeu.Behavior(explorer(f=adeu.Sum((host, host))), env)
        wrong = adeu.from_host(lambda obs: np.zeros((2, 1)))
        with pytest.raises(
            ValueError, match=re.escape("the output of host_uncertainty takes shape (2,), got (2, 1)")
        ):
            adeu.Behavior(explorer(f=wrong), env).act(obs, np.zeros((2, 2)))


class TestEncoders:
    class Camera:
        observation_space = gymnasium.spaces.Dict(
            image=gymnasium.spaces.Box(0, 255, (8, 8, 3), np.uint8), speed=gymnasium.spaces.Box(-1, 1, (2,))
        )
        action_space = gymnasium.spaces.Discrete(2)

    obs: ClassVar = {"image": np.full((8, 8, 3), 7, np.uint8), "speed": np.float32([0.5, 0.25])}

    @staticmethod
    def encode(obs):
        brightness = obs["image"].mean(axis=(1, 2, 3))
        return np.concatenate([brightness[:, None], obs["speed"]], axis=1)

    def test_dicts_and_images_reach_f_through_an_encoder(self):
        behavior = adeu.Behavior(explorer(), self.Camera(), encoder=self.encode)
        assert behavior.act(self.obs, [0.0, 1.0]).uncertainty > 0
        step = adeu.Transition(self.obs, 1, 0.0, self.obs, False, False)
        behavior.observe(step)
        batch = {name: np.stack([value] * 4) for name, value in self.obs.items()}
        flags = np.zeros(4, bool)
        behavior.update(adeu.Transition(batch, np.ones(4, int), np.zeros(4), batch, flags, flags))
        np.testing.assert_allclose(behavior.state.f.moments.mean, [7, 0.5, 0.25])

    def test_an_encoder_may_return_state_indices(self):
        behavior = adeu.Behavior(
            explorer(f=adeu.Counts(3)), gymnasium.make("CartPole-v1"), encoder=lambda obs: np.int64(obs[:, 0])
        )
        behavior.observe(adeu.Transition([2.5, 0, 0, 0], 1, 0.0, [1.0, 0, 0, 0], False, False))
        assert behavior.state.f.tolist() == [0, 0, 1]
        with pytest.raises(ValueError, match=r"Counts.* returned nan in environment 0 \(observation \[3\.5"):
            behavior.act([3.5, 0, 0, 0], [0.0, 0.0])

    def test_without_an_encoder_the_mechanism_rejects_images(self):
        with pytest.raises(
            ValueError,
            match=re.escape("Rnd: obs takes a flat vector; for anything else, give Behavior(..., encoder=...)"),
        ):
            adeu.Behavior(explorer(), self.Camera())
        image = self.Camera()
        image.observation_space = self.Camera.observation_space["image"]
        with pytest.raises(ValueError, match=re.escape("got 'shape (8, 8, 3)'")):
            adeu.Behavior(explorer(f=adeu.ExpectedCost()), image)
        behavior = adeu.Behavior(explorer(f=adeu.Constant(0.5)), self.Camera())
        assert behavior.act(self.obs, [0.0, 1.0]).uncertainty == 0.5

    def test_bad_observations_inside_a_dict_are_reported(self):
        behavior = adeu.Behavior(explorer(f=adeu.Constant(0.5)), self.Camera())
        with pytest.raises(
            ValueError, match=re.escape("observation['speed'] takes finite numbers, got nan at index [1]")
        ):
            behavior.act(self.obs | {"speed": [0.0, np.nan]}, [0.0, 1.0])
        with pytest.raises(ValueError, match="takes a dict with the keys"):
            behavior.act({"image": self.obs["image"]}, [0.0, 1.0])


class TestWarnings:
    def run(self, explorer, acts, updates=0, observes=True):
        env = gymnasium.make("CartPole-v1")
        behavior = adeu.Behavior(explorer, env)
        obs = np.zeros((2, 4))
        batch = adeu.Transition(obs, [0, 1], [0.0, 0.0], obs, [False] * 2, [False] * 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(updates):
                behavior.update(batch, td_error=np.zeros(2))
            for _ in range(acts):
                behavior.act(obs[0], [0.0, 1.0])
                if observes:
                    behavior.observe(adeu.Transition(obs[0], 0, 0.0, obs[0], False, False))
        assert all(warning.filename == __file__ for warning in caught)
        return [str(warning.message) for warning in caught], behavior

    def test_a_learned_f_that_is_never_updated_is_reported_once(self):
        caught, _ = self.run(explorer(f=adeu.Rollouts(adeu.TdError(), 0.1, 0.1)), 2001)
        assert len(caught) == 1
        assert "update(), which was not called in 1000 steps" in caught[0]
        assert self.run(explorer(f=adeu.TdError()), 2001, updates=1)[0] == []
        assert self.run(explorer(f=adeu.Constant(0.5)), 2001)[0] == []

    def test_a_guard_that_is_never_updated_is_reported_once(self):
        caught, _ = self.run(dataclasses.replace(explorer(f=adeu.Constant(0.1)), guard=Mentor()), 1000)
        assert len(caught) == 1
        assert "Mentor(threshold=0.4, times=2, num_actions=2) learns in update(), which was not called" in caught[0]

    def test_a_host_function_that_is_never_updated_is_reported(self):
        host = adeu.from_host(lambda obs: obs[:, 0], lambda batch: None)
        assert "update(), which was not called" in self.run(explorer(f=host), 1000)[0][0]

    def test_forgetting_to_observe_is_reported_once(self):
        caught, _ = self.run(explorer(f=adeu.Constant(0.5)), 2001, observes=False)
        assert len(caught) == 1
        assert "observe() was not called in 1000 steps" in caught[0]

    def test_a_saturated_g_is_reported_once(self):
        caught, behavior = self.run(explorer(f=adeu.Constant(1e4)), 2001)
        assert len(caught) == 1
        assert "Sigmoid(c=0.2) gave its largest spread in 100% of the last 1000" in caught[0]
        assert behavior.saturation == 1.0
        caught, behavior = self.run(explorer(f=adeu.Calibrated(adeu.Constant(1e4))), 2001)
        assert caught == []
        assert behavior.saturation == 0.0
        assert self.run(explorer(f=adeu.Constant(1e4), g=adeu.Identity()), 2001)[1].saturation == 0.0

    def test_saturation_excludes_rollout_episodes(self):
        rollouts = adeu.Rollouts(adeu.Constant(1e4), rho=0.5, c=0.2)
        behavior, obs = adeu.Behavior(explorer(f=rollouts), gymnasium.make("CartPole-v1")), np.zeros(4)
        for step in range(999):
            behavior.act(obs, [0.0, 1.0])
            behavior.observe(adeu.Transition(obs, 0, 0.0, obs, step % 20 == 19, False))
        assert 0.1 < np.mean(behavior.history < 0.15) < 0.9
        assert behavior.saturation == 1.0
        with pytest.warns(UserWarning, match="gave its largest spread in 100%"):
            behavior.act(obs, [0.0, 1.0])

    def test_saturation_excludes_steps_of_a_guard(self):
        class Edge(adeu.Guard):
            def __call__(self, state, carry, obs, uncertainty, **given):
                return obs[0] > 0, 1, carry

        guarded = dataclasses.replace(explorer(f=adeu.Constant(1e4)), guard=Edge())
        behavior = adeu.Behavior(guarded, gymnasium.make("CartPole-v1"))
        for step in range(10):
            decision = behavior.act([step % 2, 0, 0, 0], [0.0, 1.0])
            assert decision.asked == (step % 2 == 0)
        assert behavior.saturation == 1.0
        assert (behavior.history == 0).mean() == 0.5


class TestHistory:
    def test_it_holds_the_last_thousand_spreads_in_order(self):
        env = gymnasium.make("CartPole-v1")
        behavior = adeu.Behavior(explorer(f=adeu.Schedule(1.0, 0.0, 2000), g=adeu.Identity()), env)
        assert behavior.history.shape == (0,)
        spreads = play(behavior, env, 1300, lean).spread
        np.testing.assert_array_equal(behavior.history, spreads[-1000:])


class TestSaving:
    @pytest.mark.parametrize("D", MOST_STATEFUL, ids=repr)
    def test_it_goes_on_bit_for_bit(self, D, tmp_path):
        env = gymnasium.make_vec("CartPole-v1", 3)
        f = adeu.Rollouts(adeu.Calibrated(adeu.Sum((RND, adeu.Schedule(1.0, 0.1, 50)))), 0.5, 0.5)
        first, second = (adeu.Behavior(explorer(D, f=f), env, seed=seed) for seed in (0, 1))
        play(first, env, 30, lean, seed=0)
        batch = stack([adeu.Transition(np.ones(4), 1, 0.0, np.ones(4), False, False)] * 4)
        first.update(batch)
        first.save(tmp_path / "behavior")
        second.load(tmp_path / "behavior")
        assert [p.name for p in tmp_path.iterdir()] == ["behavior"]
        for behavior in (first, second):
            behavior.update(batch)
        assert same(*(play(behavior, env, 30, lean, seed=1) for behavior in (first, second)))
        assert same(leaves(first._tree()), leaves(second._tree()))

    def saved(self, tmp_path, **changes):
        env = gymnasium.make("CartPole-v1")
        behavior = adeu.Behavior(explorer(**changes), env)
        behavior.save(tmp_path / "behavior")
        return behavior, tmp_path / "behavior"

    def test_a_truncated_file_is_rejected(self, tmp_path):
        behavior, path = self.saved(tmp_path)
        before, data = leaves(behavior._tree()), path.read_bytes()
        for size in [*range(0, len(data), len(data) // 20), len(data) - 1]:
            path.write_bytes(data[:size])
            with pytest.raises(ValueError, match="damaged or was not written by adeu"):
                behavior.load(path)
        assert same(before, leaves(behavior._tree()))

    def test_a_damaged_file_is_rejected(self, tmp_path):
        behavior, path = self.saved(tmp_path)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
        with pytest.raises(ValueError, match="damaged"):
            behavior.load(path)

    def test_a_foreign_file_is_rejected_and_never_unpickled(self, tmp_path):
        behavior, path = self.saved(tmp_path)
        path.write_text("hello")
        with pytest.raises(ValueError, match="not written by adeu"):
            behavior.load(path)
        with path.open("wb") as file:
            np.savez(file, header=np.array({"format": "x"}, object))
        with pytest.raises(ValueError, match="not written by adeu"):
            behavior.load(path)
        for header in (b"{}", b"[]", b"3"):
            with path.open("wb") as file:
                np.savez(file, header=np.frombuffer(header, np.uint8))
            with pytest.raises(ValueError, match="was not written by"):
                behavior.load(path)
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
        with pytest.raises(ValueError, match="not written by adeu"):
            behavior.load(path)
        with pytest.raises(FileNotFoundError):
            behavior.load(tmp_path / "nowhere")

    def test_a_file_of_an_older_format_is_rejected(self, tmp_path):
        behavior, path = self.saved(tmp_path)
        with np.load(path) as file:
            arrays = dict(file)
        header = bytes(arrays["header"]).replace(b"adeu.Behavior 3", b"adeu.Behavior 2")
        with path.open("wb") as file:
            np.savez(file, **arrays | {"header": np.frombuffer(header, np.uint8)})
        with pytest.raises(ValueError, match=r"was not written by adeu\.Behavior 3 but by adeu\.Behavior 2"):
            behavior.load(path)

    def test_other_parts_or_another_number_of_environments_are_rejected(self, tmp_path):
        _, path = self.saved(tmp_path)
        other = adeu.Behavior(explorer(f=dataclasses.replace(RND, scale=2.0)), gymnasium.make("CartPole-v1"))
        with pytest.raises(ValueError, match="saved with another explorer"):
            other.load(path)
        acrobot = adeu.Behavior(explorer(), gymnasium.make("Acrobot-v1"))
        with pytest.raises(ValueError, match="saved with another observation space"):
            acrobot.load(path)
        vector = adeu.Behavior(explorer(), gymnasium.make_vec("CartPole-v1", 2))
        with pytest.raises(ValueError, match="saved with another number of environments: 1; expected 2"):
            vector.load(path)

    def test_another_autoreset_mode_is_rejected(self, tmp_path):
        first, second = (
            gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
            for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)
        )
        adeu.Behavior(explorer(), first).save(tmp_path / "behavior")
        with pytest.raises(ValueError, match="saved with another autoreset: next step"):
            adeu.Behavior(explorer(), second).load(tmp_path / "behavior")

    def test_a_missing_folder_is_reported(self, tmp_path):
        behavior, _ = self.saved(tmp_path)
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            behavior.save(tmp_path / "nowhere" / "behavior")

    def test_a_lambda_can_be_saved(self, tmp_path):
        behavior, path = self.saved(tmp_path, f=adeu.from_function(lambda obs: obs[0] ** 2))
        behavior.load(path)

    def test_a_failed_save_keeps_the_old_file(self, tmp_path, monkeypatch):
        behavior, path = self.saved(tmp_path)
        before = path.read_bytes()

        def full(*args, **kwargs):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(np, "savez", full)
        with pytest.raises(OSError, match="No space left"):
            behavior.save(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["behavior"]


class TestBadInput:
    cartpole, pendulum = gymnasium.make("CartPole-v1"), gymnasium.make("Pendulum-v1")
    good = np.zeros(4)

    def refused(self, message, call, error=ValueError):
        with pytest.raises(error, match=re.escape(message)):
            call()

    def test_bad_observations_are_rejected(self):
        behavior = adeu.Behavior(explorer(), self.cartpole)
        before = leaves(behavior._tree())
        for bad in (np.nan, np.inf):
            obs = np.array([0, 0, bad, 0])
            message = f"observation takes finite numbers, got {bad} at index [2]"
            self.refused(message, lambda obs=obs: behavior.act(obs, [0.0, 1.0]))
        self.refused("observation takes shape (4,), got (3,)", lambda: behavior.act(np.zeros(3), [0.0, 1.0]))
        self.refused("observation takes shape (4,), got (1, 4)", lambda: behavior.act(np.zeros((1, 4)), [0.0, 1.0]))
        message = "observation takes shape (4,), got a tuple of unequal parts"
        self.refused(message, lambda: behavior.act((np.zeros(4), {}), [0.0, 1.0]))
        self.refused("observation takes numbers, got <U1", lambda: behavior.act(list("abcd"), [0.0, 1.0]))
        self.refused("observation takes finite numbers, got inf", lambda: behavior.act(np.full(4, 1e300), [0.0, 1.0]))
        vector = adeu.Behavior(explorer(), gymnasium.make_vec("CartPole-v1", 3))
        self.refused("observation takes shape (3, 4), got (4,)", lambda: vector.act(self.good, np.zeros((3, 2))))
        lake = adeu.Behavior(explorer(f=adeu.Counts(16)), gymnasium.make("FrozenLake-v1"))
        self.refused("observation takes whole numbers, got float64", lambda: lake.act(1.5, np.zeros(4)))
        self.refused("observation takes members of Discrete(16), got [16]", lambda: lake.act(16, np.zeros(4)))
        assert same(before, leaves(behavior._tree()))

    def test_bad_centers_and_masks_are_rejected(self):
        behavior = adeu.Behavior(explorer(), self.cartpole)
        self.refused(
            "center (one preference per action) takes shape (2,), got ()", lambda: behavior.act(self.good, 1)
        )
        self.refused(
            "center (one preference per action) takes shape (2,), got (3,)",
            lambda: behavior.act(self.good, np.zeros(3)),
        )
        self.refused("takes finite numbers, got nan at index [0]", lambda: behavior.act(self.good, [np.nan, 0]))
        box = adeu.Behavior(explorer(adeu.Gaussian()), self.pendulum)
        self.refused("center takes shape (1,), got (2,)", lambda: box.act(np.zeros(3), np.zeros(2)))
        mask = np.array([True])
        self.refused(
            "action_mask takes shape (2,), got (1,)", lambda: behavior.act(self.good, [0, 1], action_mask=mask)
        )
        none = [False, False]
        self.refused("at least one allowed action", lambda: behavior.act(self.good, [0, 1], action_mask=none))
        additive = [0.0, -np.inf]
        self.refused("action_mask takes true or false", lambda: behavior.act(self.good, [0, 1], action_mask=additive))
        allowed = [behavior.act(self.good, [0, 1], action_mask=[1, 0]).action for _ in range(50)]
        assert set(allowed) == {0}

    def test_bad_keywords_are_rejected(self):
        ensemble = explorer(f=adeu.EnsembleStd())
        behavior = adeu.Behavior(ensemble, gymnasium.make_vec("CartPole-v1", 3))
        obs, center = np.zeros((3, 4)), np.zeros((3, 2))
        self.refused("'q_values'", lambda: behavior.act(obs, center), TypeError)
        wrong = np.zeros((5, 2))
        message = "q_values takes a leading axis of 3, got shape (5, 2)"
        self.refused(message, lambda: behavior.act(obs, center, q_values=wrong))
        flat = np.zeros((3, 2))
        message = "q_values takes shape (critics, 2) per environment in Discrete(2), got (2,)"
        self.refused(message, lambda: behavior.act(obs, center, q_values=flat))
        self.refused("step is reserved", lambda: behavior.act(obs, center, step=np.zeros(3)))
        poison = np.full((3, 2, 2), np.nan)
        self.refused("q_values takes finite numbers, got nan", lambda: behavior.act(obs, center, q_values=poison))
        td = adeu.Behavior(explorer(f=adeu.TdError(16)), gymnasium.make("FrozenLake-v1"))
        step = adeu.Transition(0, 0, 0.0, 0, False, False)
        self.refused("'td_error'", lambda: td.observe(step), TypeError)
        self.refused("td_error takes finite numbers", lambda: td.observe(step, td_error=np.nan))
        self.refused("TdError: td_error takes one number", lambda: td.observe(step, td_error=np.ones(1)))
        box = adeu.Behavior(explorer(adeu.Gaussian(), f=adeu.EnsembleStd()), self.pendulum)
        message = "q_values takes shape (critics,) per environment"
        self.refused(message, lambda: box.act(np.zeros(3), [0.0], q_values=np.zeros((2, 1))))

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (lambda obs: -1.0 + obs[0], "returned -1.0 in environment 0 (observation [0.0, 0.0, 0.0, 0.0])"),
            (lambda obs: jnp.nan * obs[0], "returned nan in environment 0"),
            (lambda obs: 1.0 / obs[0], "returned inf in environment 0"),
            (lambda obs: obs, "f must return one number per environment; FromFunction("),
        ],
        ids=["negative", "nan", "inf", "shape"],
    )
    def test_a_bad_uncertainty_is_rejected(self, value, message):
        behavior = adeu.Behavior(explorer(f=adeu.from_function(value)), self.cartpole)
        before = leaves(behavior._tree())
        self.refused(message, lambda: behavior.act(self.good, [0.0, 1.0]))
        assert same(before, leaves(behavior._tree()))

    @pytest.mark.parametrize(
        ("spread", "message"),
        [
            (lambda u: -u, "g must return a finite number >= 0; Bad() returned -0.5 in environment 0"),
            (lambda u: u / 0.0, "g must return a finite number >= 0; Bad() returned inf"),
            (lambda u: jnp.stack([u, u]), "g must return one number per environment; Bad() returned shape (2,)"),
        ],
        ids=["negative", "inf", "shape"],
    )
    def test_a_bad_spread_is_rejected(self, spread, message):
        class Bad(adeu.Normalizer):
            def __call__(self, uncertainty):
                return spread(uncertainty)

            def __repr__(self):
                return "Bad()"

        behavior = adeu.Behavior(explorer(f=adeu.Constant(0.5), g=Bad()), self.cartpole)
        self.refused(message, lambda: behavior.act(self.good, [0.0, 1.0]))

    @pytest.mark.parametrize(
        ("result", "message"),
        [
            (lambda carry: jnp.zeros((), int), "sample() must return (action, explored, carry), it returned"),
            (
                lambda carry: (jnp.zeros(2, int), False, carry),
                "D must return an action of shape (), it returned shape (2,)",
            ),
            (lambda carry: (jnp.asarray(7), False, carry), "D must return actions of Discrete(2), it returned [7]"),
            (
                lambda carry: (jnp.asarray(0), False, 1.5),
                "sample() must return a carry like (), it returned float32[]",
            ),
        ],
        ids=["tuple", "shape", "range", "carry"],
    )
    def test_a_bad_action_is_rejected(self, result, message):
        class Bad(adeu.Distribution):
            def sample(self, key, state, carry, center, spread, action_mask=None, **given):
                return result(carry)

        behavior = adeu.Behavior(explorer(Bad(), f=adeu.Constant(0.5)), self.cartpole)
        error = ValueError if message.startswith("D must") else TypeError
        self.refused(message, lambda: behavior.act(self.good, [0.0, 1.0]), error)

    def test_an_f_without_a_carry_or_with_a_changed_state_is_rejected(self):
        class Forgets(adeu.Mechanism):
            def measure(self, key, state, carry, obs, **given):
                return 0.5

        behavior = adeu.Behavior(explorer(f=Forgets()), self.cartpole)
        message = "measure() must return (uncertainty, carry), it returned 0.5"
        self.refused(message, lambda: behavior.act(self.good, [0.0, 1.0]), TypeError)

        @dataclasses.dataclass(frozen=True)
        class Grows(adeu.Mechanism):
            def init(self, key, obs):
                return jnp.zeros(4)

            def measure(self, key, state, carry, obs, **given):
                return jnp.sum(state), carry

            def observe(self, state, transition, **given):
                return None

            def update(self, state, batch, **given):
                return state + batch.obs

        behavior = adeu.Behavior(explorer(f=Grows()), self.cartpole)
        step = adeu.Transition(self.good, 0, 0.0, self.good, False, False)
        message = "update() must return a state like float32[4], it returned float32[8, 4]"
        self.refused(message, lambda: behavior.update([step] * 8), TypeError)
        message = "observe() must return a state like float32[4], it returned None"
        self.refused(message, lambda: behavior.observe(step), TypeError)

    def test_bad_transitions_are_rejected(self):
        behavior = adeu.Behavior(explorer(), self.cartpole)
        step = adeu.Transition(self.good, 0, 0.0, self.good, False, False)
        for change, message in [
            ({"obs": np.full(4, np.nan)}, "obs takes finite numbers"),
            ({"next_obs": np.zeros(3)}, "next_obs takes shape (4,), got (3,)"),
            ({"reward": np.inf}, "reward takes finite numbers"),
            ({"action": 0.5}, "action takes whole numbers"),
            ({"terminated": [True, False]}, "terminated takes shape (), got (2,)"),
            ({"terminated": np.nan}, "terminated takes true or false, got nan"),
            ({"action": 2}, "action takes members of Discrete(2), got [2]"),
            ({"cost": np.nan}, "cost takes finite numbers"),
        ]:
            self.refused(message, lambda change=change: behavior.observe(step._replace(**change)))
        mapping = step._asdict()
        del mapping["truncated"]
        self.refused("'truncated' is missing", lambda: behavior.observe(mapping))
        self.refused("info takes the environment's mapping, got str", lambda: behavior.observe(step, "x"), TypeError)
        self.refused("ended takes shape (1,), got (2,)", lambda: behavior.begin([True, False]))
        self.refused("a transition takes an adeu.Transition or a mapping", lambda: behavior.observe(3), TypeError)
        self.refused("batch takes at least one transition, along a leading axis", lambda: behavior.update(step))

    def test_a_bad_seed_or_explorer_is_rejected(self):
        for seed in (-1, 1.5, True, 2**32):
            self.refused(
                "Behavior: seed takes a whole number",
                lambda seed=seed: adeu.Behavior(explorer(), self.cartpole, seed),
            )
        self.refused("Behavior: explorer takes an Explorer", lambda: adeu.Behavior(RND, self.cartpole))
