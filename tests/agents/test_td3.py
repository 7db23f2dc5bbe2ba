"""TD3 on Gymnasium environments: that it goes on bit for bit, learns, explores as it is told, and refuses misfits."""

import dataclasses

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import HostLoop, Td3, Td3Agent
from adeu.agents import actor_critic as nets
from adeu.agents.td3 import Acting, bound

CONSTANT = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
STILL = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Gaussian())
RND = adeu.Explorer(adeu.Rollouts(adeu.Rnd(hidden=(8,)), 0.3, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
Q_STD = adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(1.0), 0.1, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian())
SMALL = Td3(CONSTANT, hidden=(8,), batch=8, warmup=50, capacity=150)
BONUS = adeu.Rnd(hidden=(8,), scale=1.0)
NOISY = dataclasses.replace(SMALL, acting="noisy")
UCB = dataclasses.replace(SMALL, acting="ucb", critics=3, candidates=4)


def known(f):
    return adeu.Explorer(f, adeu.Saturating(0.2), adeu.Gaussian())


OFFERED = dataclasses.replace(SMALL, explorer=known(adeu.Recorded()), gated=True, warmup=400, capacity=450)
"""What most tests share, compiled once: its uncertainty is what they offer."""
SLOW = {
    "td-error-weighted": dataclasses.replace(
        SMALL, explorer=known(adeu.Rollouts(adeu.TdError(), 0.3, 0.2)), weighted=True
    ),
    "noisy-rnd-bonus": dataclasses.replace(NOISY, explorer=RND, bonus=BONUS),
    "ucb-q-std-gated": dataclasses.replace(UCB, explorer=Q_STD, gated=True),
}


def pendulum(limit=20):
    return gymnasium.make("Pendulum-v1", max_episode_steps=limit)


def make(td3=SMALL, steps=200, seed=0, offered=None, overlap=False, **settings):
    env = pendulum()
    agent = Td3Agent(td3, env, seed, offered, overlap=overlap)
    return HostLoop(agent, env, pendulum(), steps, seed, evaluate_every=100, evaluate_episodes=1, **settings)


def play(loop):
    rows = []
    while loop.step < loop.steps:
        rows += loop.advance()[0]
    return rows


@pytest.mark.parametrize("overlap", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["offered-gated", *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW)])
def test_saved_between_episodes_it_goes_on_bit_for_bit(kind, overlap):
    settings = {"td3": (SLOW | {"offered-gated": OFFERED})[kind], "steps": 600, "recorded": True, "overlap": overlap}
    settings["offered"] = {"recorded": np.random.default_rng(0).random(600)} if kind == "offered-gated" else None
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


def test_the_first_actions_are_uniform_and_the_rest_stay_near_the_policy():
    env = pendulum(400)
    agent = Td3Agent(OFFERED, env, 0, {"recorded": np.full(800, np.log(2))})  # a spread of 0.1
    obs, _ = env.reset(seed=0)
    agent.begin(obs)
    early = np.array([agent.act(step).action[0] for step in range(400)])
    assert abs(early.mean()) < 0.25
    assert np.std(early) == pytest.approx(4 / 12**0.5, rel=0.1)
    late = np.array([agent.act(step).action[0] for step in range(400, 800)])
    assert late.mean() == pytest.approx(agent.exploit(obs)[0], abs=0.04)
    assert np.std(late) == pytest.approx(0.1 * 2, rel=0.15)  # a spread counts in half ranges


@pytest.mark.slow
@pytest.mark.parametrize("td3", [UCB, NOISY], ids=["ucb", "noisy"])
def test_ucb_and_noisy_nets_leave_the_policy_by_themselves(td3):
    """Their center is not the policy's action, whatever the spread."""
    env = pendulum()
    agent = Td3Agent(dataclasses.replace(td3, explorer=STILL), env, 0)
    obs, _ = env.reset(seed=0)
    agent.begin(obs)
    decisions = [agent.act(step) for step in range(100, 120)]
    assert all(decision.spread == 0 for decision in decisions)
    assert np.mean([decision.explored for decision in decisions]) > 0.5
    assert len({float(decision.action[0]) for decision in decisions}) > 5
    assert agent.exploit(obs) == agent.exploit(obs)


