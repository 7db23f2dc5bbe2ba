"""The state of host objects is saved with a behavior, without pickle, and restored bit for bit."""

import collections
import json
import pathlib
import pickle
import subprocess
import sys

import gymnasium
import jax
import numpy as np
import pytest
import torch

import adeu
from adeu.behavior import host_state
from adeu.core import files, npz


class Curiosity:
    """A torch module that learns to predict the next observation, and its optimizer."""

    def __init__(self, seed=0):
        torch.manual_seed(seed)
        layers = torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 4)
        self.net = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=0.01, amsgrad=True)

    def compute(self, obs):
        self.net.eval()
        with torch.no_grad():
            return self.net(torch.as_tensor(obs)).square().mean(dim=1)

    def learn(self, batch):
        self.net.train()
        error = (self.net(torch.as_tensor(batch.obs)) - torch.as_tensor(batch.next_obs)).square().mean()
        self.optimizer.zero_grad()
        error.backward()
        self.optimizer.step()

    def host(self):
        return adeu.from_host(self.compute, self.learn, state={"net": self.net, "optimizer": self.optimizer})


class Novelty:
    """A running mean, a random generator and a growing list."""

    def __init__(self):
        self.mean, self.random, self.seen = 0.0, np.random.default_rng(0), []

    def compute(self, obs):
        return np.linalg.norm(obs - self.mean, axis=1) + self.random.random()

    def learn(self, batch):
        self.mean = 0.9 * self.mean + 0.1 * batch.obs.mean(axis=0)
        self.seen.append(np.float32(batch.obs.sum()))

    def state(self):
        return {"mean": self.mean, "random": self.random.bit_generator.state, "seen": self.seen}

    def set_state(self, state):
        self.mean, self.random.bit_generator.state, self.seen = state["mean"], state["random"], state["seen"]

    def host(self, **settings):
        return adeu.from_host(self.compute, self.learn, state=self.state, set_state=self.set_state, **settings)


def behavior_of(host, seed=0):
    explorer = adeu.Explorer(adeu.Rollouts(host, rho=0.2, c=0.5), adeu.Saturating(c=1.0), adeu.Bernoulli())
    return adeu.Behavior(explorer, gymnasium.make("CartPole-v1"), seed)


def run(behavior, seed, steps=10):
    """Learn from random transitions, and return all decisions."""
    random, decided = np.random.default_rng(seed), []
    for _ in range(steps):
        decided.append(behavior.act(random.normal(size=4), center=[0.0, 0.1]))
        obs, after = random.normal(size=(2, 8, 4)).astype(np.float32)
        flags = np.zeros(8, bool)
        behavior.update(adeu.Transition(obs, np.zeros(8, int), np.zeros(8), after, flags, flags))
    return np.array([[*map(float, decision)] for decision in decided])


@pytest.mark.parametrize("kind", [Curiosity, Novelty])
def test_a_loaded_behavior_resumes_bit_for_bit(kind, tmp_path):
    never = behavior_of(kind().host())
    run(never, 1)
    never.save(tmp_path / "behavior.npz")
    expected = run(never, 2)
    again = behavior_of(kind().host(), seed=9)
    again.load(tmp_path / "behavior.npz")
    np.testing.assert_array_equal(run(again, 2), expected)
    fresh = behavior_of(kind().host())
    run(fresh, 3)  # loading replaces what it learned
    fresh.load(tmp_path / "behavior.npz")
    np.testing.assert_array_equal(run(fresh, 2), expected)


def test_the_state_may_be_a_single_torch_module(tmp_path):
    nets = [torch.nn.Linear(4, 1) for _ in range(2)]
    behaviors = [
        behavior_of(adeu.from_host(lambda obs, net=net: net(torch.as_tensor(obs)).abs()[:, 0], state=net))
        for net in nets
    ]
    behaviors[0].save(tmp_path / "behavior.npz")
    behaviors[1].load(tmp_path / "behavior.npz")
    assert torch.equal(nets[0].weight, nets[1].weight)
    assert nets[1].weight.requires_grad


def test_without_a_state_save_warns(tmp_path):
    novelty = Novelty()
    behavior = behavior_of(adeu.from_host(novelty.compute, novelty.learn))
    with pytest.warns(
        UserWarning, match=r"The learned state of FromHost\(.* is not saved.*from_host\(.*state="
    ) as caught:
        behavior.save(tmp_path / "behavior.npz")
    assert caught[0].filename == __file__
    behavior.load(tmp_path / "behavior.npz")
    behavior_of(adeu.from_host(novelty.compute)).save(tmp_path / "nothing.npz")  # no warning: it learns nothing


def test_an_explorer_may_have_two_host_objects(tmp_path):
    """Names with the same prefix are not confused."""
    objects = [(Novelty(), Novelty()) for _ in range(2)]
    behaviors = [behavior_of(adeu.Sum((one.host(name="mean"), two.host(name="mean_1")))) for one, two in objects]
    run(behaviors[0], 1)
    objects[0][1].mean = np.full(4, 7.0)
    behaviors[0].save(tmp_path / "behavior.npz")
    behaviors[1].load(tmp_path / "behavior.npz")
    for left, right in zip(*objects, strict=True):
        np.testing.assert_array_equal(left.mean, right.mean)


