"""The tabular form of every part agrees with its JAX form."""

import jax
import numpy as np
import pytest

import adeu
from adeu.tabular import from_arrays, lower
from adeu.tabular.decision_forms import advise, normalize, sample
from adeu.tabular.f_forms import Scene, Seen, begin, measure, observe, prepare
from adeu.tabular.stream import streams

S, A, LEARNERS = 5, 3, 4
NUMBERS = tuple(range(A))
RNG = np.random.default_rng(0)
MODEL = from_arrays(RNG.integers(S, size=(S, A)), np.zeros((S, A)), np.zeros((S, A), bool))
COST = adeu.ExpectedCost(S, A, step_size=0.5)

MECHANISMS = [
    adeu.Constant(0.3),
    adeu.Schedule(1.0, 0.1, steps=20),
    adeu.Schedule(1.0, 0.1, steps=50, kind="exponential"),
    adeu.Counts(S, beta=0.7),
    adeu.TdError(S, sigma=2.0, rate=0.3),
    adeu.TdError(S, sigma=2.0, rate=0.3, signal="value_change"),
    adeu.Rollouts(adeu.Sum((COST, adeu.TdError(S, signal="value_change"))), rho=0.0, c=1.0),
    adeu.EnsembleStd(lam=2.0),
    COST,
    adeu.Inverse(COST),
    adeu.Ratio(adeu.Counts(S), COST, lam=2.0),
    adeu.Ratio(adeu.Counts(S), COST, lam="conditioned"),
    adeu.Sum((adeu.Counts(S), adeu.TdError(S), COST)),
    adeu.Product((adeu.Counts(S), adeu.Constant(3.0), COST)),
    adeu.Rollouts(adeu.Counts(S), rho=0.0, c=7.0),
    adeu.Rollouts(adeu.Counts(S), rho=1.0, c=7.0),
    adeu.Rollouts(adeu.Counts(S), rho=adeu.Constant(0.0), c=adeu.TdError(S)),
    adeu.Rollouts(adeu.TdError(S), rho=adeu.Schedule(1.0, 0.0, steps=1), c=adeu.Counts(S)),
    adeu.ReturnBandit((0.2, 0.1)),
    adeu.BestActionGap([0, 2, 1, 1, 0]),
    adeu.HyperStates(adeu.Sum((adeu.Counts(2), adeu.TdError(2))), [0, 1, 1, 0, 1]),
    adeu.Inverse(adeu.Rollouts(adeu.Sum((COST, adeu.TdError(S))), rho=0.0, c=1.0)),
    adeu.Every(3),
    adeu.ValuePromise(k=4, gamma=0.8),
    adeu.ValuePromise(k=4, gamma=0.8, form="td"),
    adeu.Homeostasis(adeu.Sum((adeu.ValuePromise(k=2), adeu.TdError(S, signal="value_change"))), rate=0.1),
    adeu.Rollouts(adeu.Every(4), rho=0.0, c=adeu.Triggered(adeu.Every(5), duration=2)),
    adeu.Rollouts(adeu.Every(4), rho=1.0, c=adeu.Triggered(adeu.Every(5), duration=2, c=0.3)),
]


@pytest.fixture(autouse=True)
def double_precision_with_overflow():
    with jax.enable_x64(True), np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize("f", MECHANISMS, ids=repr)
def test_mechanisms_agree_along_a_walk(f):
    rng, stream = np.random.default_rng(1), streams(0, 1)[0]
    lowered, visits = lower(f, MODEL), np.zeros(S, np.int64)
    key = jax.random.key(0)
    state, carry = f.init(key, 0), f.begin(key)
    begin(lowered, stream)
    reward = 0.0
    for step in range(40):
        s, a = int(rng.integers(S)), int(rng.integers(A))
        q = rng.normal(scale=5.0, size=(S, LEARNERS, A)).round()
        mask = np.array([True, step % 3 > 0, True])
        center = q[s].mean(axis=0)
        at = Scene(s, step, np.where(mask, center, -np.inf), q, visits, stream)
        given = {"center": center, "q_values": q[s], "action_mask": mask, "step": step, "reward": reward}
        theirs, carry = f.measure(key, state, carry, s, explored=False, **given)
        assert measure(lowered, at) == pytest.approx(float(theirs), rel=1e-12)

        cost, td_error = float(rng.choice([0.0, 10.0])), float(rng.normal())
        change, reward = rng.normal(size=2).tolist()
        prepare(lowered, at, a)
        q[s, :, a] += change
        observe(lowered, at, Seen(a, reward, s, False, cost), td_error)
        visits[s] += 1
        seen = adeu.Transition(s, a, reward, s, False, False, cost)
        state = f.observe(state, seen, td_error=td_error, value_change=change)


