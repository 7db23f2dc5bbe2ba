"""The values of each f, computed by hand."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adeu

KEY = jax.random.key(0)


def step(obs=0, action=0, cost=None):
    return adeu.Transition(obs, action, 0.0, 0, False, False, cost)


def measured(f, state=(), carry=(), obs=0, **given):
    return float(f.measure(KEY, state, carry, obs, **given)[0])


def test_schedules_go_from_start_to_end_and_stay_there():
    linear = adeu.Schedule(1.0, 0.2, steps=10)
    exponential = adeu.Schedule(1.0, 0.01, steps=10, kind="exponential")
    assert [measured(linear, step=t) for t in (0, 5, 10, 99)] == pytest.approx([1.0, 0.6, 0.2, 0.2])
    assert measured(adeu.Schedule(1.0, 0.0, steps=10**10), step=jnp.asarray(2**30)) == pytest.approx(0.8926, rel=1e-3)
    assert [measured(exponential, step=t) for t in (0, 5, 10, 99)] == pytest.approx([1.0, 0.1, 0.01, 0.01])


def test_counts_include_the_current_visit():
    f = adeu.Counts(num_states=3, beta=0.5)
    state = f.init(KEY, 0)
    expected = []
    for visits in range(1, 5):
        expected.append(1 / (0.5 * np.sqrt(visits)))
        assert measured(f, state, obs=1) == pytest.approx(expected[-1])
        state = f.observe(state, step(obs=1))
    assert measured(f, state, obs=2) == pytest.approx(2.0)


def test_a_state_outside_the_table_gives_nan():
    f = adeu.Counts(num_states=3)
    assert np.isnan(measured(f, f.init(KEY, 0), obs=3))
    assert np.isnan(measured(f, f.init(KEY, 0), obs=-1))
    for outside in (-1, 3):
        assert not f.observe(f.init(KEY, 0), step(obs=outside)).any()


def test_ensemble_std_at_the_policys_action():
    q_values = jnp.array([[1.0, 5.0, 0.0], [1.0, 9.0, 8.0]])
    assert measured(adeu.EnsembleStd(lam=3.0), center=jnp.array([0, 1, 0]), q_values=q_values) == pytest.approx(6.0)
    assert measured(adeu.EnsembleStd(), center=jnp.array([0, 1, 1]), q_values=q_values) == pytest.approx(3.0)
    assert measured(adeu.EnsembleStd(), center=jnp.zeros(2), q_values=jnp.array([1.0, 4.0])) == pytest.approx(1.5)
    allowed = jnp.array([False, True, True])
    given = {"center": jnp.array([9.0, 1.0, 0.0]), "q_values": q_values, "action_mask": allowed}
    assert measured(adeu.EnsembleStd(), **given) == pytest.approx(2.0)
    with pytest.raises(ValueError, match=r"EnsembleStd: q_values takes shape \(critics,\) or \(critics, 3\)"):
        measured(adeu.EnsembleStd(), center=jnp.zeros(3), q_values=jnp.zeros((2, 2)))


def test_stakes_are_high_if_the_expected_return_is_low():
    f = adeu.Stakes(scale=0.5, top=2.0)
    assert measured(f, q_values=jnp.array([0.5, 3.0])) == pytest.approx(2 / np.e), "it must use the lower critic"
    assert measured(f, q_values=jnp.array([-4.0, 1.0])) == 2.0
    actions = jnp.array([[0.0, 9.0, 0.5], [1.0, 8.0, 0.5]])
    assert measured(f, q_values=actions) == pytest.approx(2 * np.exp(-16)), "it must use the best action"
    allowed = jnp.array([True, False, True])
    assert measured(f, q_values=actions, action_mask=allowed) == pytest.approx(2 / np.e)


def test_td_error_equals_vdbe():
    f = adeu.TdError(num_states=2, sigma=0.7, rate=0.25)
    state, expected = f.init(KEY, 0), 1.0
    for delta in (0.3, -2.0, 0.0):
        state = f.observe(state, step(obs=1), td_error=delta)
        boltzmann = np.exp(-abs(delta) / 0.7)
        expected = 0.25 * (1 - boltzmann) / (1 + boltzmann) + 0.75 * expected
    assert measured(f, state, obs=1) == pytest.approx(expected, rel=1e-5)
    assert measured(f, state, obs=0) == 1.0
    running = adeu.TdError(sigma=0.7, rate=1.0)
    state = running.update(running.init(KEY, jnp.zeros(3)), None, td_error=jnp.array([1.0, -3.0]))
    assert measured(running, state) == pytest.approx(np.tanh(2.0 / 1.4))


def test_td_error_may_use_the_change_of_values():
    f = adeu.TdError(num_states=2, sigma=0.7, rate=0.25, signal="value_change")
    state, expected = f.init(KEY, 0), 1.0
    for change in (0.3, -2.0, 0.0):
        state = f.observe(state, step(obs=1), td_error=99.0, value_change=change)
        boltzmann = np.exp(-abs(change) / 0.7)
        expected = 0.25 * (1 - boltzmann) / (1 + boltzmann) + 0.75 * expected
    assert measured(f, state, obs=1) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(TypeError, match="'value_change'"):
        f.observe(state, step(), td_error=1.0)


def test_expected_cost_table_takes_the_worst_action():
    f = adeu.ExpectedCost(num_states=2, num_actions=3, step_size=0.5)
    state = f.init(KEY, 0)
    for action, cost in ((0, 2.0), (2, 8.0), (2, 0.0)):
        state = f.observe(state, step(obs=1, action=action, cost=cost))
    assert measured(f, state, obs=1) == pytest.approx(2.0)
    assert measured(f, state, obs=0) == 0.0


@pytest.mark.parametrize("num_actions", [1, 2])
def test_the_expected_cost_network_learns_costs(num_actions):
    f = adeu.ExpectedCost(num_actions=num_actions, learning_rate=1e-2)
    obs = jax.random.uniform(KEY, (256, 1), minval=-1.0)
    action = jax.random.randint(KEY, (256,), 0, 2)
    dangerous = (obs[:, 0] > 0) & ((action == 1) | (num_actions == 1))
    batch = adeu.Transition(obs, action, None, obs, None, None, cost=10.0 * dangerous)
    update = jax.jit(f.update)
    state = f.init(KEY, obs[0])
    for _ in range(300):
        state = update(state, batch)
    assert measured(f, state, obs=jnp.array([0.7])) > 8
    assert measured(f, state, obs=jnp.array([-0.7])) < 1


def test_safety_equations():
    cost, uncertainty = adeu.Constant(4.0), adeu.Constant(2.0)
    assert measured(adeu.Inverse(cost), ((),), ((),)) == pytest.approx(0.25)
    assert measured(adeu.Inverse(adeu.Constant(0.0)), ((),), ((),)) == pytest.approx(10.0)
    two = ((), ()), ((), ())
    assert measured(adeu.Ratio(uncertainty, cost, lam=5.0), *two) == pytest.approx(0.1)
    assert measured(adeu.Ratio(uncertainty, adeu.Constant(0.0)), *two) == pytest.approx(20.0)
    conditioned = adeu.Ratio(uncertainty, cost, lam="conditioned")
    for best, lam in ((3.0, 3.0), (0.5, 1.0), (-9.0, 1.0), (100.0, 1.0)):
        q_values = jnp.array([[best - 1, best], [best - 5, best]])
        assert measured(conditioned, *two, q_values=q_values) == pytest.approx(2.0 / (lam * 4.0))
    masked = {"q_values": jnp.array([[99.0, 3.0]]), "action_mask": jnp.array([False, True])}
    assert measured(conditioned, *two, **masked) == pytest.approx(2.0 / (3.0 * 4.0))
    free = adeu.Ratio(uncertainty, adeu.Constant(0.0), lam="conditioned", floor=5.0)
    assert measured(free, *two, q_values=jnp.array([[3.0]])) == pytest.approx(2.0 / 5.0)
    assert measured(adeu.Sum((uncertainty, cost)), *two) == 6.0
    assert measured(adeu.Product((uncertainty, cost)), *two) == 8.0


def test_calibrated_has_a_mean_of_one():
    values = 1e4 * np.random.default_rng(0).exponential(size=4000)
    f = adeu.Calibrated(adeu.from_host(len), decay=0.99)
    carry, calibrated = f.begin(KEY), []
    measure = jax.jit(lambda carry, value: f.measure(KEY, ((),), carry, 0, host_uncertainty=value))
    for value in values:
        uncertainty, carry = measure(carry, value)
        calibrated.append(float(uncertainty))
    assert np.mean(calibrated) == pytest.approx(1.0, rel=0.05)
    assert f.begin(KEY, carry).mean == carry.mean
    assert measured(f, ((),), f.begin(KEY), host_uncertainty=0.0) == 0.0


def test_a_missing_keyword_is_reported():
    with pytest.raises(TypeError, match="'q_values'"):
        measured(adeu.EnsembleStd(), center=jnp.zeros(2))
    with pytest.raises(TypeError, match="'step'"):
        measured(adeu.Schedule(1.0, 0.1, steps=5))
    with pytest.raises(TypeError, match="'td_error'"):
        adeu.TdError(num_states=2).observe(jnp.ones(2), step())
    with pytest.raises(TypeError, match="'td_error'"):
        adeu.TdError().update(jnp.ones(()), None)
    with pytest.raises(TypeError, match="no cost"):
        adeu.ExpectedCost(num_states=2, num_actions=2).observe(jnp.zeros((2, 2)), step())
    with pytest.raises(TypeError, match="'host_uncertainty'"):
        measured(adeu.from_host(len))
    with pytest.raises(TypeError, match="'q_values'"):
        measured(adeu.Ratio(adeu.Constant(1.0), adeu.Constant(1.0), lam="conditioned"), ((), ()), ((), ()))


def test_parts_are_found_in_nested_tuples():
    @dataclasses.dataclass(frozen=True)
    class Weighted(adeu.Mechanism):
        terms: tuple
        total: float = dataclasses.field(init=False, default=2.0)

        def measure(self, key, state, carry, obs, **given):
            values, carry = self.measure_parts(key, state, carry, obs, **given)
            return sum(w * v for (w, _), v in zip(self.terms, values, strict=True)) / self.total, carry

    f = Weighted(((1.0, adeu.Counts(3, beta=1.0)), (3.0, adeu.Constant(5.0)))).bind(None, None)
    state = f.observe(f.init(KEY, 0), step(obs=0))
    assert measured(f, state, f.begin(KEY), obs=1) == pytest.approx((1.0 + 15.0) / 2)
    assert f.learns_from == {"observe"}


def test_a_part_with_another_state_must_define_update():
    @dataclasses.dataclass(frozen=True)
    class Own(adeu.Mechanism):
        f: adeu.Mechanism

        def init(self, key, obs):
            return {"own": jnp.zeros(3), "f": super().init(key, obs)}

    f = Own(adeu.Constant(1.0))
    with pytest.raises(TypeError, match=r"Own has a state besides that of its parts and must define update"):
        f.update(f.init(KEY, 0), None)
