"""Every part through the same tests, each inside an explorer, so that the explorer is tested with it."""

import dataclasses
import functools
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
every_part = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def keys(count: int, seed: int = 0) -> jax.Array:
    return jax.random.split(jax.random.key(seed), count)


class Trial(NamedTuple):
    """A part in its explorer, with a state after some experience and a batch of environments."""

    explorer: adeu.Explorer
    first: Any
    """The state before."""
    state: Any
    observe: Callable[..., Any]
    update: Callable[..., Any]
    act: Callable[..., Any]
    """One environment's decision, as Python runs it; `compiled` and `batch` are the same, compiled."""
    compiled: Callable[..., Any]
    batch: Callable[..., Any]
    inputs: tuple[Any, ...]
    """Key, carry, observation, center and what is given, of each environment."""

    def of(self, i):
        """The inputs of one environment, or of several."""
        return jax.tree.map(lambda x: x[i], self.inputs)


def trial(case: Case) -> Trial:
    return _trial(next(name for name, other in CASES.items() if other is case))


@functools.cache
def _trial(name: str) -> Trial:
    """Made once for all tests, compiled, since that takes longer than running it."""
    case, random = CASES[name], np.random.default_rng(0)
    explorer = case.explorer
    observe, update = jax.jit(explorer.observe), jax.jit(explorer.update)
    first = state = jax.jit(explorer.init)(jax.random.key(1), case.observation(random))
    for _ in range(3):
        state = observe(state, case.transition(random), td_error=np.float32(0.5))
    state = update(state, case.transition(random, 8), td_error=np.ones(8, np.float32))

    def act(state, key, carry, obs, center, given):
        return explorer.act(key, state, carry, obs, center, **given)

    drawn = case.observation(random, ENVS), case.center(random, ENVS), case.given(random, ENVS)
    inputs = keys(ENVS, 5), jax.vmap(explorer.begin)(keys(ENVS, 4)), *drawn
    batch = jax.jit(jax.vmap(act, in_axes=(None, 0, 0, 0, 0, 0)))
    return Trial(explorer, first, state, observe, update, act, jax.jit(act), batch, inputs)


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


@every_part
def test_is_finite_non_negative_and_inside_the_action_space(case):
    tried = trial(case)
    decisions, _ = tried.batch(tried.state, *tried.inputs)
    assert decisions.uncertainty.shape == decisions.spread.shape == decisions.explored.shape == (ENVS,)
    for value in (decisions.uncertainty, decisions.spread):
        assert np.isfinite(value).all()
        assert (value >= 0).all()
    for action in np.asarray(decisions.action):
        assert case.actions.contains(action)


@every_part
def test_compiled_equals_eager(case):
    tried = trial(case)
    close(tried.compiled(tried.state, *tried.of(0)), tried.act(tried.state, *tried.of(0)))


@every_part
def test_a_batch_equals_a_loop_and_environments_are_independent(case):
    tried = trial(case)
    batch = tried.batch(tried.state, *tried.inputs)
    for i in range(ENVS):
        close(jax.tree.map(lambda x, i=i: x[i], batch), tried.compiled(tried.state, *tried.of(i)))
    order = np.array([2, 0, 3, 1])
    close(tried.batch(tried.state, *tried.of(order)), jax.tree.map(lambda x: x[order], batch))


@every_part
def test_the_same_key_gives_the_same_answer(case):
    tried = trial(case)
    assert equal(*(tried.act(tried.state, *tried.of(0)) for _ in range(2)))


@every_part
def test_state_and_carry_keep_their_structure(case):
    tried = trial(case)
    assert jax.tree.structure(tried.first) == jax.tree.structure(tried.state)
    assert [x.dtype for x in jax.tree.leaves(tried.first)] == [x.dtype for x in jax.tree.leaves(tried.state)]
    _, begun, *_ = tried.inputs
    _, carries = tried.batch(tried.state, *tried.inputs)
    again = jax.vmap(tried.explorer.begin)(keys(ENVS, 8), carries)
    for other in (carries, again):
        assert jax.tree.structure(begun) == jax.tree.structure(other)
        shapes = [(x.shape, x.dtype) for x in jax.tree.leaves(begun)]
        assert shapes == [(x.shape, x.dtype) for x in jax.tree.leaves(other)]


