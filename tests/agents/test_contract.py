"""The same tests for every agent, alone and in every loop."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu import agents
from adeu.agents import Agent, GymLoop, JaxLoop, VectorLoop
from adeu.agents.compiling import ACT, at, own
from adeu.agents.jax_loop import _compile
from adeu.behavior.storage import arrays_of, tree_of
from tests.agents.table import CASES, ENVS, POLE, Case, choosing, decision_of, live

STEP, NO = np.int32(7), np.bool_(False)
STEPS = 4
COMPILED = ("dqn-sampled", "dqn-ucb", "dqn-rows", "td3-policy", "td3-gated", "sac-sample")
"""One agent for each branch of the compiled loop, which runs them; the others are only traced."""


@pytest.fixture(scope="module", params=CASES)
def name(request):
    """Parametrize by module, so that all tests of an agent share its compiled functions."""
    return request.param


@pytest.fixture(scope="module")
def case(name):
    return CASES[name]


@pytest.fixture(scope="module")
def jax_loop(case):
    return JaxLoop(case.agent, case.world.in_jax, evaluate_every=STEPS, evaluate_episodes=1, evaluate_steps=9)


def same(one, other) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def close(one, other) -> None:
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def form(tree):
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(np.shape(leaf), jnp.result_type(leaf)) for leaf in leaves]


def test_every_exported_agent_is_in_the_table():
    exported = (getattr(agents, name) for name in agents.__all__)
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Agent)} - {Agent}
    assert kinds == {type(case.agent) for case in CASES.values()}


def test_an_agent_is_an_immutable_value(case):
    for agent in (case.agent, case.bound):
        twin = agent.bind(*bound_spaces(case)) if agent.spaces else dataclasses.replace(agent)
        assert twin is not agent
        assert twin == agent
        assert hash(twin) == hash(agent)
        assert dataclasses.replace(agent, capacity=64) != agent
    assert len({other.agent for other in CASES.values()}) == len(CASES)


def bound_spaces(case):
    env = case.world.make()
    return env.observation_space, env.action_space


def test_json_round_trip(case):
    assert adeu.from_json(adeu.to_json(case.agent)) == case.agent
    assert adeu.to_json(case.bound) != ""


def test_bind_fills_the_spaces_of_a_new_agent(case):
    bound = case.bound
    assert bound.sized == bound.spaces
    assert bound.spaces.actions == 2 if hasattr(bound_spaces(case)[1], "n") else bound.spaces.low == (-2.0,)
    assert case.agent.spaces is None
    assert bound != case.agent
    assert dataclasses.replace(bound) == dataclasses.replace(bound.bind(*bound_spaces(case)))
    assert bound.explorer == case.agent.explorer.bind(*bound_spaces(case))


def test_an_unbound_agent_is_rejected(case):
    message = rf"{type(case.agent).__name__} is not bound yet: call bind\(observation_space, action_space\)"
    with pytest.raises(ValueError, match=message):
        case.agent.init(jax.random.key(0), np.zeros(3))


def test_compiled_and_eager_decisions_are_equal(name):
    life = live(name)
    acting, obs = life.agent.acting(life.learned), life.transitions[1].obs
    args = life.key, acting, life.carry, obs, STEP, NO, {}
    decided = life.run.decide(*args)
    assert same(decided, life.run.decide(*args))  # the same key gives the same decision
    close(decided, life.agent.decide(at(life.key, ACT, STEP), acting, life.carry, jnp.asarray(obs), STEP, NO))


def test_decisions_in_a_batch_equal_those_in_a_loop(name):
    life = live(name)
    acting = life.agent.acting(life.learned)
    obs = np.stack([life.transitions[env + 1].obs for env in range(ENVS)])
    real = np.array([True] * (ENVS - 1) + [False])
    together = life.together.decide(life.key, acting, life.carries, obs, STEP, NO, real, {})
    keys = jax.random.split(at(life.key, ACT, STEP), ENVS)
    for env in range(ENVS):
        carry = jax.tree.map(lambda leaf, env=env: leaf[env], life.carries)
        alone, after = life.agent.decide(keys[env], acting, carry, jnp.asarray(obs[env]), STEP, NO)
        mine = jax.tree.map(lambda leaf, env=env: leaf[env], together)
        close(mine, (alone, after if real[env] else carry))


def test_decide_reads_only_what_acting_returns(name):
    life = live(name)
    read = {id(leaf) for leaf in jax.tree.leaves(life.agent.acting(life.learned))}
    left = [leaf for leaf in jax.tree.leaves(life.learned) if id(leaf) not in read]
    assert left
    broken = jax.tree.map(
        lambda leaf: leaf if id(leaf) in read else jnp.full_like(leaf, jnp.nan if leaf.dtype == float else 99),
        life.learned,
    )
    obs = life.transitions[1].obs
    decided, other = (
        life.run.decide(life.key, life.agent.acting(learned), life.carry, obs, STEP, NO, {})
        for learned in (life.learned, broken)
    )
    assert same(decided, other)
    assert np.isfinite(decided[0].action).all()


def test_a_row_is_the_same_in_numpy_and_in_jax(name):
    life = live(name)
    coins = np.random.default_rng(1).random(life.agent.coins).astype(np.float32) if life.agent.coins else None
    for transition in life.transitions[:3]:
        decision = decision_of(transition)
        row, enters = life.agent.row(coins, transition, decision)
        in_jax, enters_jax = life.agent.row(*jax.tree.map(jnp.asarray, (coins, transition, decision)))
        assert form(row) == form(in_jax)
        close(row, in_jax)
        assert bool(enters) == bool(enters_jax)
        assert np.array_equal(row.obs, transition.obs)
        assert np.array_equal(row.next_obs, transition.next_obs)


def test_learned_state_keeps_its_structure(name):
    life, key = live(name), jax.random.key(0)
    learned, agent = life.learned, life.agent
    absorbed = jax.eval_shape(agent.absorb, key, learned, life.transitions[0], STEP)
    taught = jax.eval_shape(life.run.learn, life.key, learned, *life.batches, STEP)
    for after in (absorbed, taught, jax.eval_shape(agent.sync, learned)):
        assert form(after) == form(life.start)
    assert form(learned) == form(life.start)
    assert not same(learned, life.start)
    assert CASES[name].updates(learned) == CASES[name].updates(life.start) + agent.cadence.updates


def test_learning_does_not_change_the_carry(name):
    """Even though the compiled functions donate the learned state."""
    life = live(name)
    carry, learned = own(life.carry), own(life.learned)
    before = jax.device_get(carry)
    learned = life.run.absorb(life.key, learned, life.transitions[1], STEP)
    learned = life.run.sync(life.run.learn(life.key, own(learned), *life.batches, STEP))
    assert same(carry, before)
    again = life.run.begin(life.key, np.int32(1), carry)
    assert form(again) == form(life.carry)


def train_with_gymnasium(case: Case):
    """Yield the learned state after a few steps, and the greedy return, for each loop in Gymnasium."""
    lengths = {"evaluate_every": STEPS, "evaluate_episodes": 1}
    make, agent = case.world.make, case.agent
    gym_loop, rows = GymLoop(agent, make(), make(), STEPS, seed=0, **lengths), []
    while gym_loop.step < STEPS:
        rows += gym_loop.advance()[0]
    yield gym_loop._player._learned, rows[-1]["return"]
    vector_loop = VectorLoop(agent, case.world.vector(), make(), STEPS, **lengths)
    rows = vector_loop.run()
    yield vector_loop._learned, rows[-1]["return"]


def train_in_jax(loop):
    state, piece = loop.advance(loop.init(0))
    return state.learned, float(piece.evaluation)


def test_every_loop_trains_every_agent(name, case, jax_loop):
    """All loops make the same number of updates."""
    life, (update_every, updates, _) = live(name), case.agent.cadence
    trained = list(train_with_gymnasium(case))
    if name in COMPILED:
        trained.append(train_in_jax(jax_loop))
    for learned, returned in trained:
        assert form(learned) == form(life.learned)
        assert case.updates(learned) == STEPS // update_every * updates
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(learned))
        assert np.isfinite(returned)


def test_the_compiled_loop_keeps_the_structure_of_its_state(jax_loop):
    functions = _compile(jax_loop)
    state = jax.eval_shape(functions.init, np.uint32(0))
    after, piece = jax.eval_shape(functools.partial(functions.advance, given={}, early=0), state)
    assert form(after) == form(state)
    assert piece.spreads.shape == (STEPS,)


def test_a_restored_loop_gives_the_same_bits(name, case, jax_loop):
    """In the two loops that can be saved; the Gymnasium loop between two episodes."""
    make = case.world.make

    def start():
        return GymLoop(case.agent, make(), make(), 40, seed=0, evaluate_every=20, evaluate_episodes=1)

    whole, restored, rows = start(), start(), []
    rows += whole.advance()[0]
    restored.restore(whole.arrays())
    again = list(rows)
    for loop, found in ((whole, rows), (restored, again)):
        while loop.step < loop.steps:
            found += loop.advance()[0]
    assert rows == again
    assert same(tuple(whole.arrays().values()), tuple(restored.arrays().values()))

    if name in COMPILED:
        state, _ = jax_loop.advance(jax_loop.init(0))
        saved = tree_of(arrays_of(state), jax_loop.init(1))
        for ours, theirs in zip(*(jax.tree.leaves(jax_loop.advance(each)) for each in (state, saved)), strict=True):
            assert np.array_equal(ours, theirs, equal_nan=True)


def loops(agent, world, **gym):
    """Return a function for each loop that creates it."""
    make, lengths = world.make, {"evaluate_every": 10}
    return {
        "gym": lambda: GymLoop(agent, make(), make(), 10, 0, **lengths, **gym),
        "vector": lambda: VectorLoop(agent, world.vector(), make(), 10, **lengths),
        "jax": lambda: JaxLoop(agent, world.in_jax, **lengths),
    }


def test_an_explorer_that_needs_more_is_rejected_before_anything_compiles(case, caplog):
    explorer = dataclasses.replace(case.agent.explorer, f=adeu.Recorded())
    agent = dataclasses.replace(case.agent, explorer=explorer)
    takes = (
        r"explorer takes parts that need no recorded in act\(\): the agent does not provide it "
        r"\(agents that do: none of adeu's; Behavior\.act takes it from your loop\), got Explorer"
    )
    with jax.log_compiles():
        for make in loops(agent, case.world).values():
            with pytest.raises(ValueError, match=f"{type(agent).__name__}: {takes}"):
                make()
        loops(agent, case.world, given={"recorded": np.zeros(10)})["gym"]()  # the loop provides it
    assert "Compiling" not in caplog.text


@dataclasses.dataclass(frozen=True)
class Moody(adeu.Bernoulli):
    def sample(self, key, state, carry, center, spread, action_mask=None, *, mood, **given):
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Strict(adeu.Guard):
    def __call__(self, state, carry, obs, uncertainty, **given):
        raise NotImplementedError

    def update(self, state, batch, *, grade, **given):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("part", "missing"), [({"D": Moody()}, r"mood in act\(\)"), ({"guard": Strict()}, r"grade in update\(\)")]
)
def test_a_distribution_or_guard_that_needs_more_is_rejected(part, missing):
    agent = choosing(adeu.Constant(0.5))
    agent = dataclasses.replace(agent, explorer=dataclasses.replace(agent.explorer, **part))
    for make in loops(agent, POLE).values():
        with pytest.raises(ValueError, match=f"Dqn: explorer takes parts that need no {missing}"):
            make()
