"""One `ExplorerCallback` for several Stable-Baselines3 models, several for one model, and copies of models."""

import copy
import gc
import pickle

import cloudpickle
import jax
import numpy as np
import pytest
import torch
from stable_baselines3 import TD3
from stable_baselines3.common.callbacks import BaseCallback

import adeu
from adeu.adapters.sb3 import ExplorerCallback
from tests.adapters.sb3_tools import Record, clocks, constant, make, replayed, same

NOISE = constant(0.125)
RND = adeu.Rnd(scale=1.0, hidden=(8,), features=4)
LEARNS = adeu.Explorer(adeu.Rollouts(RND, rho=0.5, c=0.2), adeu.Saturating(c=1.0), adeu.Gaussian())
"""An explorer with a state (networks), a carry (a coin) and random draws."""


def model(*lengths, **settings):
    return make(TD3, clocks(*lengths or (5, 7)), gradient_steps=1, **settings)


def learn(model, callback, steps, *others, **settings):
    record = Record(callback)
    model.learn(steps, callback=[callback, record, *others], **settings)
    return record


def state(behavior):
    return jax.tree.leaves((behavior.state, behavior.carry, behavior.step))


def alike(left, right):
    """Return whether two records have the same observations, decisions and actions."""
    decided = [[leaf for decision in each.decisions for leaf in decision] for each in (left, right)]
    return same(left.obs, right.obs) and same(left.actions, right.actions) and same(*decided)


class Within(BaseCallback):
    """Call a function once, at the end of the tenth rollout."""

    def __init__(self, function):
        super().__init__()
        self.function, self.rollouts = function, 0

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        self.rollouts += 1
        if self.rollouts == 10:
            self.function()


class TestSeveralModels:
    def test_a_fresh_model_gets_a_fresh_explorer(self):
        """Its decisions, steps, state and random stream equal those of a new callback."""
        used, new = ExplorerCallback(LEARNS, seed=3), ExplorerCallback(LEARNS, seed=3)
        learn(model(), used, 40)
        assert alike(learn(model(), used, 40), learn(model(), new, 40))
        assert used.behavior.step == 40
        assert same(state(used.behavior), state(new.behavior))
        learn(model(4, 4, 4), used, 12)  # with other environments, too
        assert used.behavior.step == 12

    def test_each_model_saves_its_explorer(self, tmp_path):
        callback, models, states = ExplorerCallback(LEARNS, seed=3), [model(), model(3, 2)], []
        for steps, each in zip((40, 20), models, strict=True):
            learn(each, callback, steps)
            states.append(state(callback.behavior))
        for name, each in zip("ab", models, strict=True):
            each.save(tmp_path / name)
        for name, each, expected in zip("ab", models, states, strict=True):
            again = ExplorerCallback(LEARNS)
            learn(copy.deepcopy(each), again, 0)
            again.load(tmp_path / name)
            assert same(state(again.behavior), expected)

    def test_models_can_alternate(self):
        """The first model resumes as if the second one had not been trained in between."""
        alone, shared = ExplorerCallback(LEARNS, seed=3), ExplorerCallback(LEARNS, seed=3)
        records = []
        for callback in (alone, shared):
            first = make(TD3, clocks(5, 7))
            learn(first, callback, 30)
            if callback is shared:
                learn(model(), callback, 22)
            records.append(learn(first, callback, 30, reset_num_timesteps=False))
        assert alike(*records)
        assert alone.behavior.step == shared.behavior.step == 60
        assert same(state(alone.behavior), state(shared.behavior))

    def test_another_model_continues_the_explorer_if_timesteps_are_not_reset(self):
        callback, first = ExplorerCallback(LEARNS, seed=3), model()
        learn(first, callback, 40)
        own, before = callback.behavior, state(callback.behavior)
        learn(copy.deepcopy(first), callback, 20, reset_num_timesteps=False)
        assert callback.behavior.step == 60
        assert same(state(own), before)  # the explorer of the first model is unchanged
        assert len(own.history) == 20
        learn(first, callback, 2, reset_num_timesteps=False)
        assert callback.behavior is own
        assert callback.behavior.step == 42
        with pytest.raises(ValueError, match="model takes the same spaces and number of environments"):
            learn(model(5, 5, 5), callback, 3, reset_num_timesteps=False)

    def test_a_loaded_state_applies_to_the_next_model_only(self, tmp_path):
        callback, first = ExplorerCallback(LEARNS, seed=3), model()
        learn(first, callback, 40)
        first.save(tmp_path / "first")
        kept = state(callback.behavior)
        learn(model(), callback, 20)
        callback.load(tmp_path / "first")
        assert same(state(callback.behavior), kept)
        learn(model(), callback, 10)
        assert callback.behavior.step == 50
        learn(model(), callback, 10)
        assert callback.behavior.step == 10  # not for later models

    def test_models_are_not_kept_alive(self):
        callback, first = ExplorerCallback(NOISE), model()
        learn(first, callback, 4)
        learn(model(), callback, 4)
        assert len(callback._explorers) == 2
        del first
        gc.collect()
        assert len(callback._explorers) == 1

    def test_a_host_object_shared_by_two_models_warns(self):
        host = adeu.from_host(lambda obs: np.ones(len(obs)), lambda batch: None)
        callback = ExplorerCallback(adeu.Explorer(host, adeu.Clip(), adeu.Gaussian()))
        learn(model(), callback, 4)
        with pytest.warns(UserWarning, match="keeps what it learned for another model"):
            learn(model(), callback, 4)


