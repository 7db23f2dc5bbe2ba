"""The same tests for every part, each inside an explorer, so that the explorer is tested, too."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import adeu
from adeu.behavior import storage
from adeu.behavior.batched import batched
from tests.contract.table import CASES, NEEDS, REMEMBERS, Case

ENVS = 4


@pytest.fixture(scope="module", params=CASES)
def name(request):
    """Parametrize by module, so that all tests of a part share its compiled functions."""
    return request.param


@pytest.fixture(scope="module")
def case(name):
    return CASES[name]


@pytest.fixture(scope="module")
def tried(case):
    return trial(case)


def keys(count: int, seed: int = 0) -> jax.Array:
    return jax.random.split(jax.random.key(seed), count)


def signals(value):
    """Return the values that an agent gives to an f that learns."""
    return {"td_error": value, "value_change": value}


class Trial(NamedTuple):
    """A part in its explorer, with a state after some experience and a batch of environments."""

    explorer: adeu.Explorer
    first: Any
    """The initial state."""
    state: Any
    observe: Callable[..., Any]
    update: Callable[..., Any]
    act: Callable[..., Any]
    """Decide for one environment, eagerly; `compiled` is the same compiled, `batch` also vectorized."""
    compiled: Callable[..., Any]
    batch: Callable[..., Any]
    begin: Callable[..., Any]
    """Begin the carries of several environments."""
    inputs: tuple[Any, ...]
    """Key, carry, observation, center and given values of each environment."""

    def of(self, i):
        """Return the inputs of one environment, or of several."""
        return jax.tree.map(lambda x: x[i], self.inputs)


def trial(case: Case) -> Trial:
    random = np.random.default_rng(0)
    explorer = case.explorer
    observe, update = jax.jit(explorer.observe), jax.jit(explorer.update)
    first = state = jax.jit(explorer.init)(jax.random.key(1), case.observation(random))
    for _ in range(3):
        state = observe(state, case.transition(random), **signals(np.float32(0.5)))
    state = update(state, case.transition(random, 8), **signals(np.ones(8, np.float32)))

    def act(state, key, carry, obs, center, given):
        return explorer.act(key, state, carry, obs, center, **given)

    drawn = case.observation(random, ENVS), case.center(random, ENVS), case.given(random, ENVS)
    begin = jax.jit(jax.vmap(explorer.begin))
    inputs = keys(ENVS, 5), begin(keys(ENVS, 4)), *drawn
    batch = jax.jit(jax.vmap(act, in_axes=(None, 0, 0, 0, 0, 0)))
    return Trial(explorer, first, state, observe, update, act, jax.jit(act), batch, begin, inputs)


def equal(a, b) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def close(a, b) -> None:
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_every_exported_part_is_in_the_table():
    contracts = (adeu.Part, adeu.Mechanism, adeu.Normalizer, adeu.Distribution, adeu.Guard)
    exported = (getattr(adeu, name) for name in adeu.__all__)
    parts = {x for x in exported if isinstance(x, type) and issubclass(x, adeu.Part)} - set(contracts)
    assert parts == {type(case.part) for case in CASES.values()} & parts
    assert len(parts) >= 24


def test_is_finite_non_negative_and_inside_the_action_space(case, tried):
    decisions, _ = tried.batch(tried.state, *tried.inputs)
    assert decisions.uncertainty.shape == decisions.spread.shape == decisions.explored.shape == (ENVS,)
    for value in (decisions.uncertainty, decisions.spread):
        assert np.isfinite(value).all()
        assert (value >= 0).all()
    for action in np.asarray(decisions.action):
        assert case.actions.contains(action)


def test_compiled_equals_eager(tried):
    close(tried.compiled(tried.state, *tried.of(0)), tried.act(tried.state, *tried.of(0)))


def test_a_batch_equals_a_loop_and_environments_are_independent(tried):
    batch = tried.batch(tried.state, *tried.inputs)
    for i in range(ENVS):
        close(jax.tree.map(lambda x, i=i: x[i], batch), tried.compiled(tried.state, *tried.of(i)))
    order = np.array([2, 0, 3, 1])
    close(tried.batch(tried.state, *tried.of(order)), jax.tree.map(lambda x: x[order], batch))


def test_the_same_key_gives_the_same_answer(tried):
    assert equal(*(tried.act(tried.state, *tried.of(0)) for _ in range(2)))


def test_state_and_carry_keep_their_structure(tried):
    assert jax.tree.structure(tried.first) == jax.tree.structure(tried.state)
    assert [x.dtype for x in jax.tree.leaves(tried.first)] == [x.dtype for x in jax.tree.leaves(tried.state)]
    _, begun, *_ = tried.inputs
    _, carries = tried.batch(tried.state, *tried.inputs)
    again = tried.begin(keys(ENVS, 8), carries)
    for other in (carries, again):
        assert jax.tree.structure(begun) == jax.tree.structure(other)
        shapes = [(x.shape, x.dtype) for x in jax.tree.leaves(begun)]
        assert shapes == [(x.shape, x.dtype) for x in jax.tree.leaves(other)]


def test_save_and_load_round_trip(tried, tmp_path):
    tree, header = (tried.state, tried.inputs[1]), {"format": "test"}
    storage.save(tmp_path / "file", header, tree)
    assert equal(storage.load(tmp_path / "file", header, tree), tree)


def test_begin_resets_only_the_masked_environments(case):
    functions = batched(case.explorer)
    obs = case.observation(np.random.default_rng(6), ENVS)
    _, streams = functions.start(np.uint32(0), obs, num_envs=ENVS)
    ended = np.array([True, False, False, True])
    after = functions.begin(streams, ended)
    for i, reset in enumerate(ended):
        here = [jax.tree.map(lambda x, i=i: x[i], tree) for tree in (streams, after)]
        assert equal(*here) != reset


def test_learning_is_pure_and_happens_in_the_declared_methods(case, tried):
    random = np.random.default_rng(9)
    before, learns = jax.tree.map(np.array, tried.state), tried.explorer.learns_from
    observed = tried.observe(tried.state, case.transition(random), **signals(np.float32(5.0)))
    updated = tried.update(tried.state, case.transition(random, 8), **signals(np.full(8, 5.0, np.float32)))
    assert equal(before, tried.state)
    assert equal(observed, tried.state) != ("observe" in learns)
    assert equal(updated, tried.state) != ("update" in learns)


def test_needs_exactly_the_declared_values(name, case, tried):
    needs, random = NEEDS[name], np.random.default_rng(3)
    explorer, (key, carry, obs, center, offered) = tried.explorer, tried.of(0)
    assert {hook: explorer.needs(hook) for hook in needs} == needs

    def act(given):
        return explorer.act(key, tried.state, carry, obs, center, step=7, **given)

    def learn(method, transition, given):
        cost = given.pop("cost", None)
        return method(tried.state, transition._replace(cost=cost), step=7, **given)

    def observe(given):
        return learn(explorer.observe, case.transition(random), given)

    def update(given):
        return learn(explorer.update, case.transition(random, 8), given)

    offers = {"act": offered, "observe": signals(np.float32(0.5)) | {"cost": np.float32(1.0)}}
    offers["update"] = signals(np.ones(8, np.float32)) | {"cost": np.ones(8, np.float32)}
    for method in (act, observe, update):
        given = {each: offers[method.__name__][each] for each in needs[method.__name__]}
        jax.eval_shape(method, dict(given))
        for missing in given:
            fewer = {each: value for each, value in given.items() if each != missing}
            with pytest.raises(TypeError, match=missing):
                jax.eval_shape(method, fewer)


def test_ask_makes_f_asked_and_remembers_is_right(name, tried):
    f, (_, begun, _, _, _) = tried.explorer.f, tried.inputs
    decisions, carries = tried.batch(tried.state, *tried.inputs)
    assert decisions.asked.shape == (ENVS,)
    assert decisions.asked.dtype == bool

    def each(function):
        return jax.jit(jax.vmap(function, axis_size=ENVS))  # axis_size, because a carry may be empty

    fresh, later = each(f.ask)(begun.f), each(f.ask)(carries.f)
    assert jax.tree.structure(fresh) == jax.tree.structure(begun.f)
    assert each(f.asked)(fresh).all()
    key, _, obs, center, given = tried.of(0)

    def measured(carry):
        return f.measure(key, tried.state.f, carry, obs, **given | {"center": center, "explored": False})[0]

    assert f.remembers == (name in REMEMBERS)
    assert equal(each(measured)(fresh), each(measured)(later)) != f.remembers


def test_json_round_trip(case):
    for part in (case.part, case.explorer):
        again = adeu.from_json(adeu.to_json(part))
        assert again == part
        assert hash(again) == hash(part)


def test_is_an_immutable_value(case):
    copy = dataclasses.replace(case.part)
    assert copy == case.part
    assert hash(copy) == hash(case.part)
    assert repr(case.part).startswith(type(case.part).__name__ + "(")
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.part.anything = 1


def test_has_a_docstring_with_equation_and_doctest(case):
    maker = {"FromFunction": adeu.from_function, "FromHost": adeu.from_host}
    text = maker.get(type(case.part).__name__, type(case.part)).__doc__
    if type(case.part).__module__.startswith("adeu."):
        assert ">>> " in text
        assert "\n        " in text
