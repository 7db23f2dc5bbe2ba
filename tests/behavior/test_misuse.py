"""Misuse of Behavior: unused keywords, batches of many sizes, bad rows, empty masks and spaces, several threads."""

import copy
import dataclasses
import inspect
import re
import sys
import threading
import types
import warnings

import gymnasium
import jax
import numpy as np
import pytest

import adeu
from adeu.behavior.behavior import MOST_SIZES
from tests.loops import same

POLE, PENDULUM = gymnasium.make("CartPole-v1"), gymnasium.make("Pendulum-v1")
RND = adeu.Rnd(hidden=(4,), features=2)
STEP = adeu.Transition(np.zeros(4), 0, 0.0, np.zeros(4), False, False)


def explorer(f=adeu.Constant(0.5), D=adeu.Bernoulli()):  # noqa: B008
    return adeu.Explorer(f, adeu.Saturating(1.0), D)


def refused(message, call):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


UNUSED = {"note": "words", "nothing": None, "table": {"a": 1}, "wrong": np.zeros((5, 7)), "nan": np.nan}


class TestUnusedKeywords:
    def test_they_are_ignored(self):
        plain, other = (adeu.Behavior(explorer(RND), POLE) for _ in range(2))
        for given, behavior in (({}, plain), (UNUSED, other)):
            behavior.act(np.zeros(4), [0.0, 1.0], **given)
            behavior.observe(STEP, **given)
            behavior.update([STEP] * 4, **given)
        assert same(*(jax.tree.leaves(jax.tree.map(np.asarray, b._tree())) for b in (plain, other)))

    def test_new_ones_do_not_recompile(self):
        behavior = adeu.Behavior(explorer(adeu.Constant(0.123)), POLE)
        behavior.act(np.zeros(4), [0.0, 1.0])
        compiled = behavior._batched.act._cache_size()
        for size in range(1, 5):
            behavior.act(np.zeros(4), [0.0, 1.0], extra=np.zeros(size))
        assert behavior._batched.act._cache_size() == compiled

    def test_an_optional_keyword_reaches_its_part(self):
        @dataclasses.dataclass(frozen=True)
        class Optional(adeu.Mechanism):
            def measure(self, key, state, carry, obs, *, bonus=0.25, **given):
                return abs(bonus), carry

        for f in (Optional(), adeu.Rollouts(Optional(), rho=0.0, c=0.1), adeu.Sum((adeu.Constant(0.0), Optional()))):
            behavior = adeu.Behavior(explorer(f), POLE)
            assert behavior.act(np.zeros(4), [0.0, 1.0]).uncertainty == 0.25
            assert behavior.act(np.zeros(4), [0.0, 1.0], bonus=2.0).uncertainty == 2.0
            refused("bonus takes finite numbers, got nan", lambda: behavior.act(np.zeros(4), [0, 1], bonus=np.nan))  # noqa: B023
            refused("bonus takes numbers, got <U4", lambda: behavior.act(np.zeros(4), [0, 1], bonus="much"))  # noqa: B023

    def test_reserved_names_are_rejected(self):
        refused("step is reserved", lambda: adeu.Behavior(explorer(), POLE).observe(STEP, step=3))


class TestBatchSizes:
    def test_many_sizes_warn_once_with_advice(self):
        behavior = adeu.Behavior(explorer(RND), POLE)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for size in [*range(1, MOST_SIZES + 1), *range(1, MOST_SIZES + 1)]:
                behavior.update([STEP] * size)
        with pytest.warns(UserWarning, match=r"batches of 9 sizes, \[1, 2.* Use one batch size, or a few") as caught:
            behavior.update([STEP] * (MOST_SIZES + 1))
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            behavior.update([STEP] * (MOST_SIZES + 2))

    def test_no_warning_if_nothing_compiles(self):
        behavior = adeu.Behavior(explorer(), POLE)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for size in range(1, MOST_SIZES + 3):
                behavior.update([STEP] * size)
        assert behavior._batched.update._cache_size() == 0


def test_a_bad_row_of_a_batch_is_reported():
    behavior = adeu.Behavior(explorer(RND), POLE)
    for change, message in (
        ({"obs": np.zeros(3)}, "batch[2]: obs takes shape (4,), got (3,)"),
        ({"obs": 0.5}, "batch[2]: obs takes shape (4,), got ()"),
        ({"next_obs": {"a": 1}}, "batch[2]: next_obs takes numbers, shape (4,), got a dict"),
        ({"reward": np.zeros(2)}, "batch[2]: reward takes shape (), got (2,)"),
        ({"reward": None}, "batch[2]: reward takes numbers, shape (), got a NoneType"),
        ({"terminated": [True, False]}, "batch[2]: terminated takes shape (), got (2,)"),
        ({"cost": 1.0}, "batch takes transitions of the same kind: all with a cost, or none"),
    ):
        refused(message, lambda change=change: behavior.update([STEP, STEP, STEP._replace(**change), STEP]))
    for change, message in (
        ({"reward": "1.5"}, "reward takes numbers, got <U"),
        ({"reward": 1e300}, "reward takes finite numbers, got inf at index [1]"),
        ({"terminated": "no"}, "terminated takes true or false, got <U"),
        ({"obs": np.full(4, 1e300)}, "obs takes finite numbers, got inf at index [1, 0]"),
    ):
        refused(message, lambda change=change: behavior.update([STEP, STEP._replace(**change)]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"obs": 0.5}, "obs takes shape (4,), got ()"),
        ({"obs": np.full(4, 1e300)}, "obs takes finite numbers, got inf at index [0]"),
        ({"next_obs": {"x": np.zeros(4)}}, "next_obs takes numbers, shape (4,), got a dict"),
        ({"reward": "1.5"}, "reward takes numbers, got <U3"),
        ({"reward": None}, "reward takes numbers, shape (), got a NoneType"),
        ({"reward": np.zeros(2)}, "reward takes shape (), got (2,)"),
        ({"terminated": "no"}, "terminated takes true or false, got <U2"),
        ({"truncated": None}, "truncated takes true or false, shape (), got a NoneType"),
    ],
)
def test_a_bad_transition_is_reported(change, message):
    behavior = adeu.Behavior(explorer(), POLE)
    refused(message, lambda: behavior.observe(STEP._replace(**change)))