def test_a_bonus_is_added_to_the_reward():
    env, key = pendulum(), jax.random.key(0)
    transition = adeu.Transition(np.zeros(3), np.zeros(1), 0.5, np.ones(3), True, False)
    _, rule = bound(dataclasses.replace(SMALL, bonus=BONUS), env.observation_space, env.action_space)
    learner = jax.jit(rule.init)(key, np.zeros(3))
    q = nets.values(learner.critics, np.zeros((1, 3)), np.zeros((1, 1)))
    measured, _ = jax.jit(BONUS.measure)(key, learner.bonus, (), np.ones(3))
    assert measured > 0
    expected = 0.5 + float(measured) - float(np.mean(q))
    assert float(jax.jit(rule.td_error)(key, learner, transition)) == pytest.approx(expected, rel=1e-4)


def test_a_bonus_learns_where_it_pays():
    _, rule = bound(dataclasses.replace(SMALL, bonus=BONUS), pendulum().observation_space, pendulum().action_space)
    learner = jax.jit(rule.init)(jax.random.key(0), np.zeros(3))
    nothing, no = np.zeros((2, 8), np.float32), np.zeros((2, 8), bool)
    places = np.arange(48, dtype=np.float32).reshape(2, 8, 3)
    batch = adeu.Transition(np.zeros_like(places), nothing[..., None], nothing, places, no, no)
    learned = jax.jit(rule.update)(jax.random.key(1), learner, batch, 0)
    assert np.asarray(learned.bonus.moments.mean) == pytest.approx(places.mean(axis=(0, 1)), rel=1e-4)


def test_ucb_takes_the_candidate_with_the_highest_bound():
    td3 = dataclasses.replace(UCB, explorer=STILL, candidates=16, candidate_spread=1.0, ucb=3.0)
    _, rule = bound(td3, pendulum().observation_space, pendulum().action_space)
    learner, obs = jax.jit(rule.init)(jax.random.key(0), np.zeros(3)), np.ones(3, np.float32)
    acting = Acting(learner.actor, learner.critics, learner.f)
    decide = jax.jit(jax.vmap(lambda key: rule.decide(key, acting, STILL.begin(key), obs, 10**6, {})[0].action))
    chosen = np.asarray(decide(jax.random.split(jax.random.key(1), 200))) / 2  # actions lie between -2 and 2
    tried = np.linspace(-1, 1, 201, dtype=np.float32)[:, None]

    def bounds(actions):
        q = np.asarray(nets.values(learner.critics, np.tile(obs, (len(actions), 1)), actions))
        return q.mean(axis=0) + 3.0 * q.std(axis=0)

    assert np.median(bounds(chosen)) > np.quantile(bounds(tried), 0.8)


def test_of_many_critics_the_lower_of_any_two_counts():
    td3 = dataclasses.replace(SMALL, critics=3)
    _, rule = bound(td3, pendulum().observation_space, pendulum().action_space)
    learner = jax.jit(rule.init)(jax.random.key(0), np.zeros(3))
    step = adeu.Transition(np.zeros(3), np.zeros(1), 0.5, np.ones(3), False, False)
    keys = jax.random.split(jax.random.key(1), 600)
    errors = np.asarray(jax.jit(jax.vmap(lambda key: rule.td_error(key, learner, step)))(keys))
    q = np.mean(nets.values(learner.critics, np.zeros((1, 3)), np.zeros((1, 1))))
    values = nets.values(learner.critics, np.ones((1, 3)), nets.policy(learner.actor, np.ones((1, 3))))
    lowest, middle, _ = np.sort(np.asarray(values)[:, 0])
    targets = (errors + q - 0.5) / td3.gamma
    assert ((np.abs(targets - lowest) < 1e-5) | (np.abs(targets - middle) < 1e-5)).all()
    assert np.mean(np.abs(targets - lowest) < 1e-5) == pytest.approx(2 / 3, abs=0.08)  # in two of three pairs


def test_what_is_known_enters_the_replay_by_its_uncertainty():
    env = pendulum(2_000)
    recorded = np.repeat([0.0, 0.0, 0.5, 50.0], 400)
    agent = Td3Agent(OFFERED, env, 3, {"recorded": recorded})
    agent.begin(env.reset(seed=0)[0])
    agent._update = lambda step: None  # it is about what there is to learn from
    added = [0]
    for step in range(1_600):
        agent.act(step)
        agent.observe(adeu.Transition(None, np.zeros(1), 0.0, np.full(3, step), False, False), step + 1)
        if step % 400 == 399:
            added.append(int(agent.arrays()["memory_added"]))
    warmup, certain, between, uncertain = np.diff(added)
    assert (warmup, certain, uncertain) == (400, 0, 400)
    share = 1 - np.exp(-0.5)
    assert between == pytest.approx(400 * share, abs=4 * np.sqrt(400 * share * (1 - share)))


