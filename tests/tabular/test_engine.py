"""The compiled loop equals the same loop in Python, and an independent one."""

import dataclasses
import pickle
import subprocess
import sys
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.envs import Lake, lake_mdp
from adeu.tabular.cache import compile_kernel
from adeu.tabular.kernels import train

from . import reference

MDP = lake_mdp(Lake(size=8, safe=True))
MODEL = tabular.from_mdp(MDP)
S = MODEL.num_states

ADEU = adeu.Explorer(adeu.Counts(S), adeu.ShiftedSigmoid(2.0), adeu.Categorical())
GREEDY = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())
COIN = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Bernoulli())


def make_job(explorer, **changes):
    """Return a short job with changed fields of the agent and arguments of the job."""
    fields = {name: changes.pop(name) for name in ("alpha", "gamma", "intrinsic", "learners") if name in changes}
    agent = tabular.QLearning(explorer, **fields)
    return agent.job(MODEL, **{"episodes": 60, "max_steps": 24, "seed": 3, "evaluate_every": 10} | changes)


def by_hand(job):
    """Run the job with the Python function of the kernel."""
    training = tabular.Training(job)
    while training.left:
        training.trace()
    return training.result()


def assert_same(one, other):
    for field, a, b in zip(one._fields, one, other, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=field)


@pytest.mark.parametrize("seed", [0, 7, 2**40])
@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_the_table_is_identical_to_that_of_the_reference(epsilon, seed):
    explorer = ADEU if epsilon is None else COIN
    ours = tabular.QLearning(explorer, alpha=0.7).train(MODEL, episodes=300, max_steps=24, seed=seed)
    q, visits = reference.q_learning(MDP, episodes=300, max_steps=24, seed=seed, alpha=0.7, epsilon=epsilon)
    np.testing.assert_array_equal(ours.q, q)
    np.testing.assert_array_equal(ours.visits, visits)


@pytest.mark.parametrize("sigma", [0.05, 5.0])
def test_the_table_with_vdbe_is_identical_to_that_of_the_reference(sigma):
    explorer = adeu.recipes.vdbe(MODEL.num_actions, S, sigma)
    ours = tabular.QLearning(explorer, alpha=0.7).train(MODEL, episodes=300, max_steps=24, seed=1)
    q, visits = reference.q_learning(MDP, episodes=300, max_steps=24, seed=1, alpha=0.7, sigma=sigma)
    np.testing.assert_array_equal(ours.q, q)
    np.testing.assert_array_equal(ours.visits, visits)
    by_error = dataclasses.replace(explorer, f=dataclasses.replace(explorer.f, signal="td_error"))
    other = tabular.QLearning(by_error, alpha=0.7).train(MODEL, episodes=300, max_steps=24, seed=1)
    assert (other.visits != ours.visits).any()


COST = adeu.ExpectedCost(S)
EXPLORERS = {
    "adeu": (ADEU, {}),
    "guarded": (dataclasses.replace(ADEU, guard=adeu.KnownUnsafe([3, 0], [2, 1])), {}),
    "safe": (dataclasses.replace(ADEU, f=adeu.Ratio(adeu.Counts(S), COST, lam="conditioned")), {}),
    "composed": (
        adeu.Explorer(
            adeu.Rollouts(
                adeu.Sum((adeu.TdError(S), adeu.Product((adeu.Inverse(COST), adeu.Constant(0.1))))), 0.3, 0.2
            ),
            adeu.Clip(0.0, 0.5),
            adeu.Options(options=[[1, 1], [2]], weights=[1, 2]),
        ),
        {"alpha": "1/n", "intrinsic": 0.9},
    ),
    "rollouts": (
        adeu.Explorer(
            adeu.Rollouts(
                adeu.Rollouts(adeu.Counts(S), adeu.ReturnBandit((0.0, 0.5)), adeu.TdError(S)),
                adeu.Schedule(0.5, 0.1, 200),
                0.3,
            ),
            adeu.Saturating(1.0),
            adeu.Bernoulli(),
        ),
        {},
    ),
    "triggers": (
        adeu.recipes.vdsc(0.2, k=3, counts=adeu.Counts(S), duration=2, random=True, start="explore"),
        {"learners": tabular.Learners(size=2)},
    ),
    "episodes": (adeu.recipes.blind_every(3, per="episode", duration=2), {}),
    "ute": (adeu.recipes.ute(heads=2, longest=3), {}),
    "go-explore": (adeu.recipes.go_explore(longest=20, mean=3.0), {}),
    "carried": (adeu.Explorer(adeu.Schedule(1.0, 0.1, 100), adeu.Saturating(1.0), adeu.Options(carried=True)), {}),
    "vdbe": (
        adeu.Explorer(
            adeu.Rollouts(adeu.TdError(S, signal="value_change"), 0.3, 0.2), adeu.Identity(), adeu.Bernoulli()
        ),
        {"alpha": 0.5, "learners": tabular.Learners(size=2)},
    ),
    "ucb": (GREEDY, {"learners": tabular.Learners(ucb=10.0)}),
    "disagreement": (
        adeu.Explorer(adeu.EnsembleStd(0.1), adeu.Sigmoid(1.0), adeu.Bernoulli()),
        {"learners": tabular.Learners(size=3, mask_probability=1.0)},
    ),
}


