"""`FirstReturn` and `Returning` act as plain Go-Explore with the same random numbers."""

import dataclasses
import re
from typing import NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.agents import GymLoop, Td3, VectorLoop
from adeu.agents.jax_loop import JaxLoop
from adeu.agents.rehearsal import rehearse
from adeu.envs import JaxPointMaze, Lake, Sea, deep_sea_mdp, lake_mdp
from adeu.tabular import lower
from adeu.tabular.f_forms import Scene, Seen, begin, measure, observe
from adeu.tabular.stream import streams
from tests.go_explore import GoExplore, Replayed

LAKE, SEA = lake_mdp(Lake(size=5, back_cost=1.0)), deep_sea_mdp(Sea(size=5, actions="shuffled"))
KEY = jax.random.key(3)


class Machine:
    """An explorer in a tabular MDP, with its functions compiled once."""

    def __init__(self, mdp, mean=3.0, longest=12, by="replay"):
        self.mdp, self.actions = mdp, mdp.reward.shape[1]
        explorer = adeu.recipes.go_explore(len(mdp.reward), longest=longest, by=by, mean=mean)
        self.act, self.observe = jax.jit(explorer.act), jax.jit(explorer.observe)
        self.begin, self.exploit = jax.jit(explorer.begin), jax.jit(explorer.exploit)
        self.state = explorer.init(KEY, 0)

    def step(self, s, action):
        k = (s, action)
        return float(self.mdp.reward[k]), int(self.mdp.next_state[k]), bool(self.mdp.terminal[k])

    def learn(self, *step):
        self.state = self.observe(self.state, adeu.Transition(*step))


@jax.jit
def due_in_begin(key):
    return jax.random.uniform(jax.random.split(key)[0])


def due_in_act(key, num_actions):
    key_D = jax.random.split(jax.random.split(key)[1])[0]
    _, key_keep, key_action = jax.random.split(key_D, 3)
    return jax.random.uniform(key_keep), jax.random.categorical(key_action, jnp.zeros(num_actions))


@pytest.mark.parametrize("mdp", [LAKE, SEA], ids=["lake", "shuffled sea"])
def test_it_acts_as_plain_go_explore_with_the_same_random_numbers(mdp):
    machine, draws = Machine(mdp), Replayed()
    plain, due = GoExplore(3.0, draws), jax.jit(due_in_act, static_argnums=1)
    returned, explored = 0, 0
    for episode in range(60):
        key_begin = jax.random.fold_in(KEY, 1000 + episode)
        carry = machine.begin(key_begin)
        draws.now["coin"] = float(due_in_begin(key_begin))
        plain.begin()
        s = mdp.start
        for number in range(12):
            key = jax.random.fold_in(KEY, 10**5 + 100 * episode + number)
            decision, carry = machine.act(key, machine.state, carry, s, jnp.zeros(machine.actions))
            draws.now["keep"], draws.now["action"] = map(float, due(key, machine.actions))
            theirs, explores = plain.act()
            assert (int(decision.action), bool(decision.explored)) == (int(theirs), explores)
            assert float(decision.spread) == explores
            returned, explored = returned + (not explores), explored + explores
            reward, after, terminated = machine.step(s, int(decision.action))
            machine.learn(s, int(decision.action), reward, after, terminated, number == 11)
            plain.observe(s, int(decision.action), reward, after, terminated)
            if terminated:
                break
            s = after
    assert returned > 50
    assert explored > 50
    known = np.flatnonzero(np.asarray(machine.state.f.length) >= 0)
    assert known.tolist() == sorted(plain.archive)
    assert len(known) > 5
    for cell, (_, way) in plain.archive.items():
        assert machine.state.f.actions[cell, : len(way)].tolist() == way


BINS, LIMIT = 4, 30


def plain_cell(place):
    """The number of a cell of the maze: columns first."""
    column, row = (min(int((number + 1) / 2 * BINS), BINS - 1) for number in place)
    return column + BINS * row