def test_what_is_known_counts_less_in_the_losses():
    """With an f that knows half of a batch, nothing is learned from that half, whatever rollout episodes say."""
    env, key = pendulum(), jax.random.key(0)
    f = adeu.Rollouts(adeu.from_function(lambda obs: jnp.where(obs[0] > 0, 50.0, 0.0)), rho=1.0, c=0.0)
    td3 = dataclasses.replace(SMALL, explorer=known(f), weighted=True, policy_delay=1)
    _, rule = bound(td3, env.observation_space, env.action_space)
    learner, learn = jax.jit(rule.init)(key, np.zeros(3)), jax.jit(rule.learn)
    uncertain = np.arange(8)[None] % 2 == 1
    obs = np.random.default_rng(0).normal(size=(1, 8, 3)).astype(np.float32)
    obs[..., 0] = np.where(uncertain, 1.0, -1.0)
    nothing, no = np.zeros((1, 8), np.float32), np.zeros((1, 8), bool)
    batch = adeu.Transition(obs, nothing[..., None], nothing, obs, no, no)

    def learned(where, **changes):
        new = {
            name: np.where(where if value.ndim == 2 else where[..., None], value, getattr(batch, name))
            for name, value in changes.items()
        }
        return learn(key, learner, batch._replace(**new), nothing[..., None], 0)

    def differ(one, other):
        return [not np.array_equal(*both) for both in zip(*map(jax.tree.leaves, (one, other)), strict=True)]

    changes = {"reward": nothing + 9, "obs": (obs * [1, 5, 5]).astype(np.float32)}
    plain, known_changed, changed = learned(no), learned(~uncertain, **changes), learned(uncertain, **changes)
    assert not any(differ(plain, known_changed))
    assert any(differ(plain.critics_adam, changed.critics_adam))
    assert any(differ(plain.actor_adam, changed.actor_adam))


def test_remedies_need_a_largest_spread():
    for remedy in ("gated", "weighted"):
        with pytest.raises(ValueError, match=rf"Td3: {remedy} takes False with g=Identity\(\), which has no largest"):
            dataclasses.replace(SMALL, **{remedy: True})
    td3 = dataclasses.replace(SMALL, explorer=known(adeu.Constant(1.0)), gated=True)
    with pytest.raises(ValueError, match="Td3: gated takes False in a compiled loop, got True"):
        td3.fit(pendulum().observation_space, pendulum().action_space)


def test_parts_that_a_batch_cannot_ask():
    remembering = adeu.Calibrated(adeu.Rnd())
    with pytest.raises(ValueError, match="Td3: bonus takes an f that carries nothing from step to step, got Calib"):
        dataclasses.replace(SMALL, bonus=remembering)
    with pytest.raises(
        ValueError, match="Td3: bonus takes an f that learns from batches alone, such as Rnd, got Cou"
    ):
        dataclasses.replace(SMALL, bonus=adeu.Counts(3))
    with pytest.raises(ValueError, match="Td3: bonus takes an f that learns no costs from batches"):
        dataclasses.replace(SMALL, bonus=adeu.ExpectedCost())
    with pytest.raises(ValueError, match="Td3: weighted takes an f that carries nothing from step to step"):
        dataclasses.replace(SMALL, explorer=known(adeu.Rollouts(remembering, 0.3, 0.2)), weighted=True)
    costly = dataclasses.replace(SMALL, explorer=known(adeu.ExpectedCost()))
    with pytest.raises(ValueError, match="Td3: explorer takes an f that learns no costs from batches"):
        Td3Agent(costly, pendulum(), 0)


def test_actions_lie_within_a_space_of_another_type():
    """In float32 the bound 0.1 is a little more than it is in float64."""
    space = gymnasium.spaces.Box(-0.1, 0.1, (2,), np.float64)
    wide = adeu.Explorer(adeu.Constant(2.0), adeu.Identity(), adeu.Gaussian())
    agent = Td3Agent(dataclasses.replace(SMALL, explorer=wide), Spaces(VECTOR, space), 0)
    agent.begin(np.zeros(3))
    actions = [agent.act(step).action for step in range(500, 600)]
    assert all(space.contains(action) for action in actions)
    assert max(np.abs(actions).ravel()) == 0.1


