"""`Bonus`: the values it adds to the reward and the steps f learns from, in environments and vectors of them."""

import copy
import dataclasses
import functools
import pickle
import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import adeu

RND = adeu.Rnd(scale=1.0, hidden=(8,), features=4, learning_rate=1e-2)
RAW = {"normalize": False}


class Clock(gymnasium.Env):
    """Observe (step, number); end after 3 + number steps, alternately terminated and truncated."""

    observation_space = spaces.Box(-100.0, 100.0, (2,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, number=0):
        self.number, self.time, self.episode = number, 0, 0

    def _look(self):
        return np.array([self.time, self.number], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time, self.episode = 0, self.episode + 1
        return self._look(), {}

    def step(self, action):
        self.time += 1
        ended, terminal = self.time == 3 + self.number, self.episode % 2 == 0
        return self._look(), 1.0, bool(ended and terminal), bool(ended and not terminal), {"cost": 2.0}


class Choices(Clock):
    action_space = spaces.MultiDiscrete([2, 3])


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def clocks(mode=AutoresetMode.NEXT_STEP, count=3):
    return SyncVectorEnv([functools.partial(Clock, number) for number in range(count)], autoreset_mode=mode)


def walk(env, steps, seed=0):
    """Make random steps; return the state of f before each step, the observation, the reward and the bonus."""
    env.action_space.seed(seed)
    env.reset(seed=seed)
    found = []
    for _ in range(steps):
        before = jax.tree.map(np.asarray, env.state)
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        found.append((before, obs, reward, info["adeu/bonus"]))
        if not hasattr(env, "num_envs") and (terminated or truncated):
            env.reset()
    return found


@dataclasses.dataclass(frozen=True)
class Seen(adeu.Mechanism):
    """Count the observed steps, and sum their observations and rewards."""

    def init(self, key, obs):
        return jnp.zeros(4)

    def measure(self, key, state, carry, obs, **given):
        return obs[0], carry

    def observe(self, state, transition, **given):
        return state + jnp.append(jnp.append(1.0, transition.obs), transition.reward)


@dataclasses.dataclass(frozen=True)
class Central(adeu.Mechanism):
    def measure(self, key, state, carry, obs, *, center, **given):
        return jnp.sum(center), carry


@dataclasses.dataclass(frozen=True)
class Bad(adeu.Mechanism):
    value: float = float("nan")

    def measure(self, key, state, carry, obs, **given):
        return jnp.asarray(self.value), carry


@dataclasses.dataclass(frozen=True)
class Before(adeu.Mechanism):
    """Return the previous observation."""

    def begin(self, key, carry=None):
        return jnp.zeros(())

    def measure(self, key, state, carry, obs, **given):
        return carry, obs[0]


class TestPaid:
    def test_counts_by_hand(self):
        env = adeu.Bonus(lake(), adeu.Counts(beta=0.5), scale=0.1, **RAW)
        visits = np.zeros(16)
        plain = lake()
        plain.reset(seed=0)
        env.action_space.seed(3)
        env.reset(seed=0)
        for _ in range(200):
            action = env.action_space.sample()
            state, reward, *ends, info = env.step(action)
            assert (state, *ends) == (plain_step := plain.step(action))[:1] + plain_step[2:4]
            visits[state] += 1
            assert info["adeu/bonus"] == pytest.approx(0.1 / (0.5 * np.sqrt(visits[state])), rel=1e-6)
            assert reward == plain_step[1] + info["adeu/bonus"]
            if any(ends):
                env.reset()
                plain.reset()
        assert visits[5] > 5  # a hole: final observations are counted, too
        np.testing.assert_array_equal(env.state, visits)

    @pytest.mark.parametrize("make", [Clock, clocks])
    def test_rnd_by_hand(self, make):
        env = adeu.Bonus(make(), RND, scale=3.0, every=4, batch=8, **RAW)
        for state, obs, reward, bonus in walk(env, 12):
            rows = np.atleast_2d(obs)
            expected = [3.0 * float(RND.measure(jax.random.key(0), state, (), row)[0]) for row in rows]
            paid = np.atleast_1d(bonus) > 0
            np.testing.assert_allclose(np.atleast_1d(bonus), np.where(paid, expected, 0.0), rtol=1e-4)
            np.testing.assert_allclose(np.atleast_1d(reward - bonus), np.where(paid, 1.0, 0.0), atol=1e-6)
        assert env.payer.updates > 0

    def test_a_vector_shares_one_f(self):
        env = adeu.Bonus(gymnasium.make_vec("FrozenLake-v1", 3, is_slippery=False), adeu.Counts(beta=1.0), **RAW)
        assert isinstance(env, adeu.VectorBonus)
        env.reset(seed=0)
        *_, info = env.step(np.array([2, 2, 2]))
        assert info["adeu/bonus"].tolist() == [1.0, 1.0, 1.0]  # all three are counted at once
        *_, info = env.step(np.array([0, 2, 1]))
        assert info["adeu/bonus"].tolist() == pytest.approx([1.0, 1.0, 1.0])
        *_, info = env.step(np.array([2, 0, 0]))
        assert info["adeu/bonus"][:2].tolist() == pytest.approx([0.5, 0.5])

    def test_the_bonus_falls_with_visits_also_at_the_end_of_episodes(self):
        env = adeu.Bonus(Clock(), RND, every=1, batch=8, **RAW)
        paid = np.array([bonus for *_, bonus in walk(env, 600)]).reshape(-1, 3)
        assert (paid[-10:].mean(axis=0) < 0.1 * paid[:2].mean(axis=0)).all()

    @pytest.mark.parametrize("make", [Clock, clocks])
    def test_the_bonus_is_divided_by_the_deviation_of_the_discounted_sum(self, make):
        pair = [adeu.Bonus(make(), RND, 2.0, gamma=0.9, every=4, batch=8, normalize=flag) for flag in (False, True)]
        count = len(pair[0].payer._idle)
        returns, seen = np.zeros(count), [np.zeros(count)]
        for (*_, raw), (*_, normalized) in zip(*(walk(env, 40) for env in pair), strict=True):
            raw = np.atleast_1d(raw) / 2.0
            fresh = raw > 0
            returns = np.where(fresh, 0.9 * returns + raw, returns)
            seen.append(returns[fresh])
            np.testing.assert_allclose(normalized, 2.0 * raw / np.std(np.concatenate(seen)), rtol=1e-5)

    def test_rollout_episodes_get_the_bonus(self):
        f = adeu.from_function(functools.partial(jnp.sum))
        paid = [
            [bonus for *_, bonus in walk(adeu.Bonus(Clock(), each, **RAW), 6)]
            for each in (f, adeu.Rollouts(f, 1.0, 0.2))
        ]
        assert paid[0] == paid[1] == [1, 2, 3] * 2

    def test_a_zero_bonus_stays_zero(self):
        assert all(bonus == 0.0 for *_, bonus in walk(adeu.Bonus(Clock(), adeu.Constant(0.0)), 5))


class TestLearning:
    @pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
    def test_only_real_steps_are_observed_each_once(self, mode):
        env = adeu.Bonus(clocks(mode), Seen(), **RAW)
        env.reset(seed=0)
        count, total, paid = 0, np.zeros(2), np.zeros(3)
        resets, times = np.zeros(3, bool), np.zeros(3)
        for _ in range(40):
            _, reward, terminated, truncated, info = env.step(np.zeros((3, 1), np.float32))
            fresh = ~resets
            np.testing.assert_array_equal(info["_adeu/bonus"], fresh)
            times = np.where(fresh, times + 1, 0)
            count += fresh.sum()
            total += times[fresh].sum(), np.arange(3)[fresh].sum()
            np.testing.assert_allclose(info["adeu/bonus"], np.where(fresh, times, 0.0))
            np.testing.assert_allclose(reward, np.where(fresh, 1.0 + times, 0.0))
            paid += info["adeu/bonus"]
            ended = terminated | truncated
            np.testing.assert_array_equal(ended, times == 3 + np.arange(3))
            resets = ended if mode is AutoresetMode.NEXT_STEP else np.zeros(3, bool)
            if mode is not AutoresetMode.NEXT_STEP:
                times = np.where(ended, 0, times)
            if mode is AutoresetMode.DISABLED and ended.any():
                env.reset(options={"reset_mask": ended})
        np.testing.assert_allclose(env.state, [count, *total, count])
        assert env.payer.steps == count

    @pytest.mark.parametrize("make", [Clock, clocks])
    def test_updates_use_the_last_steps(self, make):
        env = adeu.Bonus(make(), RND, every=5, batch=8, seed=4, **RAW)
        state = RND.init(jax.random.key(4), np.zeros(2))
        arrivals, since, updates = [], 0, 0
        for before, obs, _, bonus in walk(env, 20):
            np.testing.assert_allclose(before.predictor[0][0], state.predictor[0][0], rtol=1e-4, atol=1e-6)
            new = [row for row, paid in zip(np.atleast_2d(obs), np.atleast_1d(bonus), strict=True) if paid > 0]
            arrivals, since = arrivals + new, since + len(new)
            if since >= 5 and len(arrivals) >= 8:
                rows = np.stack(arrivals[-8:])
                state = RND.update(state, adeu.Transition(rows, None, None, rows, None, None))
                since, updates = 0, updates + 1
        assert env.payer.updates == updates >= 2

    def test_the_cost_is_read_from_info(self):
        f = adeu.ExpectedCost(hidden=(4,))
        env = adeu.Bonus(Clock(), f, every=1, batch=4)
        assert len(walk(env, 6)) == 6
        assert env.payer.updates == 3
        plain = adeu.Bonus(gymnasium.make("Pendulum-v1"), f)
        plain.reset(seed=0)
        with pytest.raises(ValueError, match="Bonus: info takes a 'cost', which ExpectedCost"):
            plain.step(np.zeros(1, np.float32))

    def test_f_may_be_a_host_function(self):
        batches = []
        f = adeu.from_host(lambda obs: obs[:, 0] * 2, update=batches.append)
        env = adeu.Bonus(clocks(), f, every=6, batch=6, **RAW)
        for _, obs, _, bonus in walk(env, 6):
            np.testing.assert_allclose(bonus, 2 * obs[:, 0])  # 0 after a reset, like the observation
        assert len(batches) == 2
        assert batches[0].obs[:, 0].tolist() == [1, 1, 1, 2, 2, 2]

    def test_observations_may_be_encoded_and_actions_discrete(self):
        env = adeu.Bonus(
            Choices(), adeu.Counts(num_states=5, beta=1.0), encoder=lambda obs: obs[:, 0].astype(int), **RAW
        )
        paid = [bonus for *_, bonus in walk(env, 6)]
        assert paid == pytest.approx([1.0] * 3 + [np.sqrt(0.5)] * 3)


REJECTED = [
    (
        adeu.EnsembleStd(),
        "Bonus: f takes an f that needs no center, q_values, which an environment does not have, got",
    ),
    (adeu.Sum((RND, adeu.EnsembleStd())), "needs no center, q_values, which"),
    (adeu.TdError(), "Bonus: f takes an f that needs no td_error, which an environment does not have, got TdError"),
    (Central(), "Bonus: f takes an f that needs no center, which"),
    (adeu.Recorded(), "needs no recorded, which"),
    (Before(), "Bonus: f takes an f that carries nothing from step to step, got Before"),
    (lambda obs: 0.0, "Bonus: f takes a Mechanism (a function becomes one by adeu.from_function or from_host), got"),
    (adeu.Counts(), "Counts: observation space takes a Discrete space"),
]


@pytest.mark.parametrize(("f", "message"), REJECTED, ids=[message for _, message in REJECTED])
def test_an_unsuitable_f_is_rejected(f, message):
    for env in (Clock(), clocks()):
        with pytest.raises(ValueError, match=re.escape(message)):
            adeu.Bonus(env, f)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": -1.0}, "Bonus: scale takes a finite number >= 0, got -1.0"),
        ({"scale": float("nan")}, "Bonus: scale takes a finite number >= 0, got nan"),
        ({"gamma": 1.5}, "Bonus: gamma takes a finite number >= 0 and <= 1, got 1.5"),
        ({"every": 0}, "Bonus: every takes a whole number >= 1, got 0"),
        ({"batch": 2.5}, "Bonus: batch takes a whole number >= 1, got 2.5"),
        ({"normalize": 1}, "Bonus: normalize takes True or False, got 1"),
        ({"seed": -1}, "Bonus: seed takes a whole number >= 0"),
    ],
)
def test_bad_arguments_are_rejected(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        adeu.Bonus(Clock(), RND, **settings)


def test_bad_environments_and_values_are_rejected():
    with pytest.raises(
        ValueError, match=r"Bonus: env takes a Gymnasium environment or a gymnasium\.vector\.VectorEnv, got 3"
    ):
        adeu.Bonus(3, RND)
    for value in (float("nan"), float("inf"), -1.0):
        env = adeu.Bonus(Clock(), Bad(value))
        env.reset()
        with pytest.raises(ValueError, match=r"f must return a finite number >= 0; Bad\(.*observation \[1.0, 0.0\]"):
            env.step(np.zeros(1, np.float32))
    env = adeu.Bonus(gymnasium.wrappers.TransformReward(Clock(), lambda reward: float("nan")), RND)
    env.reset()
    with pytest.raises(ValueError, match="reward takes finite numbers, got nan"):
        env.step(np.zeros(1, np.float32))
    env = adeu.Bonus(Clock(7), RND)
    env.unwrapped._look = lambda: np.array([np.nan, 0.0], np.float32)
    env.reset()
    with pytest.raises(ValueError, match="obs takes finite numbers, got nan"):
        env.step(np.zeros(1, np.float32))


@pytest.mark.parametrize("make", [Clock, clocks])
def test_a_loaded_bonus_resumes_bit_for_bit(make, tmp_path):
    settings = {"every": 3, "batch": 6}
    first, again = (adeu.Bonus(make(), RND, seed=seed, **settings) for seed in (1, 1))
    walk(first, 10)
    first.save(tmp_path / "bonus.npz")
    again.load(tmp_path / "bonus.npz")
    again.env = copy.deepcopy(first.env)
    for one, other in zip(walk(first, 10, seed=5), walk(again, 10, seed=5), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))
    with pytest.raises(ValueError, match="was saved with another f"):
        adeu.Bonus(make(), adeu.Rnd(), **settings).load(tmp_path / "bonus.npz")
    explorer = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
    adeu.Behavior(explorer, Clock()).save(tmp_path / "behavior.npz")
    with pytest.raises(ValueError, match=r"was not written by adeu\.Bonus 1"):
        first.load(tmp_path / "behavior.npz")


def test_it_can_be_pickled_copied_and_made_from_its_spec():
    env = adeu.Bonus(gymnasium.make("CartPole-v1"), RND, every=3, batch=6)
    walk(env, 10)
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        action = env.action_space.sample()
        assert other.env is not env.env
        np.testing.assert_array_equal(other.step(action)[1], copy.deepcopy(env).step(action)[1])
    made = gymnasium.make(adeu.Bonus(gymnasium.make("CartPole-v1"), RND, scale=2.0).spec)
    assert (made.f, made.payer.scale) == (RND, 2.0)


def test_it_passes_the_env_checker():
    wrap = functools.partial(adeu.Bonus, f=RND, scale=0.5)
    each = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync", wrappers=[wrap])
    each.reset(seed=0)
    *_, info = each.step(np.array([0, 1]))
    assert info["adeu/bonus"].shape == (2,)
    both = gymnasium.wrappers.vector.RecordEpisodeStatistics(adeu.Bonus(gymnasium.make_vec("CartPole-v1", 2), RND))
    both.reset(seed=0)
    for _ in range(60):
        _, _, _, _, info = both.step(both.action_space.sample())
        if "episode" in info:
            break
    assert info["episode"]["r"].max() > info["episode"]["l"].max()
