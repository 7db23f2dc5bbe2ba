"""`ExplorerCallback` in real SBX models."""

import copy

import cloudpickle
import jax
import numpy as np
import pytest

import adeu
from adeu.adapters.sbx import ExplorerCallback
from tests.adapters.noise import NOISES, assert_remembered
from tests.adapters.sb3_tools import TWO, Record, clocks, constant, make, same

RND = adeu.Rnd(scale=1.0, hidden=(8,), features=4)
BOTH = adeu.Explorer(adeu.Product((adeu.EnsembleStd(), adeu.Constant(1.0))), adeu.Clip(), adeu.Gaussian())
LEARNS = adeu.Explorer(RND, adeu.Clip(), adeu.Gaussian())


@pytest.fixture(scope="module")
def sbx():
    """Import sbx in the processes that need it, because it takes seconds."""
    import sbx

    return sbx


@pytest.mark.parametrize("name", ["TD3", pytest.param("SAC", marks=pytest.mark.slow)])
def test_spread_around_the_mean_is_the_disagreement_of_the_critics(sbx, name):
    kwargs = {"net_arch": [8], "n_critics": 3}
    model, callback = make(getattr(sbx, name), clocks(5, 4), policy_kwargs=kwargs), ExplorerCallback(BOTH)
    model.learn(20, callback=[callback, record := Record(callback)])
    obs = np.concatenate(record.obs)
    mean = model.policy.scale_action(model.predict(obs, deterministic=True)[0])
    state = model.policy.qf_state
    q_values = np.asarray(state.apply_fn(state.params, obs, mean))
    assert q_values.shape == (3, 20, 1)
    uncertainty = np.concatenate([decision.uncertainty for decision in record.decisions])
    np.testing.assert_allclose(uncertainty, q_values.std(axis=0)[:, 0], rtol=1e-4, atol=1e-6)
    away = np.abs(np.concatenate(record.actions) - mean).mean(axis=1)
    assert 0 < away.max() < 5 * uncertainty.max()


@pytest.mark.parametrize("name", NOISES)
def test_correlated_noise_spans_an_episode(sbx, name):
    model, callback = make(sbx.TD3, clocks(5, 7)), ExplorerCallback(constant(0.05, NOISES[name]))
    model.learn(300, callback=[callback, record := Record(callback)])
    center = model.policy.scale_action(model.predict(np.concatenate(record.obs), deterministic=True)[0])
    noise = np.stack(record.actions) - center.reshape(-1, 2, 2)
    for env, length in enumerate((5, 7)):
        assert_remembered(noise[:, env], length)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TD3", "SAC"])
def test_f_learns_from_the_batches_of_the_model_and_is_saved_with_it(sbx, name, tmp_path):
    model = make(getattr(sbx, name), clocks(5, 4))
    callback, again = ExplorerCallback(LEARNS), ExplorerCallback(LEARNS)
    model.gradient_steps = 2
    model.learn(8, callback=callback)
    assert (
        float(callback.behavior.state.f.moments.size) == 4 * 2 * 16
    )  # SBX samples the batches of all gradient steps at once
    model.save(tmp_path / "sbx")
    loaded = type(model).load(tmp_path / "sbx", env=clocks(5, 4))
    again.load(tmp_path / "sbx")
    loaded.gradient_steps = 0
    loaded.learn(4, callback=again, reset_num_timesteps=False)
    assert again.behavior.step == 12
    assert same(jax.tree.leaves(callback.behavior.state), jax.tree.leaves(again.behavior.state))


def test_dqn_explores_by_the_spread(sbx):
    never = {"exploration_initial_eps": 0.0, "exploration_final_eps": 0.0}
    model = make(sbx.DQN, clocks(5, 4, actions=TWO, offset=1.0), **never)
    callback = ExplorerCallback(constant(0.5, adeu.Bernoulli()))
    model.learn(400, callback=[callback, record := Record(callback)])
    best = model.predict(np.concatenate(record.obs), deterministic=True)[0]
    explored = np.concatenate([decision.explored for decision in record.decisions])
    actions = np.concatenate(record.actions)
    np.testing.assert_array_equal(actions[~explored], best[~explored])
    assert 0.35 < np.mean(actions[explored] == best[explored]) < 0.65
    assert 0.4 < np.mean(explored) < 0.6


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda each: cloudpickle.loads(cloudpickle.dumps(each))],
    ids=["deepcopy", "cloudpickle"],
)
def test_each_model_has_its_own_explorer(sbx, tmp_path, copied):
    """Not tested with pickle: it cannot copy any SBX model, because it does not find JAX's relu."""
    callback, models = ExplorerCallback(constant(0.1), seed=3), [make(sbx.TD3, clocks(5, 4)) for _ in range(2)]
    steps = (8, 6)
    for number, model in zip(steps, models, strict=True):
        model.learn(number, callback=callback)
        assert callback.behavior.step == number
    for number, model in zip(steps, models, strict=True):
        model.save(tmp_path / "sbx")
        again, other = ExplorerCallback(constant(0.1)), copied(model)
        assert type(other) is sbx.TD3
        again.load(tmp_path / "sbx")
        other.learn(2, callback=again, reset_num_timesteps=False)
        assert again.behavior.step == number + 2
    models[0].learn(4, callback=callback, reset_num_timesteps=False)
    assert callback.behavior.step == 12