class Maze:
    """The point maze, with an explorer that is bound to it."""

    def __init__(self, by="replay", mean=3.0):
        self.env = JaxPointMaze(LIMIT)
        explorer = adeu.recipes.go_explore(bins=BINS, longest=LIMIT, by=by, mean=mean)
        self.explorer = explorer.bind(self.env.observation_space(), self.env.action_space())
        self.act, self.observe = jax.jit(self.explorer.act), jax.jit(self.explorer.observe)
        self.begin, self.exploit = jax.jit(self.explorer.begin), jax.jit(self.explorer.exploit)
        self.reset, self.step = (
            jax.jit(f, static_argnames="params") for f in (self.env.reset_env, self.env.step_env)
        )
        self.state = self.explorer.init(KEY, jnp.zeros(2))

    @property
    def archive(self):
        return self.state.f[0]


@jax.jit
def due_in_begin_of_cells(key):
    return jax.random.uniform(jax.random.split(jax.random.split(key)[0], 1)[0])


@jax.jit
def due_in_box(key):
    key_D = jax.random.split(jax.random.split(key)[1])[0]
    _, key_keep, key_action = jax.random.split(key_D, 3)
    return jax.random.uniform(key_keep), jax.random.uniform(key_action, (2,), minval=-1.0)


class Played(NamedTuple):
    maze: Maze
    plain: GoExplore
    ours: list[tuple[tuple[float, ...], bool, float]]
    theirs: list[tuple[tuple[float, ...], bool, float]]


@pytest.fixture(scope="module")
def played():
    """Some episodes by both, each with the actions of ours."""
    maze, draws, ours, theirs = Maze(), Replayed(), [], []
    plain = GoExplore(3.0, draws)
    for episode in range(40):
        key_begin = jax.random.fold_in(KEY, 1000 + episode)
        carry = maze.begin(key_begin)
        draws.now["coin"] = float(due_in_begin_of_cells(key_begin))
        plain.begin()
        obs, place = maze.reset(key_begin, params=None)
        for number in range(LIMIT):
            key = jax.random.fold_in(KEY, 10**5 + 100 * episode + number)
            decision, carry = maze.act(key, maze.state, carry, obs, jnp.zeros(2))
            keep, action = due_in_box(key)
            draws.now["keep"], draws.now["action"] = float(keep), tuple(action.tolist())
            taken, explores = plain.act()
            ours.append((tuple(decision.action.tolist()), bool(decision.explored), float(decision.spread)))
            theirs.append((taken, explores, float(explores)))
            after, place, reward, terminated, _ = maze.step(key, place, decision.action, params=None)
            step = adeu.Transition(obs, decision.action, reward, after, terminated, number == LIMIT - 1)
            maze.state = maze.observe(maze.state, step)
            plain.observe(plain_cell(obs.tolist()), taken, float(reward), plain_cell(after.tolist()), False)
            obs = after
    return Played(maze, plain, ours, theirs)


def test_in_the_point_maze_it_acts_as_plain_go_explore_with_the_same_random_numbers(played):
    assert played.ours == played.theirs
    explored = sum(each[1] for each in played.ours)
    assert min(explored, len(played.ours) - explored) > 200
    archive = played.maze.archive
    known = np.flatnonzero(np.asarray(archive.length) >= 0)
    assert known.tolist() == sorted(played.plain.archive)
    assert len(known) > 10
    for cell, (_, way) in played.plain.archive.items():
        assert list(map(tuple, archive.actions[cell, : len(way)].tolist())) == way