def test_a_state_that_one_object_rejects_changes_none(tmp_path):
    behavior_of(adeu.Sum((Novelty().host(name="a"), Curiosity().host()))).save(tmp_path / "behavior.npz")
    novelty, other = Novelty(), Curiosity(1)
    other.net[0] = torch.nn.Linear(4, 5)
    behavior = behavior_of(adeu.Sum((novelty.host(name="a"), other.host())), seed=3)
    novelty.mean, kept = 5.0, other.net[3].weight.detach().clone()
    before = jax.tree.leaves((behavior.state, behavior.carry))
    with pytest.raises(ValueError, match=r"npz: host_uncertainty rejects the saved state \(Error.*state_dict"):
        behavior.load(tmp_path / "behavior.npz")
    assert novelty.mean == 5.0
    assert torch.equal(other.net[3].weight, kept)
    for left, right in zip(before, jax.tree.leaves((behavior.state, behavior.carry)), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"a": {1: (None, True, 2**100, -0.1, "text", [np.int8(3)])}},
        collections.OrderedDict(b=torch.arange(3), a=np.zeros((0, 2)), c=torch.tensor(2.5, dtype=torch.float64)),
        [float("inf"), np.array(1 + 2j), jax.numpy.ones(2)],
    ],
)
def test_every_supported_type_round_trips(state):
    arrays = host_state.pack("x", state)
    back = host_state.unpack("x", npz.unpack(npz.pack(arrays)))
    assert_alike(state, back)


def assert_alike(left, right):
    if isinstance(left, dict):
        assert list(left) == list(right)
        left, right = [*left.values()], [*right.values()]
    assert type(left) is type(right) or (isinstance(left, jax.Array) and isinstance(right, np.ndarray))
    if isinstance(left, list | tuple):
        assert len(left) == len(right)
        for each in zip(left, right, strict=True):
            assert_alike(*each)
    else:
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    ("state", "place"),
    [
        ({"a": [object()]}, r"x\['a'\]\[0\]"),
        (np.array([object()]), "x"),
        (torch.zeros(2, dtype=torch.bfloat16), "x"),
        (np.array(["text"]), "x"),
        (adeu.Transition(1, 2, 3, 4, 5, 6), "x"),
        (jax.random.key(0), "x"),
    ],
)
def test_unsupported_types_are_rejected(state, place):
    with pytest.raises(TypeError, match=f"the state at {place} takes dicts .*, got "):
        host_state.pack("x", state)


def test_keys_that_json_does_not_support_are_rejected():
    with pytest.raises(
        TypeError, match=r"the state at x takes keys that are text or whole numbers, got \[\(1, 2\)\]"
    ):
        host_state.pack("x", {(1, 2): 3})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"state": len}, "from_host: state takes an object with state_dict and load_state_dict"),
        ({"state": {"a": 1}}, "from_host: state takes"),
        ({"set_state": len}, "FromHost: state and set_state takes two functions"),
        ({"state": 1, "set_state": len}, "FromHost: state takes a function, got 1"),
    ],
)
def test_bad_arguments_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        adeu.from_host(len, **arguments)


class TestHostileFiles:
    @pytest.fixture
    def behavior(self, tmp_path):
        behavior = behavior_of(Novelty().host())
        run(behavior, 1, 3)
        behavior.save(tmp_path / "it")
        return behavior

    def rejected(self, behavior, path, **arrays):
        path.write_bytes(npz.pack(npz.unpack(path.read_bytes()) | arrays))
        with pytest.raises(ValueError, match="it is damaged"):
            behavior.load(path)

    @pytest.mark.parametrize(
        "form",
        [
            {"array": 99},
            {"array": "../header"},
            {"eval": "1"},
            {"list": [{"array": 0}, {"array": 0}]},
            {"dict": [[["a"], {"value": 1}]]},
            {"value": 1},  # with unused arrays
            [],
        ],
    )
    def test_invalid_forms_are_rejected(self, behavior, tmp_path, form):
        text = np.frombuffer(json.dumps(form).encode(), np.uint8)
        self.rejected(behavior, tmp_path / "it", **{"host.host_uncertainty": text})

    def test_deep_nesting_is_rejected(self, behavior, tmp_path):
        text = np.frombuffer(b'{"list": [' * 100_000 + b"]}" * 100_000, np.uint8)
        self.rejected(behavior, tmp_path / "it", **{"host.host_uncertainty": text})

    def test_other_hosts_and_bad_values_are_rejected(self, behavior, tmp_path):
        self.rejected(behavior, tmp_path / "it", **{"host.other": np.zeros(2, np.uint8)})
        behavior.save(tmp_path / "it")
        self.rejected(behavior, tmp_path / "it", **{"host.host_uncertainty.0": np.array(["text"])})

    def test_the_size_is_checked_before_reading(self, behavior, tmp_path, monkeypatch):
        monkeypatch.setattr(files, "largest_arrays", lambda: 1_000)
        with pytest.raises(ValueError, match=r"it has .* bytes, expected at most 1,000"):
            behavior.load(tmp_path / "it")

    def test_nothing_is_unpickled(self, behavior, tmp_path):
        path = tmp_path / "it"
        arrays = npz.unpack(path.read_bytes())
        np.savez(tmp_path / "pickled.npz", **arrays | {"host.host_uncertainty.0": np.array([Planted(tmp_path)])})
        with pytest.raises(ValueError, match="damaged"):
            behavior.load(tmp_path / "pickled.npz")
        assert not (tmp_path / "planted").exists()
        pickle.loads(pickle.dumps(Planted(tmp_path)))
        assert (tmp_path / "planted").exists()  # unpickling creates it

    def test_loading_a_file_does_not_import_torch(self):
        """A fresh process that has not imported torch rejects a tensor."""
        code = """
import sys
from adeu.behavior import host_state
import numpy as np
arrays = host_state.pack("x", np.zeros(2)) | {"x": np.frombuffer(b'{"tensor": 0}', np.uint8)}
try:
    host_state.unpack("x", arrays)
except Exception as error:
    print(type(error).__name__, "torch" in sys.modules)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["KeyError", "False"]


class Planted:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return pathlib.Path.touch, (self.folder / "planted",)