@pytest.mark.parametrize("name", EXPLORERS)
def test_compiled_and_python_results_are_identical(name):
    explorer, changes = EXPLORERS[name]
    job = make_job(explorer, **changes)
    assert_same(tabular.run(job), by_hand(job))


def test_a_job_can_be_run_repeatedly_and_pickled():
    job = make_job(*EXPLORERS["composed"][:1])
    first = tabular.run(job)
    assert_same(first, tabular.run(job))
    assert_same(first, tabular.run(pickle.loads(pickle.dumps(job))))


def test_evaluation_does_not_change_training():
    often, seldom = (tabular.run(make_job(ADEU, evaluate_every=every)) for every in (1, 60))
    np.testing.assert_array_equal(often.q, seldom.q)
    assert often.returns[-1] == seldom.returns[-1]
    assert often.evaluated.tolist() == list(range(1, 61))


def test_the_guard_decides_in_its_states():
    mentor = adeu.KnownUnsafe([0], [3])  # always walks into the border
    done = tabular.run(make_job(dataclasses.replace(ADEU, guard=mentor)))
    assert done.visits[1:].sum() == 0
    assert (done.returns == -240).all()


def test_violations_are_counted():
    done = tabular.run(make_job(dataclasses.replace(COIN, f=adeu.Constant(1.0)), episodes=2000))
    assert 0 < done.violations.sum() < done.steps.sum()


def test_new_values_do_not_recompile():
    tabular.run(make_job(ADEU))
    kernel = compile_kernel(train, *tabular.Training(make_job(ADEU)).arguments)
    before = len(kernel.signatures)
    other = adeu.Explorer(adeu.Counts(S, beta=0.1), adeu.ShiftedSigmoid(1.0), adeu.Categorical(0.5))
    job = make_job(other, episodes=7, gamma=1, alpha=0.5, intrinsic=1, seed=9, evaluate_every=3, q=1.0)
    tabular.run(job)
    assert compile_kernel(train, *tabular.Training(job).arguments) is kernel
    assert len(kernel.signatures) == before


def test_initial_tables_can_be_given():
    cold = tabular.QLearning(GREEDY, q=-3.0).job(MODEL, episodes=1, max_steps=24, seed=0)
    assert (cold.learner.q == -3).all()
    warm = tabular.run(make_job(GREEDY, q=-5.0 * MDP.terminal, visits=np.arange(S), episodes=1))
    assert warm.visits.sum() == np.arange(S).sum() + warm.steps.sum()
    assert warm.q.min() <= -5


@dataclasses.dataclass(frozen=True)
class Frontier(adeu.Mechanism):
    """A user's f."""

    scale: float = 1.0

    def measure(self, key, state, carry, obs, **given):
        return self.scale * jnp.sqrt(obs + 1.0), carry


class FrontierForm(NamedTuple):
    scale: float


@tabular.lower.register
def _(part: Frontier, model):
    return FrontierForm(part.scale)


@tabular.measure.register
def _(f: FrontierForm, at):
    return f.scale * (at.s + 1) ** 0.5


def test_a_users_part_can_be_registered():
    job = make_job(adeu.Explorer(adeu.Rollouts(Frontier(0.1), 0.2, 0.3), adeu.Saturating(1.0), adeu.Bernoulli()))
    assert_same(tabular.run(job), by_hand(job))


def test_running_a_pickled_job_does_not_import_jax(tmp_path):
    job = make_job(ADEU)
    (tmp_path / "job").write_bytes(pickle.dumps(job))
    script = (
        "import pickle, sys; from adeu import tabular\n"
        f"job = pickle.loads(open({str(tmp_path / 'job')!r}, 'rb').read())\n"
        "print(tabular.run(job).q.sum(), 'jax' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.split() == [str(tabular.run(job).q.sum()), "False"]


def test_the_cache_folder_of_kernels_depends_on_their_sources(tmp_path, monkeypatch):
    from adeu.tabular import cache

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plain = cache._folder(set())
    assert plain.startswith(str(tmp_path))
    assert cache._folder({__name__}) != plain
    assert cache._folder({"__main__"}) == cache._folder({"no.such.module"}) == ""
    monkeypatch.setattr(cache, "_own_source", lambda: b"edited")
    assert cache._folder(set()) != plain