def test_where_starts_differ_a_replayed_way_ends_near_its_cell(played):
    """The point of a displaced start stays as far away, but for walls."""
    maze = played.maze
    far = int(np.argmax(np.where(np.asarray(maze.archive.score) == 0, maze.archive.length, -1)))
    length = int(maze.archive.length[far])
    ends = []
    for number in range(10):
        obs, place = maze.reset(jax.random.key(number), params=None)
        for action in maze.archive.actions[far, :length]:
            obs, place, *_ = maze.step(KEY, place, action, params=None)
        ends.append(obs)
    low = -1 + 2 / BINS * np.array([far % BINS, far // BINS])
    outside = np.maximum(0, np.maximum(low - np.array(ends), np.array(ends) - low - 2 / BINS))
    assert np.ptp(ends, axis=0).max() > 0
    assert outside.max() <= 0.1


def test_a_spread_of_zero_is_the_policy_in_the_maze(played):
    maze = played.maze
    center, carry = jnp.array([0.3, -0.7]), maze.begin(KEY)
    greedy = maze.exploit(KEY, maze.state, carry, jnp.zeros(2), center)
    np.testing.assert_array_equal(greedy.action, center)
    D = maze.explorer.D
    action, explored, carry = D.sample(KEY, (), carry.D, center, 0.0)
    np.testing.assert_array_equal(action, center)
    assert not explored
    assert not carry.explored


def test_in_a_box_the_agent_may_find_the_way(played):
    machine = Maze(by="agent")
    machine.state = played.maze.state
    carry, obs = machine.begin(jax.random.key(4)), jnp.array([-0.75, -0.55])
    ways = np.random.default_rng(0).uniform(-1, 1, (BINS**2, 2)).astype(np.float32)
    decision, carry = machine.act(KEY, machine.state, carry, obs, jnp.zeros(2), goal_preferences=ways)
    assert int(carry.f[0].goal) != plain_cell(obs.tolist())
    np.testing.assert_array_equal(decision.action, ways[int(carry.f[0].goal)])
    inside = -1 + 2 / BINS * (np.array([carry.f[0].goal % BINS, carry.f[0].goal // BINS]) + 0.5)
    decision, _ = machine.act(KEY, machine.state, carry, jnp.asarray(inside), jnp.zeros(2), goal_preferences=ways)
    assert decision.explored


def test_the_archive_keeps_the_highest_return_and_then_the_fewest_actions():
    machine = Machine(SEA, longest=3)
    # 0 -> 1 in one step of return 0, in two steps of return 1, then in three steps of return 1
    for way in ([(0, 0, 0.0, 1)], [(0, 1, 1.0, 2), (2, 1, 0.0, 1)]):
        for place, step in enumerate(way):
            machine.learn(*step, False, place == len(way) - 1)
    assert (int(machine.state.f.length[1]), float(machine.state.f.score[1])) == (2, 1.0)
    for place, step in enumerate([(0, 1, 1.0, 2), (2, 0, 0.0, 2), (2, 1, 0.0, 1), (1, 0, 0.0, 3)]):
        machine.learn(*step, False, place == 3)
    assert int(machine.state.f.length[1]) == 2
    assert int(machine.state.f.length[3]) == -1  # more actions than `longest`
    machine.learn(0, 1, 9.0, 4, True, False)
    assert int(machine.state.f.length[4]) == -1  # terminal cells are not stored
    assert int(machine.state.f.length[0]) == 0


def test_rarely_visited_cells_are_chosen_more_often():
    f = adeu.FirstReturn(num_states=3)
    state = f.init(KEY, 0)._replace(length=jnp.array([0, 1, -1]), visits=jnp.array([8, 0, 0]))
    carry = jax.vmap(f.begin)(jax.random.split(KEY, 4000))
    _, carry = jax.vmap(lambda carry: f.measure(KEY, state, carry, 0))(carry)
    # weights 1/sqrt(9) and 1: a quarter; three standard errors are 0.02
    np.testing.assert_allclose(np.bincount(carry.goal, minlength=3) / 4000, [0.25, 0.75, 0.0], atol=0.021)


def test_the_agent_may_return_by_its_preferences():
    machine = Machine(LAKE, by="agent")
    right = LAKE.reward.argmax(axis=1)
    for s in range(4):  # the archive: cells 0 .. 4
        machine.learn(s, int(right[s]), 0.0, s + 1, False, s == 3)
    rows = np.eye(4, dtype=np.float32)
    arrivals = 0
    for episode in range(8):
        carry = machine.begin(jax.random.fold_in(KEY, episode))
        for s in range(6):  # the way from 0 to 1, 2, ...
            preferences = np.tile(rows[right[s]], (len(LAKE.reward), 1))
            key = jax.random.fold_in(KEY, 100 * episode + s)
            decision, carry = machine.act(key, machine.state, carry, s, jnp.zeros(4), goal_preferences=preferences)
            goal = int(carry.f.goal)
            assert bool(decision.explored) == (s >= goal)
            if s == goal:
                arrivals += goal > 0
                break
            assert decision.action == right[s]
    assert arrivals > 3


def test_exploit_does_not_return_to_a_cell():
    machine = Machine(LAKE)
    right = LAKE.reward.argmax(axis=1)
    for s in range(6):
        machine.learn(s, int(right[s]), 0.0, s + 1, False, s == 5)
    carry, other = machine.begin(KEY), (int(right[0]) + 1) % 4
    for _ in range(3):
        decision = machine.exploit(KEY, machine.state, carry, 0, jnp.eye(4)[other])
        assert decision.action == other


def test_a_guard_without_its_f_is_rejected():
    explorer = adeu.Explorer(adeu.Constant(1.0), adeu.Identity(), adeu.Sticky(), adeu.Returning())
    with pytest.raises(TypeError, match="Returning: f must be FirstReturn"):
        explorer.act(KEY, explorer.init(KEY, 0), explorer.begin(KEY), 0, jnp.zeros(3))


def test_a_behavior_returns_to_cells_and_requires_goal_preferences():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    behavior = adeu.Behavior(adeu.recipes.go_explore(longest=20, mean=2.0), env)
    obs, _ = env.reset(seed=0)
    for _ in range(150):
        decision = behavior.act(obs, center=np.zeros(4))
        after, reward, terminated, truncated, _ = env.step(int(decision.action))
        behavior.observe(adeu.Transition(obs, decision.action, reward, after, terminated, truncated))
        if not decision.explored:
            assert after in np.flatnonzero(np.asarray(behavior.state.f.length) >= 0)
        obs = env.reset()[0] if terminated or truncated else after
    assert np.count_nonzero(np.asarray(behavior.state.f.length) >= 0) > 5
    other = adeu.Behavior(adeu.recipes.go_explore(by="agent"), env)
    with pytest.raises(TypeError, match="goal_preferences"):
        other.act(0, center=np.zeros(4))
    other.act(0, center=np.zeros(4), goal_preferences=np.zeros((16, 4)))


def test_several_environments_are_rejected():
    f = adeu.Rollouts(adeu.FirstReturn(), rho=0.1, c=0.5)
    explorer = adeu.Explorer(f, adeu.Identity(), adeu.Sticky(), adeu.Returning())
    with pytest.raises(ValueError, match=r"env takes one environment, .* got '2 of them'"):
        adeu.Behavior(explorer, gymnasium.make_vec("FrozenLake-v1", 2))
    adeu.Behavior(explorer, gymnasium.make("FrozenLake-v1"))


def test_cells_may_be_hyper_states():
    groups = [0, 0, 1, 1]
    f = adeu.HyperStates(adeu.FirstReturn(2, longest=5), groups)
    explorer = adeu.Explorer(f, adeu.Identity(), adeu.Sticky(), adeu.Returning())
    state = explorer.init(KEY, 0)
    state = explorer.observe(state, adeu.Transition(1, 2, 0.0, 3, False, True))
    assert state.f[0].length.tolist() == [0, 1]
    carry = explorer.begin(KEY)
    begun = carry.f[0]._replace(coin=jnp.asarray(0.99))
    decision, _ = explorer.act(KEY, state, carry._replace(f=(begun,)), 0, jnp.zeros(3))
    assert (int(decision.action), float(decision.uncertainty)) == (2, 0.0)


def test_the_tabular_form_agrees():
    f = adeu.FirstReturn(len(LAKE.reward), longest=10)
    model = tabular.from_mdp(LAKE)
    form, state, stream, rng = lower(f, model), f.init(KEY, 0), streams(0, 1)[0], np.random.default_rng(0)
    act, learn, start = jax.jit(f.measure), jax.jit(f.observe), jax.jit(f.begin)
    for episode in range(40):
        with np.errstate(over="ignore"):
            begin(form, stream)
        carry, s = start(jax.random.fold_in(KEY, episode)), LAKE.start
        form.coin[0] = float(carry.coin)
        for number in range(12):
            at = Scene(s, number, np.zeros(4), np.zeros((1, 1, 4)), np.zeros(1, np.int64), stream)
            uncertainty, carry = act(KEY, state, carry, s)
            assert measure(form, at) == float(uncertainty)
            assert form.advice[0] == (-1 if uncertainty else int(carry.action))
            a = int(rng.integers(4)) if uncertainty else int(carry.action)
            reward, after, ends = float(LAKE.reward[s, a]), int(LAKE.next_state[s, a]), bool(LAKE.terminal[s, a])
            observe(form, at, Seen(a, reward, after, ends, 0.0), 0.0)
            state = learn(state, adeu.Transition(s, a, reward, after, ends, number == 11))
            if ends:
                break
            s = after
    np.testing.assert_array_equal(form.length, state.length)
    np.testing.assert_array_equal(form.visits, state.visits)
    assert (form.length > 2).any()


def test_parts_without_a_tabular_form_are_rejected():
    model = tabular.from_mdp(LAKE)
    with pytest.raises(
        TypeError, match=r"FirstReturn.* has no tabular form except with by='replay' in a deterministic"
    ):
        tabular.QLearning(adeu.recipes.go_explore(by="agent")).job(model, episodes=1, max_steps=5, seed=0)
    explorer = adeu.Explorer(adeu.Constant(1.0), adeu.Identity(), adeu.Sticky(), adeu.Returning())
    with pytest.raises(TypeError, match=r"Returning.* has no tabular form except with"):
        tabular.QLearning(explorer).job(model, episodes=1, max_steps=5, seed=0)


TINY = Td3(adeu.recipes.go_explore(bins=4, longest=100), hidden=(8,), batch=8, capacity=600)


def point_maze():
    return gymnasium.make("adeu/PointMaze-v0")


def test_every_loop_rejects_an_agent_that_does_not_find_the_way_before_training():
    agent = dataclasses.replace(TINY, explorer=adeu.recipes.go_explore(by="agent", bins=4))
    takes = (
        "Td3: explorer takes parts that need no goal_preferences in act(): the agent does not provide it "
        "(agents that do: none of adeu's; Behavior.act takes it from your loop), got Explorer"
    )
    for make in (
        lambda: GymLoop(agent, point_maze(), point_maze(), 1_000, 0),
        lambda: VectorLoop(agent, gymnasium.make_vec("adeu/PointMaze-v0", 1), point_maze(), 1_000),
        lambda: JaxLoop(agent, JaxPointMaze()),
        lambda: rehearse(agent, point_maze().observation_space, point_maze().action_space),
    ):
        with pytest.raises(ValueError, match=re.escape(takes)):
            make()


def archived(state):
    """Three episodes of 100 steps are in the archive."""
    archive, length = state.f[0], np.asarray(state.f[0].length)
    assert np.count_nonzero(length == 0) == 1  # all starts lie in one cell
    assert np.count_nonzero(length > 0) > 3
    assert length.max() <= 100
    assert int(archive.visits.sum()) == 300
    assert np.abs(archive.actions[int(length.argmax()), : length.max()]).max() <= 1


def test_td3_returns_and_explores_in_the_compiled_loop():
    loop = JaxLoop(TINY, JaxPointMaze(), warmup=100, evaluate_every=300)
    state, piece = loop.advance(loop.init(0))
    archived(state.learned.explorer)
    assert 0.4 < float(piece.explored) < 1  # the warm-up, and what follows a return


def test_td3_returns_and_explores_in_gymnasium():
    loop = GymLoop(TINY, point_maze(), point_maze(), 300, 0, warmup=100, evaluate_every=300, evaluate_episodes=1)
    rows = [row for _ in range(3) for row in loop.advance()[0]]
    archived(loop._player._learned.explorer)
    assert 0.4 < rows[-1]["explored"] < 1


def test_without_cells_a_box_is_refused():
    with pytest.raises(
        ValueError, match=r"FirstReturn: observation space takes a Discrete space \(for a Box, use Cells"
    ):
        adeu.Behavior(adeu.recipes.go_explore(), point_maze())
    with pytest.raises(ValueError, match="go_explore: num_states takes None where bins make the cells, got 9"):
        adeu.recipes.go_explore(9, bins=3)
    with pytest.raises(ValueError, match=r"FirstReturn: action_shape takes the action space's \(2,\), got \(3,\)"):
        adeu.FirstReturn(action_shape=(3,), num_states=4).bind(None, point_maze().action_space)
    many = gymnasium.spaces.MultiDiscrete([2, 2])
    with pytest.raises(ValueError, match="FirstReturn: action space takes a Discrete space or a Box, got Multi"):
        adeu.FirstReturn(4).bind(None, many)
    with pytest.raises(ValueError, match="Returning: action space takes a Discrete space or a Box, got Multi"):
        adeu.Returning().bind(None, many)