class TestHostObjects:
    def test_their_state_is_saved_with_the_model(self, tmp_path):
        def trained_by(net):
            optimizer = torch.optim.Adam(net.parameters())

            def compute(obs):
                return net(torch.as_tensor(obs)).square()[:, 0].detach()

            def update(batch):
                optimizer.zero_grad()
                net(torch.as_tensor(batch.obs)).square().mean().backward()
                optimizer.step()

            host = adeu.from_host(compute, update, state={"net": net, "optimizer": optimizer})
            return ExplorerCallback(adeu.Explorer(host, adeu.Saturating(c=1.0), adeu.Gaussian())), optimizer

        nets, each = [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)], model()
        callback, optimizer = trained_by(nets[0])
        learn(each, callback, 20)
        each.save(tmp_path / "td3")
        other, second = trained_by(nets[1])
        other.load(tmp_path / "td3")
        copy.deepcopy(each).learn(0, callback=other, reset_num_timesteps=False)
        assert torch.equal(nets[0].weight, nets[1].weight)
        moments = [next(iter(each.state.values()))["exp_avg"] for each in (optimizer, second)]
        assert torch.equal(*moments)
        assert moments[0].abs().max() > 0


class TestNested:
    @pytest.mark.parametrize("same_callback", [True, False])
    def test_training_another_model_inside_a_callback(self, same_callback):
        """The outer training does not change by a bit."""
        plain, callback = ExplorerCallback(LEARNS, seed=3), ExplorerCallback(LEARNS, seed=3)
        outer, inner = [make(TD3, clocks(5, 7)) for _ in range(2)], make(TD3, clocks(3, 2))
        mine = callback if same_callback else ExplorerCallback(LEARNS, seed=3)
        within = Within(lambda: learn(inner, mine, 16))
        assert alike(learn(outer[0], plain, 60), learn(outer[1], callback, 60, within))
        assert same(replayed(outer[0]), replayed(outer[1]))
        assert callback.behavior.step == 60
        assert same(state(plain.behavior), state(callback.behavior))
        if not same_callback:
            assert same(state(mine.behavior), state(_alone(inner, 16)))

    @pytest.mark.parametrize("inner", [None, "same", "other"])
    def test_training_the_same_model_inside_a_callback(self, inner):
        """It uses the explorer of the inner learn() (without one, none), then that of the outer one again."""
        callback, other, each = ExplorerCallback(NOISE), ExplorerCallback(constant(0.5)), make(TD3, clocks(5, 7))
        chosen = {None: None, "same": callback, "other": other}[inner]
        within = Within(lambda: each.learn(8, callback=chosen, reset_num_timesteps=False))
        record = learn(each, callback, 60, within)
        assert len(record.decisions) == 26
        center = each.policy.scale_action(each.predict(np.concatenate(record.obs), deterministic=True)[0])
        away = (np.concatenate(record.actions) - center).reshape(len(record.obs), -1)
        assert (away != 0).any(axis=1).all()
        assert callback.behavior.step == 52 + 8 * (inner == "same")