class TestMasks:
    def test_a_mask_without_a_free_dimension_is_rejected(self):
        behavior = adeu.Behavior(explorer(D=adeu.Gaussian()), PENDULUM)
        message = "action_mask takes at least one dimension that may explore per environment, got [False]"
        refused(message, lambda: behavior.act(np.zeros(3), [0.0], action_mask=[False]))
        assert behavior.act(np.zeros(3), [0.0], action_mask=[True]).explored

    def test_a_mask_without_a_free_dimension_in_one_environment_is_rejected(self):
        envs = gymnasium.make_vec("Pendulum-v1", 2)
        behavior = adeu.Behavior(explorer(D=adeu.Gaussian()), envs)
        mask = np.array([[True], [False]])
        refused(
            "at least one dimension that may explore", lambda: behavior.act(np.zeros((2, 3)), np.zeros((2, 1)), mask)
        )


def spaces(observation=POLE.observation_space, action=POLE.action_space, **more):
    return types.SimpleNamespace(observation_space=observation, action_space=action, **more)


class TestSpaces:
    @pytest.mark.parametrize("count", [0, -1, 2.7, 2.0, "3", None, True])
    def test_a_bad_num_envs_is_rejected(self, count):
        message = f"Behavior: env.num_envs takes a whole number >= 1, got {count!r}"
        refused(message, lambda: adeu.Behavior(explorer(), spaces(num_envs=count)))

    @pytest.mark.parametrize(
        "space",
        [
            gymnasium.spaces.Box(-1, 1, (0,)),
            gymnasium.spaces.Box(-1, 1, (3, 0)),
            gymnasium.spaces.Dict(a=gymnasium.spaces.Discrete(2), b=gymnasium.spaces.Box(-1, 1, (0,))),
            gymnasium.spaces.Tuple(()),
        ],
        ids=str,
    )
    def test_empty_observation_spaces_are_rejected(self, space):
        message = f"Behavior: observation space takes at least one number in each of its parts, got {space!r}"
        refused(message, lambda: adeu.Behavior(explorer(), spaces(space)))

    def test_an_encoder_may_drop_an_empty_part_but_not_return_one(self):
        space = gymnasium.spaces.Dict(a=gymnasium.spaces.Box(-1, 1, (2,)), b=gymnasium.spaces.Box(-1, 1, (0,)))
        adeu.Behavior(explorer(), spaces(space), encoder=lambda obs: obs["a"])
        message = "Behavior: encoder's output takes at least one number"
        refused(message, lambda: adeu.Behavior(explorer(), spaces(space), encoder=lambda obs: obs["b"]))

    def test_empty_action_spaces_are_rejected(self):
        box = gymnasium.spaces.Box(-1, 1, (0,))
        message = "Behavior: env takes an action space with at least one number, got Box"
        refused(message, lambda: adeu.Behavior(explorer(D=adeu.Gaussian()), spaces(action=box)))


class TestThreads:
    THREADS, CALLS = 4, 60

    def run(self, work):
        """Call `work` in several threads that switch as often as possible."""
        barrier, failed = threading.Barrier(self.THREADS), []

        def play():
            barrier.wait()
            try:
                for _ in range(self.CALLS):
                    work()
            except Exception as error:
                failed.append(error)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=play) for _ in range(self.THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        assert failed == []

    def test_concurrent_calls_give_the_results_of_sequential_ones(self):
        """Every call uses different random numbers and is counted."""

        def step(behavior):
            decision = behavior.act(2, np.zeros(4))
            behavior.observe(adeu.Transition(2, 1, 0.0, 3, False, False))
            decisions.append(float(decision.uncertainty))

        lake, decisions = gymnasium.make("FrozenLake-v1"), []
        shared, alone = (adeu.Behavior(explorer(adeu.Counts(16)), lake) for _ in range(2))
        self.run(lambda: step(shared))
        for _ in range(self.THREADS * self.CALLS):
            step(alone)
        assert shared.step == alone.step == self.THREADS * self.CALLS
        counted, expected = (jax.tree.map(np.asarray, b.state) for b in (shared, alone))
        assert same(jax.tree.leaves(counted), jax.tree.leaves(expected))
        assert same(jax.tree.leaves(shared.carry.key), jax.tree.leaves(alone.carry.key))
        assert int(shared._history.acts) == self.THREADS * self.CALLS

    def test_signatures_and_copies_are_preserved(self):
        assert list(inspect.signature(adeu.Behavior.act).parameters) == [
            "self",
            "obs",
            "center",
            "action_mask",
            "given",
        ]
        behavior = adeu.Behavior(explorer(), POLE)
        assert copy.deepcopy(behavior._turn) is not behavior._turn
