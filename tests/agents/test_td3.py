"""TD3 in Gymnasium environments: resuming with the same bits, learning, exploration, and errors."""

import dataclasses

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import GymLoop, Td3
from adeu.agents.player import Player
from adeu.agents.reading import Reader
from adeu.agents.td3 import Td3Row, policy
from adeu.core import networks as nets

CONSTANT = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
STILL = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Gaussian())
RND = adeu.Explorer(adeu.Rollouts(adeu.Rnd(hidden=(8,)), 0.3, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
Q_STD = adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(1.0), 0.1, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
SMALL = Td3(CONSTANT, hidden=(8,), batch=8, capacity=150)
BONUS = adeu.Rnd(hidden=(8,), scale=1.0)
NOISY = dataclasses.replace(SMALL, center="noisy")
UCB = dataclasses.replace(SMALL, center="ucb", critics=3, candidates=4)


def known(f):
    return adeu.Explorer(f, adeu.Saturating(0.2), adeu.Gaussian())


OFFERED = dataclasses.replace(SMALL, explorer=known(adeu.Recorded()), gated=True, capacity=450)
"""Shared by most tests, so that it is compiled once; the tests pass its uncertainty."""
SLOW = {
    "td-error-weighted": dataclasses.replace(
        SMALL, explorer=known(adeu.Rollouts(adeu.TdError(), 0.3, 0.2)), weighted=True
    ),
    "noisy-rnd-bonus": dataclasses.replace(NOISY, explorer=RND, bonus=BONUS),
    "ucb-q-std-gated": dataclasses.replace(UCB, explorer=Q_STD, gated=True),
}
NOTHING = {"recorded": 0.0}


@dataclasses.dataclass(frozen=True)
class LastError(adeu.Mechanism):
    """Keep the last TD error as state."""

    def init(self, key, obs):
        return jnp.zeros(())

    def measure(self, key, state, carry, obs, **given):
        return jnp.zeros(()), carry

    def observe(self, state, transition, *, td_error, **given):
        return td_error


ERRORS = adeu.Explorer(LastError(), adeu.Identity(), adeu.Gaussian())


def pendulum(limit=20):
    return gymnasium.make("Pendulum-v1", max_episode_steps=limit)


def bound(td3):
    """Return the agent for the pendulum, and its initial learned state."""
    env = pendulum()
    td3 = td3.bind(env.observation_space, env.action_space)
    return td3, jax.jit(td3.init)(jax.random.key(0), np.zeros(3, np.float32))


def make(td3=SMALL, steps=200, seed=0, warmup=50, **settings):
    lengths = {"warmup": warmup, "evaluate_every": 100, "evaluate_episodes": 1}
    return GymLoop(td3, pendulum(), pendulum(), steps, seed, **lengths, **settings)


def player(td3, env, seed=0, warmup=50, overlap=False):
    spaces = env.observation_space, env.action_space
    return Player(td3.bind(*spaces), Reader(*spaces), seed, warmup, overlap)


def play(loop):
    rows = []
    while loop.step < loop.steps:
        rows += loop.advance()[0]
    return rows


@pytest.mark.parametrize("overlap", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["offered-gated", *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW)])
def test_saved_between_episodes_it_resumes_bit_for_bit(kind, overlap):
    settings = {"td3": (SLOW | {"offered-gated": OFFERED})[kind], "steps": 600, "recorded": True, "overlap": overlap}
    if kind == "offered-gated":
        settings |= {"given": {"recorded": np.random.default_rng(0).random(600)}, "warmup": 400}
    whole = make(**settings)
    expected = play(whole)
    loop, rows = make(**settings), []
    for _ in range(26):
        rows += loop.advance()[0]
        if loop.episode in (1, 25):
            saved = {name: array.copy() for name, array in loop.arrays().items()}
            loop = make(**settings)
            loop.restore(saved)
    rows += play(loop)
    assert rows == expected
    for name, array in whole.arrays().items():
        assert np.array_equal(array, loop.arrays()[name]), name
    start = make(**settings).arrays()
    assert any(not np.array_equal(start[name], array) for name, array in whole.arrays().items() if "leaf" in name)


def test_warm_up_actions_are_uniform_and_later_ones_near_the_policy():
    env = pendulum(400)
    agent, given = player(OFFERED, env, warmup=400), {"recorded": np.log(2)}  # a spread of 0.1
    obs = np.float32(env.reset(seed=0)[0])
    agent.begin(obs)
    early = np.array([agent.act(step, given).action[0] for step in range(400)])
    assert abs(early.mean()) < 0.25
    assert np.std(early) == pytest.approx(4 / 12**0.5, rel=0.1)
    late = np.array([agent.act(step, given).action[0] for step in range(400, 800)])
    assert late.mean() == pytest.approx(agent.exploit(obs, NOTHING)[0], abs=0.04)
    assert np.std(late) == pytest.approx(0.1 * 2, rel=0.15)  # the spread is in half ranges
    best = agent.exploit(obs, NOTHING)[0]
    for step in (3, 700):
        decision = agent.act(step, given)
        assert decision.deviation == pytest.approx(abs(decision.action[0] - best) / 2, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("td3", [UCB, NOISY], ids=["ucb", "noisy"])
def test_ucb_and_noisy_nets_explore_without_a_spread(td3):
    """Their center differs from the action of the policy."""
    env = pendulum()
    agent = player(dataclasses.replace(td3, explorer=STILL), env)
    obs = np.float32(env.reset(seed=0)[0])
    agent.begin(obs)
    decisions = [agent.act(step, {}) for step in range(100, 120)]
    assert all(decision.spread == 0 for decision in decisions)
    assert np.mean([decision.explored for decision in decisions]) > 0.5
    assert len({float(decision.action[0]) for decision in decisions}) > 5
    best = agent.exploit(obs, {})
    assert best == agent.exploit(obs, {})
    found = [decision.deviation for decision in decisions]
    assert found == pytest.approx([abs(decision.action - best)[0] / 2 for decision in decisions], abs=1e-6)
    assert max(found) > 0


def test_a_bonus_is_added_to_the_reward():
    key = jax.random.key(0)
    td3, learned = bound(dataclasses.replace(SMALL, explorer=ERRORS, bonus=BONUS))
    transition = adeu.Transition(np.zeros(3), np.zeros(1), 0.5, np.ones(3), True, False)
    q = jax.jit(nets.values)(learned.critics, np.zeros((1, 3)), np.zeros((1, 1)))
    measured, _ = jax.jit(BONUS.measure)(key, learned.bonus, (), np.ones(3))
    assert measured > 0
    expected = 0.5 + float(measured) - float(np.mean(q))
    assert float(jax.jit(td3.absorb)(key, learned, transition, 0).explorer.f) == pytest.approx(expected, rel=1e-4)


def test_a_bonus_learns_from_the_next_observations():
    td3, learned = bound(dataclasses.replace(SMALL, explorer=ERRORS, bonus=BONUS))
    nothing, no = np.zeros((2, 8), np.float32), np.zeros((2, 8), bool)
    places = np.arange(48, dtype=np.float32).reshape(2, 8, 3)
    batches = Td3Row(np.zeros_like(places), nothing[..., None], nothing, places, no)
    after = jax.jit(td3.learn)(jax.random.key(1), learned, batches, 0)
    assert np.asarray(after.bonus.moments.mean) == pytest.approx(places.mean(axis=(0, 1)), rel=1e-4)


def test_ucb_takes_the_candidate_with_the_highest_bound():
    td3, learned = bound(dataclasses.replace(UCB, explorer=STILL, candidates=16, candidate_spread=1.0, ucb=3.0))
    acting, obs = td3.acting(learned), np.ones(3, np.float32)
    decide = jax.jit(jax.vmap(lambda key: td3.decide(key, acting, td3.begin(key), obs, 10**6, False)[0].action))
    chosen = np.asarray(decide(jax.random.split(jax.random.key(1), 200))) / 2  # actions lie between -2 and 2
    tried = np.linspace(-1, 1, 201, dtype=np.float32)[:, None]

    def bounds(actions):
        q = np.asarray(jax.jit(nets.values)(learned.critics, np.tile(obs, (len(actions), 1)), actions))
        return q.mean(axis=0) + 3.0 * q.std(axis=0)

    assert np.median(bounds(chosen)) > np.quantile(bounds(tried), 0.8)


def test_the_target_is_the_minimum_of_two_random_critics():
    td3, learned = bound(dataclasses.replace(SMALL, explorer=ERRORS, critics=3))
    step = adeu.Transition(np.zeros(3), np.zeros(1), 0.5, np.ones(3), False, False)
    keys = jax.random.split(jax.random.key(1), 600)
    errors = np.asarray(jax.jit(jax.vmap(lambda key: td3.absorb(key, learned, step, 0).explorer.f))(keys))
    values = jax.jit(nets.values)
    q = np.mean(values(learned.critics, np.zeros((1, 3)), np.zeros((1, 1))))
    there = values(learned.critics, np.ones((1, 3)), jax.jit(policy)(learned.actor, np.ones((1, 3))))
    lowest, middle, _ = np.sort(np.asarray(there)[:, 0])
    targets = (errors + q - 0.5) / td3.gamma
    assert ((np.abs(targets - lowest) < 1e-5) | (np.abs(targets - middle) < 1e-5)).all()
    assert np.mean(np.abs(targets - lowest) < 1e-5) == pytest.approx(2 / 3, abs=0.08)  # in two of three pairs


def test_a_gated_replay_takes_rows_with_a_probability_by_uncertainty():
    env = pendulum(2_000)
    recorded = np.repeat([0.0, 0.0, 0.5, 50.0], 400)
    agent = player(OFFERED, env, seed=3, warmup=400)
    agent.begin(np.float32(env.reset(seed=0)[0]))
    agent._learn = lambda step: None  # only the replay is tested
    added, obs = [0], np.zeros(3, np.float32)
    for step in range(1_600):
        decision = agent.act(step, {"recorded": recorded[step]})
        next_obs = np.full(3, step, np.float32)
        transition = adeu.Transition(obs, np.zeros(1), np.float32(0), next_obs, False, False)
        agent.observe(transition, decision, step + 1)
        obs = next_obs
        if step % 400 == 399:
            added.append(int(agent.arrays()["replay/added"]))
    warmup, certain, between, uncertain = np.diff(added)
    assert (warmup, certain, uncertain) == (400, 0, 400)
    share = 1 - np.exp(-0.5)
    assert between == pytest.approx(400 * share, abs=4 * np.sqrt(400 * share * (1 - share)))


def test_without_a_warmup_a_gated_replay_takes_the_first_row():
    loop = make(OFFERED, steps=100, warmup=0, given={"recorded": np.zeros(100)})
    play(loop)
    assert int(loop.arrays()["player/replay/added"]) == 1


def test_weighted_losses_ignore_rows_without_uncertainty():
    """Nothing is learned from the half of a batch in which f is 0, even in rollout episodes."""
    key = jax.random.key(0)
    f = adeu.Rollouts(adeu.from_function(lambda obs: jnp.where(obs[0] > 0, 50.0, 0.0)), rho=1.0, c=0.0)
    td3, learned = bound(dataclasses.replace(SMALL, explorer=known(f), weighted=True, policy_delay=1))
    improve = jax.jit(td3.improve)
    uncertain = np.arange(8)[None] % 2 == 1
    obs = np.random.default_rng(0).normal(size=(1, 8, 3)).astype(np.float32)
    obs[..., 0] = np.where(uncertain, 1.0, -1.0)
    nothing, no = np.zeros((1, 8), np.float32), np.zeros((1, 8), bool)
    batches = Td3Row(obs, nothing[..., None], nothing, obs, no)

    def after(where, **changes):
        new = {
            name: np.where(where if value.ndim == 2 else where[..., None], value, getattr(batches, name))
            for name, value in changes.items()
        }
        return improve(key, learned, batches._replace(**new), nothing[..., None], 0)

    def differ(one, other):
        return [not np.array_equal(*both) for both in zip(*map(jax.tree.leaves, (one, other)), strict=True)]

    changes = {"reward": nothing + 9, "obs": (obs * [1, 5, 5]).astype(np.float32)}
    plain, known_changed, changed = after(no), after(~uncertain, **changes), after(uncertain, **changes)
    assert not any(differ(plain, known_changed))
    assert any(differ(plain.critics_adam, changed.critics_adam))
    assert any(differ(plain.actor_adam, changed.actor_adam))


def test_gated_and_weighted_need_a_bounded_spread():
    for remedy in ("gated", "weighted"):
        with pytest.raises(
            ValueError, match=rf"Td3: {remedy} takes False with g=Identity\(\), which has no upper bound"
        ):
            dataclasses.replace(SMALL, **{remedy: True})


def test_parts_that_cannot_be_computed_for_a_batch_are_rejected():
    remembering = adeu.Calibrated(adeu.Rnd())
    with pytest.raises(ValueError, match="Td3: bonus takes an f that carries nothing from step to step, got Calib"):
        dataclasses.replace(SMALL, bonus=remembering)
    with pytest.raises(ValueError, match="Td3: bonus takes an f that learns only from batches, such as Rnd, got Cou"):
        dataclasses.replace(SMALL, bonus=adeu.Counts(3))
    with pytest.raises(ValueError, match="Td3: bonus takes an f that needs no cost, got ExpectedCost"):
        dataclasses.replace(SMALL, bonus=adeu.ExpectedCost())
    with pytest.raises(ValueError, match="Td3: weighted takes an f that carries nothing from step to step"):
        dataclasses.replace(SMALL, explorer=known(adeu.Rollouts(remembering, 0.3, 0.2)), weighted=True)
    costly = dataclasses.replace(SMALL, explorer=known(adeu.ExpectedCost()))
    with pytest.raises(ValueError, match=r"Td3: explorer takes parts that need no cost in update\(\)"):
        make(costly)


def test_actions_lie_within_a_float64_space():
    """The bound 0.1 is slightly larger in float32 than in float64."""
    space = gymnasium.spaces.Box(-0.1, 0.1, (2,), np.float64)
    wide = adeu.Explorer(adeu.Constant(2.0), adeu.Identity(), adeu.Gaussian())
    agent = player(dataclasses.replace(SMALL, explorer=wide), Spaces(VECTOR, space))
    agent.begin(np.zeros(3, np.float32))
    reader = Reader(VECTOR, space)
    actions = [reader.action(agent.act(step, {}).action) for step in range(500, 600)]
    assert all(space.contains(action) for action in actions)
    assert max(np.abs(actions).ravel()) == 0.1


def test_with_overlap_decisions_lag_one_update_until_the_episode_ends():
    still = dataclasses.replace(SMALL, explorer=STILL, learning_rate=0.1)
    agents = [player(still, pendulum(), overlap=overlap) for overlap in (False, True)]
    rng, obs = np.random.default_rng(0), np.ones(3, np.float32)
    actions = [[], []]
    for agent in agents:
        agent.begin(obs)
        agent.act(0, {})
    for step in range(1, 59):
        action, reward = rng.uniform(-2, 2, 1).astype(np.float32), np.float32(rng.normal())
        for agent, taken in zip(agents, actions, strict=True):
            decision = adeu.Decision(action, True, 0.0, 0.0)
            agent.observe(adeu.Transition(obs, action, reward, obs, False, False), decision, step)
            taken.append(float(agent.act(step, {}).action[0]) if step >= 50 else 0.0)
    exact, older = actions
    for update in range(52, 59, 2):  # with overlap the agent still uses the update before
        assert older[update - 1] == exact[update - 3] != exact[update - 1]
    agents[1].begin(obs)
    assert float(agents[1].act(58, {}).action[0]) == exact[-1]


def test_f_gets_the_value_given_for_the_step():
    recorded = np.linspace(0, 1, 100)
    loop = make(OFFERED, steps=100, warmup=400, given={"recorded": recorded}, recorded=True)
    play(loop)
    assert loop.spreads == pytest.approx(0.2 * (1 - np.exp(-recorded)), abs=1e-6)


class Spaces:
    def __init__(self, observations, actions):
        self.observation_space, self.action_space = observations, actions


BOX, VECTOR = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Box(-np.inf, np.inf, (3,))


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (
            Spaces(VECTOR, gymnasium.spaces.Discrete(3)),
            r"Td3: action space takes a Box of one dimension, not empty, got Discrete",
        ),
        (Spaces(gymnasium.spaces.Dict(a=VECTOR), BOX), r"Td3: observation space takes a Box of one.*, got Dict"),
        (Spaces(VECTOR, gymnasium.spaces.Box(-np.inf, np.inf, (2,))), r"Td3: action space takes a bounded Box, got"),
        (Spaces(gymnasium.spaces.Box(0, 255, (8, 8), np.uint8), BOX), r"Td3: observation space takes a Box of one"),
    ],
)
def test_bad_spaces_are_rejected(env, message):
    with pytest.raises(ValueError, match=message):
        GymLoop(SMALL, env, env, steps=1_000, seed=0)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("critics", 1),
        ("tau", 0.0),
        ("hidden", ()),
        ("center", "greedy"),
        ("capacity", 2),
        ("policy_delay", 0),
        ("gamma", 1.1),
    ],
)
def test_bad_settings_are_rejected(argument, value):
    with pytest.raises(ValueError, match=f"Td3: {argument} takes"):
        dataclasses.replace(SMALL, **{argument: value})