def _alone(inner, steps):
    callback = ExplorerCallback(LEARNS, seed=3)
    learn(make(TD3, clocks(3, 2)), callback, steps)
    return callback.behavior


class TestSeveralCallbacks:
    def test_one_after_the_other(self, tmp_path):
        one, two, each = ExplorerCallback(LEARNS, seed=1), ExplorerCallback(NOISE, seed=2), model()
        learn(each, one, 20)
        learn(each, two, 10, reset_num_timesteps=False)
        assert (one.behavior.step, two.behavior.step) == (20, 10)
        each.save(tmp_path / "two")
        learn(each, one, 10, reset_num_timesteps=False)
        assert (one.behavior.step, two.behavior.step) == (30, 10)
        each.save(tmp_path / "one")
        for name, callback in (("one", one), ("two", two)):
            expected = state(callback.behavior)
            callback.load(tmp_path / name)
            assert same(state(callback.behavior), expected)

    def test_two_at_once_are_rejected_and_one_works_afterwards(self):
        one, two, each = ExplorerCallback(NOISE), ExplorerCallback(NOISE), model()
        with pytest.raises(ValueError, match="model takes a model without another ExplorerCallback attached"):
            each.learn(10, callback=[one, two])
        assert len(learn(each, two, 10).decisions) == 5


class TestCopies:
    ways = pytest.mark.parametrize(
        "copied",
        [
            lambda each: pickle.loads(pickle.dumps(each)),
            lambda each: pickle.loads(pickle.dumps(each, protocol=2)),
            lambda each: pickle.loads(pickle.dumps(each, protocol=0)),
            lambda each: cloudpickle.loads(cloudpickle.dumps(each)),
            copy.deepcopy,
            copy.copy,
        ],
        ids=["pickle", "pickle-2", "pickle-0", "cloudpickle", "deepcopy", "copy"],
    )

    @ways
    def test_a_trained_model_can_be_copied(self, copied, tmp_path):
        callback, each = ExplorerCallback(LEARNS, seed=3), model()
        try:
            copied(each)
        except AttributeError as error:  # pickle cannot find the schedules of Stable-Baselines3 2.6
            pytest.skip(f"models cannot be copied this way: {error}")
        learn(each, callback, 20)
        other = copied(each)
        assert type(other) is TD3
        assert vars(other).keys() == vars(each).keys()
        obs = np.ones((2, 2), np.float32)
        assert same(other.predict(obs, deterministic=True), each.predict(obs, deterministic=True))
        other.save(tmp_path / "other")
        each.save(tmp_path / "each")  # the original keeps its explorer
        assert sorted(path.name for path in tmp_path.iterdir()) == ["each.adeu.npz", "each.zip", "other.zip"]
        learn(other, callback, 10)
        assert callback.behavior.step == 10

    def test_a_model_loaded_by_its_class_has_no_explorer(self, tmp_path):
        callback, each = ExplorerCallback(NOISE), model()
        learn(each, callback, 10)
        each.save(tmp_path / "each")
        other = type(each).load(tmp_path / "each", env=clocks(5, 7))
        other.save(tmp_path / "other")
        assert not (tmp_path / "other.adeu.npz").exists()
        other.learn(10)
        assert type(other) is TD3
        assert callback.behavior.step == 10

    @ways
    def test_an_unused_callback_can_be_copied(self, copied):
        callback = copied(ExplorerCallback(LEARNS, seed=3))
        learn(model(), callback, 4)
        assert callback.behavior.step == 4