@every_part
def test_save_and_load_round_trip(case, tmp_path):
    tree, header = (trial(case).state, trial(case).inputs[1]), {"format": "test"}
    storage.save(tmp_path / "file", header, tree)
    assert equal(storage.load(tmp_path / "file", header, tree), tree)


@every_part
def test_begin_resets_only_the_masked_environments(case):
    functions = batched(case.explorer)
    obs = case.observation(np.random.default_rng(6), ENVS)
    _, streams = functions.start(np.uint32(0), obs, num_envs=ENVS)
    ended = np.array([True, False, False, True])
    after = functions.begin(streams, ended)
    for i, reset in enumerate(ended):
        here = [jax.tree.map(lambda x, i=i: x[i], tree) for tree in (streams, after)]
        assert equal(*here) != reset


@every_part
def test_learning_is_pure_and_changes_only_what_it_says(case):
    tried, random = trial(case), np.random.default_rng(9)
    before, learns = jax.tree.map(np.array, tried.state), tried.explorer.learns_from
    observed = tried.observe(tried.state, case.transition(random), td_error=np.float32(5.0))
    updated = tried.update(tried.state, case.transition(random, 8), td_error=np.full(8, 5.0, np.float32))
    assert equal(before, tried.state)
    assert equal(observed, tried.state) != ("observe" in learns)
    assert equal(updated, tried.state) != ("update" in learns)


@pytest.mark.parametrize("name", CASES)
def test_needs_what_it_says_and_nothing_more(name):
    case, needs = CASES[name], NEEDS[name]
    tried, random = trial(case), np.random.default_rng(3)
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

    offers = {"act": offered, "observe": {"td_error": np.float32(0.5), "cost": np.float32(1.0)}}
    offers["update"] = {"td_error": np.ones(8, np.float32), "cost": np.ones(8, np.float32)}
    for method in (act, observe, update):
        given = {each: offers[method.__name__][each] for each in needs[method.__name__]}
        jax.eval_shape(method, dict(given))
        for missing in given:
            fewer = {each: value for each, value in given.items() if each != missing}
            with pytest.raises(TypeError, match=missing):
                jax.eval_shape(method, fewer)


@pytest.mark.parametrize("name", CASES)
def test_an_f_is_asked_or_can_be_and_remembers_what_it_says(name):
    case = CASES[name]
    tried = trial(case)
    f, (_, begun, _, _, _) = tried.explorer.f, tried.inputs
    decisions, carries = tried.batch(tried.state, *tried.inputs)
    assert decisions.asked.shape == (ENVS,)
    assert decisions.asked.dtype == bool
    each = functools.partial(jax.vmap, axis_size=ENVS)  # a carry may hold nothing
    fresh, later = each(f.ask)(begun.f), each(f.ask)(carries.f)
    assert jax.tree.structure(fresh) == jax.tree.structure(begun.f)
    assert each(f.asked)(fresh).all()
    key, _, obs, center, given = tried.of(0)

    def measured(carry):
        return f.measure(key, tried.state.f, carry, obs, **given | {"center": center, "explored": False})[0]

    assert f.remembers == (name in REMEMBERS)
    assert equal(each(measured)(fresh), each(measured)(later)) != f.remembers


@every_part
def test_json_round_trip(case):
    for part in (case.part, case.explorer):
        again = adeu.from_json(adeu.to_json(part))
        assert again == part
        assert hash(again) == hash(part)


@every_part
def test_is_a_value(case):
    copy = dataclasses.replace(case.part)
    assert copy == case.part
    assert hash(copy) == hash(case.part)
    assert repr(case.part).startswith(type(case.part).__name__ + "(")
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.part.anything = 1


@every_part
def test_has_a_docstring_with_equation_and_doctest(case):
    maker = {"FromFunction": adeu.from_function, "FromHost": adeu.from_host}
    text = maker.get(type(case.part).__name__, type(case.part)).__doc__
    if type(case.part).__module__.startswith("adeu."):
        assert ">>> " in text
        assert "\n        " in text