def test_diverged_weights_are_reported():
    loop = make(OFFERED, steps=500, warmup=400, given={"recorded": np.zeros(500)})
    while loop.step < 400:
        loop.advance()
    arrays = loop.arrays()
    arrays["player/leaf_0"] = arrays["player/leaf_0"] * np.nan
    loop.restore(arrays)
    with pytest.raises(ValueError, match="Td3: training diverged: its networks are not finite"):
        loop.arrays()
    with pytest.raises(ValueError, match="Td3: training diverged: the greedy action is"):
        loop._player.exploit(np.zeros(3, np.float32), NOTHING)
    with pytest.raises(ValueError, match="Td3: training diverged: at step 401 the action is"):
        play(loop)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["constant", "rnd", "q-std"])
def test_it_learns_pendulum(kind, seed):
    explorer = {
        "constant": CONSTANT,
        "rnd": adeu.Explorer(adeu.Rollouts(adeu.Rnd(), 0.3, 0.2), RND.g, RND.D),
        "q-std": Q_STD,
    }
    sizes = {"hidden": (64, 64), "batch": 128, "capacity": 10_000, "critics": 5 if kind == "q-std" else 2}
    td3 = Td3(explorer[kind], learning_rate=1e-3, gamma=0.98, tau=0.02, **sizes)
    env, other = gymnasium.make("Pendulum-v1"), gymnasium.make("Pendulum-v1")
    loop = GymLoop(td3, env, other, 10_000, seed, warmup=1_000, evaluate_every=1_000, evaluate_episodes=10)
    returns = [row["return"] for row in play(loop)]
    print(f"{kind}, seed {seed}: {np.round(returns).astype(int).tolist()}")
    assert max(returns) > -200
