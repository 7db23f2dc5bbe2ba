"""Every part through the same tests, each inside an explorer, so that the explorer is tested with it."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.behavior import storage
from adeu.behavior.batched import batched
from tests.contract.table import CASES, NEEDS, Case

ENVS = 4
every_part = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def keys(count: int, seed: int = 0) -> jax.Array:
    return jax.random.split(jax.random.key(seed), count)


@functools.cache
def experience(name: str):
    case = CASES[name]
    explorer = case.explorer
    state = explorer.init(jax.random.key(1), case.observation(jax.random.key(2)))
    for key in keys(3):
        state = explorer.observe(state, case.transition(key), td_error=jnp.asarray(0.5))
    return explorer.update(state, jax.vmap(case.transition)(keys(8)), td_error=jnp.ones(8))


def learned(case: Case):
    """A state after some experience."""
    return experience(next(name for name, other in CASES.items() if other is case))


def act_everywhere(case: Case, state, carries, act=None):
    """The decisions of a batch of environments, and the arguments that led to them."""
    act = act or case.explorer.act

    def one(key, carry, key_input):
        inputs = case.observation(key_input), case.center(key_input)
        return act(key, state, carry, *inputs, **case.given(key_input))

    return one, (keys(ENVS, 5), carries, keys(ENVS, 6))


def begun(case: Case):
    return jax.vmap(case.explorer.begin)(keys(ENVS, 4))


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
    one, inputs = act_everywhere(case, learned(case), begun(case))
    decisions, _ = jax.vmap(one)(*inputs)
    assert decisions.uncertainty.shape == decisions.spread.shape == decisions.explored.shape == (ENVS,)
    for value in (decisions.uncertainty, decisions.spread):
        assert np.isfinite(value).all()
        assert (value >= 0).all()
    for action in np.asarray(decisions.action):
        assert case.actions.contains(action)


@every_part
def test_compiled_equals_eager(case):
    one, inputs = act_everywhere(case, learned(case), begun(case))
    first = jax.tree.map(lambda x: x[0], inputs)
    close(jax.jit(one)(*first), one(*first))


@every_part
def test_a_batch_equals_a_loop_and_environments_are_independent(case):
    one, inputs = act_everywhere(case, learned(case), begun(case))
    batch = jax.vmap(one)(*inputs)
    for i in range(ENVS):
        close(jax.tree.map(lambda x, i=i: x[i], batch), one(*jax.tree.map(lambda x, i=i: x[i], inputs)))
    order = np.array([2, 0, 3, 1])
    close(jax.vmap(one)(*jax.tree.map(lambda x: x[order], inputs)), jax.tree.map(lambda x: x[order], batch))


@every_part
def test_the_same_key_gives_the_same_answer(case):
    one, inputs = act_everywhere(case, learned(case), begun(case))
    assert equal(jax.vmap(one)(*inputs), jax.vmap(one)(*inputs))


@every_part
def test_state_and_carry_keep_their_structure(case):
    explorer, state = case.explorer, learned(case)
    first = explorer.init(jax.random.key(1), case.observation(jax.random.key(2)))
    assert jax.tree.structure(first) == jax.tree.structure(state)
    assert [x.dtype for x in jax.tree.leaves(first)] == [x.dtype for x in jax.tree.leaves(state)]
    one, inputs = act_everywhere(case, state, begun(case))
    _, carries = jax.vmap(one)(*inputs)
    again = jax.vmap(explorer.begin)(keys(ENVS, 8), carries)
    for other in (carries, again):
        assert jax.tree.structure(begun(case)) == jax.tree.structure(other)
        shapes = [(x.shape, x.dtype) for x in jax.tree.leaves(begun(case))]
        assert shapes == [(x.shape, x.dtype) for x in jax.tree.leaves(other)]


@every_part
def test_save_and_load_round_trip(case, tmp_path):
    tree, header = (learned(case), begun(case)), {"format": "test"}
    storage.save(tmp_path / "file", header, tree)
    assert equal(storage.load(tmp_path / "file", header, tree), tree)


@every_part
def test_begin_resets_only_the_masked_environments(case):
    functions = batched(case.explorer)
    obs = jax.vmap(case.observation)(keys(ENVS, 6))
    _, streams = functions.start(np.uint32(0), np.asarray(obs), num_envs=ENVS)
    ended = np.array([True, False, False, True])
    after = functions.begin(streams, ended)
    for i, reset in enumerate(ended):
        here = [jax.tree.map(lambda x, i=i: x[i], tree) for tree in (streams, after)]
        assert equal(*here) != reset


@every_part
def test_learning_is_pure_and_changes_only_what_it_says(case):
    explorer, state = case.explorer, learned(case)
    before = jax.tree.map(np.array, state)
    observed = explorer.observe(state, case.transition(jax.random.key(9)), td_error=jnp.asarray(5.0))
    updated = explorer.update(state, jax.vmap(case.transition)(keys(8, 9)), td_error=jnp.full(8, 5.0))
    assert equal(before, state)
    assert equal(observed, state) != ("observe" in explorer.learns_from)
    assert equal(updated, state) != ("update" in explorer.learns_from)


@pytest.mark.parametrize("name", CASES)
def test_needs_what_it_says_and_nothing_more(name):
    case, needs = CASES[name], NEEDS[name]
    explorer, key = case.explorer, jax.random.key(0)
    assert {hook: explorer.needs(hook) for hook in needs} == needs
    inputs, state, carry = (case.observation(key), case.center(key)), learned(case), explorer.begin(key)
    transition, batch = case.transition(key), jax.vmap(case.transition)(keys(8))

    def act(given):
        return explorer.act(key, state, carry, *inputs, step=7, **given)

    def observe(given, transition=transition, method=explorer.observe):
        cost = given.pop("cost", None)
        return method(state, transition._replace(cost=cost), step=7, **given)

    def update(given):
        return observe(given, batch, explorer.update)

    offers = {"act": case.given(key), "observe": {"td_error": 0.5, "cost": 1.0}}
    offers["update"] = {"td_error": jnp.ones(8), "cost": jnp.ones(8)}
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
    f, state, key = case.explorer.f, learned(case).f, jax.random.key(3)
    one, inputs = act_everywhere(case, learned(case), begun(case))
    decisions, carries = jax.vmap(one)(*inputs)
    assert decisions.asked.shape == (ENVS,)
    assert decisions.asked.dtype == bool
    each = functools.partial(jax.vmap, axis_size=ENVS)  # a carry may hold nothing
    fresh, later = each(f.ask)(begun(case).f), each(f.ask)(carries.f)
    assert jax.tree.structure(fresh) == jax.tree.structure(begun(case).f)
    assert each(f.asked)(fresh).all()
    given = case.given(key) | {"center": case.center(key), "explored": False}
    obs = case.observation(jax.random.key(9))

    def measured(carry):
        return f.measure(key, state, carry, obs, **given)[0]

    assert f.remembers == (name == "Calibrated")
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
