"""`LearnedLengths` equals plain TempoRL and UTE, given the same random numbers."""

import functools

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, GymLoop
from tests.repeating import Repeater, skip_values

STATES, ACTIONS, LONGEST, STEPS, EPSILON = 6, 3, 4, 2000, 0.2
EXPLORERS = {
    "TempoRL": adeu.recipes.tempo_rl(EPSILON, LONGEST, gamma=0.9),
    "UTE": adeu.recipes.ute(EPSILON, -0.5, LONGEST, gamma=0.9, heads=5),
    "UTE-optimistic": adeu.recipes.ute(EPSILON, 2.0, LONGEST, gamma=0.9, heads=5),
}


def world():
    """Return a random MDP (next state, reward and end of each state and action) and a Q table."""
    random = np.random.default_rng(0)
    shape = STATES, ACTIONS
    reward, q = (random.normal(size=shape).astype(np.float32) for _ in range(2))
    return random.integers(STATES, size=shape), reward, random.uniform(size=shape) < 0.1, q.round(1)


def bound(explorer):
    return explorer.bind(gymnasium.spaces.Discrete(STATES), gymnasium.spaces.Discrete(ACTIONS))


@functools.partial(jax.jit, static_argnames="explorer")
def behave(explorer, state, keys):
    following, reward, terminal, q = map(jnp.asarray, world())

    def step(before, key):
        learned, carry, s = before
        made, carry = explorer.act(key, learned, carry, s, q[s])
        a = made.action
        transition = adeu.Transition(s, a, reward[s, a], following[s, a], terminal[s, a], False)
        ended = terminal[s, a]
        carry = jax.tree.map(lambda new, old: jnp.where(ended, new, old), explorer.begin(key, carry), carry)
        after = explorer.observe(learned, transition), carry, jnp.where(ended, 0, following[s, a])
        return after, (a, made.explored, learned.D.key)

    start = state, explorer.begin(jax.random.key(0)), jnp.zeros((), int)
    (learned, _, _), rows = jax.lax.scan(step, start, keys)
    return learned.D.values, *rows


@functools.partial(jax.jit, static_argnames="heads")
def draws(keys, masks, heads):
    """Return the draws of D for the key of each step, and for the key in its state."""

    single = jnp.log(True).dtype  # the dtype of the draws in `choose`

    def one(key, mask):
        coin, action, other, length = jax.random.split(jax.random.split(key)[1], 4)
        numbers = jax.random.uniform(coin), jax.random.uniform(other)
        numbers += jax.random.gumbel(action, (ACTIONS,), single), jax.random.gumbel(length, (LONGEST,), single)
        return numbers, jax.random.uniform(jax.random.split(jax.random.wrap_key_data(mask))[1], (heads,))

    return jax.vmap(one)(keys, masks)


@pytest.fixture
def double_precision():
    """Use double precision, because values of lengths become equal and rounding would decide among them."""
    with jax.enable_x64(True):
        yield


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("name", EXPLORERS)
def test_it_acts_and_learns_as_the_plain_method(name):
    explorer, keys = bound(EXPLORERS[name]), jax.random.split(jax.random.key(1), STEPS)
    D, state = explorer.D, explorer.init(jax.random.key(2), 0)
    values, action, explored, masks = map(np.asarray, behave(explorer, state, keys))
    numbers, uniform = jax.tree.map(np.asarray, draws(keys, masks, D.heads))
    following, reward, terminal, q = world()
    plain, s, rows = Repeater(state.D.values, EPSILON, D.lam, D.gamma, D.step_size), 0, []
    for t in range(STEPS):
        a, drawn = plain.act(q[s], s, [each[t] for each in numbers])
        rows.append((a, drawn))
        plain.learn(s, a, reward[s, a], following[s, a], terminal[s, a], uniform[t] < D.mask_probability)
        if terminal[s, a]:
            plain.begin()
        s = 0 if terminal[s, a] else following[s, a]
    theirs = np.array(rows).T
    assert (action == theirs[0]).all()
    assert (explored == theirs[1]).all()
    np.testing.assert_allclose(values, plain.values, atol=1e-10)
    assert 0.05 < explored.mean() < 0.9