@pytest.mark.parametrize(
    "f", [adeu.ReturnBandit((0.0, 0.3, 0.1)), adeu.ReturnBandit((0.5, 0.2), decay=0.7, width=0.1)]
)
def test_a_bandit_chooses_the_same_arms(f):
    rng, stream = np.random.default_rng(2), streams(0, 1)[0]
    lowered, state, key = lower(f, MODEL), f.init(jax.random.key(0), 0), jax.random.key(0)
    arms = []
    for episode in range(60):
        begin(lowered, stream)
        for step in range(3):
            at = Scene(0, step, np.zeros(A), np.zeros((S, 1, A)), np.zeros(S, np.int64), stream)
            arms.append(measure(lowered, at))
            assert arms[-1] == f.measure(key, state, (), 0)[0]
            reward = float(rng.normal()) + 3 * (arms[-1] > 0.25)
            observe(lowered, at, Seen(0, reward, 0, False, 0.0), 0.0)
            ends = (step == 2 and episode % 2 == 0, step == 2 and episode % 2 == 1)
            state = f.observe(state, adeu.Transition(0, 0, reward, 0, *ends))
    assert set(arms) == set(f.arms)
    assert np.mean(np.array(arms) > 0.25) > 0.5


NORMALIZERS = [
    adeu.Sigmoid(0.3),
    adeu.Saturating(0.5),
    adeu.ShiftedSigmoid(2.0),
    adeu.Identity(),
    adeu.Clip(0.2, 3.0),
]


@pytest.mark.parametrize("g", NORMALIZERS, ids=repr)
@pytest.mark.parametrize("x", [0.0, 1e-3, 0.3, 1.0, 5.0, 1e3])
def test_normalizers_agree(g, x):
    assert normalize(lower(g, MODEL), x) == pytest.approx(float(g(x)), rel=1e-12, abs=1e-300)


def frequencies(D, center, spread, draws=4000):
    """Return the frequency of each action, and the share that explores."""
    lowered, stream, scratch = lower(D, MODEL), streams(1, 1)[0], np.empty(A)
    taken = [sample(lowered, 0, NUMBERS, center, spread, scratch, stream) for _ in range(draws)]
    actions, explored = np.array(taken).T
    return np.bincount(actions, minlength=A) / draws, explored.mean()


@pytest.mark.parametrize("spread", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("center", [[1.0, 0.0, 1.0], [0.0, -np.inf, 2.0], [3.0, 2.9, 0.0]], ids=str)
def test_categorical_has_the_same_probabilities(center, spread):
    D, center = adeu.Categorical(0.5), np.array(center)
    expected = np.asarray(D.probabilities(np.where(center > -np.inf, center, 0.0), spread, center > -np.inf))
    taken, explored = frequencies(D, center, spread)
    assert taken == pytest.approx(expected, abs=0.035)
    assert explored == pytest.approx(expected[center < center.max()].sum(), abs=0.035)


@pytest.mark.parametrize("spread", [0.0, 0.4, 1.0])
def test_bernoulli_breaks_ties_and_explores_with_the_spread(spread):
    taken, explored = frequencies(adeu.Bernoulli(), np.array([1.0, 0.0, 1.0]), spread)
    assert taken == pytest.approx([0.5 - spread / 6, spread / 3, 0.5 - spread / 6], abs=0.035)
    assert explored == pytest.approx(spread, abs=0.035)


@pytest.mark.parametrize(
    "D", [adeu.Options(mu=3.0), adeu.Options(mu=3.0, options=[[0, 2], [1]], weights=[3, 1])], ids=repr
)
def test_options_agree_in_distribution(D):
    center, spread, draws = np.array([0.0, 0.0, 1.0]), 0.3, 4000
    ours, explored = frequencies(D, center, spread, draws)

    def step(carry, key):
        action, explored, carry = D.sample(key, (), carry, center, spread)
        return carry, (action, explored)

    keys = jax.random.split(jax.random.key(0), draws)
    _, (actions, theirs) = jax.lax.scan(step, D.begin(jax.random.key(1)), keys)
    assert ours == pytest.approx(np.bincount(actions, minlength=A) / draws, abs=0.06)
    assert explored == pytest.approx(float(theirs.mean()), abs=0.06)


def test_options_play_their_sequence():
    lowered, stream = lower(adeu.Options(options=[[1, 0]]), MODEL), streams(0, 1)[0]
    actions = [sample(lowered, 0, NUMBERS, np.array([9.0, 0.0, 0.0]), 1.0, np.empty(A), stream)[0] for _ in range(4)]
    assert actions == [1, 0, 1, 0]


def test_guards_agree():
    guard = adeu.KnownUnsafe([3, 1], [2, 0])
    lowered = lower(guard, MODEL)
    for s in range(S):
        active, action, _ = guard((), (), s, 0.0)
        assert advise(lowered, s) == (int(action) if active else -1)