def test_with_overlap_decisions_are_one_update_old_until_the_episode_ends():
    still = dataclasses.replace(SMALL, explorer=STILL, learning_rate=0.1)
    agents = [Td3Agent(still, pendulum(), 0, overlap=overlap) for overlap in (False, True)]
    rng, obs = np.random.default_rng(0), np.ones(3, np.float32)
    actions = [[], []]
    for agent in agents:
        agent.begin(obs)
    for step in range(1, 59):
        transition = adeu.Transition(obs, rng.uniform(-2, 2, 1), rng.normal(), obs, False, False)
        for agent, taken in zip(agents, actions, strict=True):
            agent.observe(transition, step)
            taken.append(float(agent.act(step).action[0]) if step >= 50 else 0.0)
    exact, older = actions
    for update in range(52, 59, 2):  # after an update the one acts by it, the other by that before
        assert older[update - 1] == exact[update - 3] != exact[update - 1]
    agents[1].begin(obs)
    assert float(agents[1].act(58).action[0]) == exact[-1]


def test_f_gets_what_is_offered_for_the_step():
    env = pendulum()
    agent = Td3Agent(OFFERED, env, 0, {"recorded": np.linspace(0, 1, 11)})
    agent.begin(env.reset(seed=0)[0])
    assert [round(float(agent.act(step).uncertainty), 6) for step in (0, 3, 10)] == [0.0, 0.3, 1.0]


class Spaces:
    def __init__(self, observations, actions):
        self.observation_space, self.action_space = observations, actions


BOX, VECTOR = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Box(-np.inf, np.inf, (3,))


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (
            Spaces(VECTOR, gymnasium.spaces.Discrete(3)),
            r"Td3: action space takes a Box of one dimension, got Discrete",
        ),
        (Spaces(gymnasium.spaces.Dict(a=VECTOR), BOX), r"Td3: observation space takes a Box of one.*, got Dict"),
        (Spaces(VECTOR, gymnasium.spaces.Box(-np.inf, np.inf, (2,))), r"Td3: action space takes a bounded Box, got"),
        (Spaces(gymnasium.spaces.Box(0, 255, (8, 8), np.uint8), BOX), r"Td3: observation space takes a Box of one"),
    ],
)
def test_spaces_that_do_not_fit(env, message):
    with pytest.raises(ValueError, match=message):
        Td3Agent(SMALL, env, 0)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("critics", 1),
        ("tau", 0.0),
        ("hidden", ()),
        ("acting", "greedy"),
        ("capacity", 2),
        ("warmup", 0),
        ("gamma", 1.1),
    ],
)
def test_settings_that_do_not_fit(argument, value):
    with pytest.raises(ValueError, match=f"Td3: {argument} takes"):
        dataclasses.replace(SMALL, **{argument: value})


def test_weights_that_are_not_finite_any_more_are_named():
    loop = make(OFFERED, steps=500, offered={"recorded": np.zeros(500)})
    while loop.step < 400:
        loop.advance()
    arrays = loop.arrays()
    arrays["agent/leaf_0"] = arrays["agent/leaf_0"] * np.nan
    loop.restore(arrays)
    with pytest.raises(ValueError, match="Td3Agent: training diverged: its networks are not finite"):
        loop.arrays()
    with pytest.raises(ValueError, match="Td3Agent: training diverged: the greedy action is"):
        loop.agent.exploit(np.zeros(3))
    with pytest.raises(ValueError, match="Td3Agent: training diverged: at step 401 the action is"):
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
    td3 = Td3(explorer[kind], learning_rate=1e-3, gamma=0.98, tau=0.02, warmup=1_000, **sizes)
    env, other = gymnasium.make("Pendulum-v1"), gymnasium.make("Pendulum-v1")
    loop = HostLoop(Td3Agent(td3, env, seed), env, other, 10_000, seed, evaluate_every=1_000, evaluate_episodes=10)
    returns = [row["return"] for row in play(loop)]
    print(f"{kind}, seed {seed}: {np.round(returns).astype(int).tolist()}")
    assert max(returns) > -200