def test_learning_from_single_steps_gives_the_values_of_the_papers_targets():
    following, reward, terminal, _ = world()
    D = bound(adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.LearnedLengths(LONGEST, 0.9, step_size=1.0))).D
    s, a = map(jnp.ravel, jnp.indices((STATES, ACTIONS)))
    every = adeu.Transition(s, a, reward.ravel(), following.ravel(), terminal.ravel(), jnp.zeros(s.shape, bool))

    @jax.jit
    def learn(state):
        def sweep(_, state):
            return jax.lax.scan(lambda state, step: (D.observe(state, step), None), state, every)[0]

        return jax.lax.fori_loop(0, 200, sweep, state)

    learned = learn(D.init(jax.random.key(0), 0))
    np.testing.assert_allclose(learned.values[0], skip_values(following, reward, terminal, 0.9, LONGEST), atol=1e-3)


def test_a_network_learns_the_values_from_minibatches():
    """Two states are vectors, and two heads share the hidden layers."""
    D = adeu.LearnedLengths(2, 0.5, heads=2, hidden=(16,), learning_rate=0.01, tau=0.1, num_actions=1)
    vectors = jnp.eye(2)
    batch = adeu.Transition(
        vectors, jnp.zeros(2, int), jnp.array([1.0, 2.0]), vectors[::-1], jnp.array([False, True]), jnp.zeros(2, bool)
    )

    @jax.jit
    def learn(state):
        return jax.lax.fori_loop(0, 1500, lambda _, state: D.update(state, batch), state)

    state = learn(D.init(jax.random.key(0), vectors[0]))
    for obs, value in zip(vectors, (2.0, 2.0), strict=True):
        np.testing.assert_allclose(D._values(state, obs), value, atol=0.05)


@pytest.mark.parametrize(("lam", "length"), [(-1.5, 1), (2.0, 3)])
def test_lam_prefers_or_avoids_uncertain_lengths(lam, length):
    D = adeu.LearnedLengths(3, heads=2, lam=lam, num_states=1, num_actions=1)
    values = jnp.array([[1.0, 0.0, -1.0], [1.0, 2.0, 3.0]])  # equal means, more disagreement for longer lengths
    state = D.init(jax.random.key(0), 0)._replace(values=values[:, None, None])
    _, _, carry = D.sample(jax.random.key(1), state, D.begin(jax.random.key(0)), jnp.zeros(1), 0.0, obs=0)
    assert carry.steps_left + 1 == length


class TestInALoop:
    LONG = adeu.LearnedLengths(3, num_states=1, num_actions=2, start=0.0)

    def repeating(self):
        """Return a state in which every action is repeated three times."""
        values = jnp.zeros((1, 1, 2, 3)).at[..., 2].set(1.0)
        return self.LONG.init(jax.random.key(0), 0)._replace(values=values)

    def test_an_action_is_repeated_until_it_is_masked(self):
        D, state, carry = self.LONG, self.repeating(), self.LONG.begin(jax.random.key(0))
        centers = jnp.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
        masks = jnp.ones((5, 2), bool).at[4, 1].set(False)
        actions = []
        for center, mask in zip(centers, masks, strict=True):
            action, explored, carry = D.sample(jax.random.key(1), state, carry, center, 0.0, mask, obs=0)
            actions.append(int(action))
            assert not explored
        assert actions == [0, 0, 0, 1, 0]

    def test_evaluation_does_not_repeat_actions(self):
        explorer = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.LearnedLengths(3, start=1.0))
        behavior = adeu.Behavior(explorer, gymnasium.make("FrozenLake-v1"))
        behavior.state = behavior.state._replace(
            D=behavior.state.D._replace(values=jnp.zeros((1, 16, 4, 3)).at[..., 2].set(1.0))
        )
        centers = np.eye(4)
        assert [int(behavior.act(0, center=center).action) for center in centers] == [0, 0, 0, 3]
        with behavior.evaluation():
            assert [int(behavior.act(0, center=center).action) for center in centers] == [0, 1, 2, 3]

    def test_dqn_trains_with_it(self):
        cart_pole = gymnasium.make("CartPole-v1")
        agent = Dqn(adeu.recipes.ute(heads=2, longest=3), hidden=(8,), batch=4, target_every=1)
        loop = GymLoop(agent, cart_pole, gymnasium.make("CartPole-v1"), 40, 0, warmup=20, evaluate_every=40)
        while loop.step < 40:
            rows, _ = loop.advance()
        assert np.isfinite(rows[-1]["return"])
        assert int(loop._player._learned.explorer.D.optimizer.updates) == 20

    def test_box_actions_are_rejected(self):
        with pytest.raises(ValueError, match="LearnedLengths: action space takes a Discrete"):
            adeu.Behavior(adeu.recipes.tempo_rl(), gymnasium.make("Pendulum-v1"))
