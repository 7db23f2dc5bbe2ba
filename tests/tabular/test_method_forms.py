"""The tabular forms of triggers and learned lengths equal plain versions, given the same random numbers."""

import dataclasses
import math

import numpy as np
import pytest

import adeu
from adeu.tabular import from_arrays, lower
from adeu.tabular.decision_forms import follow, restart, sample
from adeu.tabular.f_forms import Scene, Seen, begin, measure, observe
from adeu.tabular.lengths_form import scatter
from adeu.tabular.stream import streams, uniform
from tests import switching
from tests.repeating import Repeater

S, A, STEPS, EPISODE = 6, 3, 3000, 30
RNG = np.random.default_rng(0)
MODEL = from_arrays(RNG.integers(S, size=(S, A)), RNG.normal(size=(S, A)), RNG.uniform(size=(S, A)) < 0.1)
RECIPES = adeu.recipes
TRIGGERED = {
    "chance": RECIPES.blind_chance(0.05, duration=4).f,
    "chance-random": RECIPES.blind_chance(0.05, duration=4, random=True, start="explore").f,
    "chance-episodes": RECIPES.blind_chance(0.3, duration=2, per="episode").f,
    "chance-episodes-random": RECIPES.blind_chance(0.3, duration=2, random=True, per="episode", start="explore").f,
    "every": RECIPES.blind_every(70, duration=10).f,
    "every-episodes": RECIPES.blind_every(3, per="episode").f,
    "promise": RECIPES.value_promise(0.05, k=3, gamma=0.9, duration=3).f,
    "vdsc": RECIPES.vdsc(0.1, k=3, gamma=0.9, counts=adeu.Counts(S), duration=3).f,
}


@pytest.fixture(autouse=True)
def as_in_compiled_code():
    with np.errstate(over="ignore"):
        yield


def length(f, stream):
    """Sample the length of a period by inverting the geometric distribution."""
    if not f.random:
        return f.duration
    return 1 + math.floor(math.log(1 - uniform(stream)) / math.log(1 - 1 / f.duration))


@pytest.mark.parametrize("name", TRIGGERED)
def test_triggers_equal_the_plain_ones(name):
    f, method = TRIGGERED[name], name.partition("-")[0]
    form, (ours, theirs) = lower(f, MODEL), (streams(1, 1)[0] for _ in range(2))
    modes, promise = switching.Modes(f.per, f.start), switching.Promise(3, 0.9)
    rate, second, count, explored = switching.Rate(0.05), switching.Rate(0.05), 0, []
    random, visits, reward = np.random.default_rng(2), np.zeros(S, np.int64), 0.0
    for t in range(STEPS):
        s, q, first = int(random.integers(S)), random.normal(size=(S, 2, A)), t % EPISODE == 0
        if first:
            begin(form, ours)
            drawn = f.start == "explore" and (f.per == "step" or t == 0)
            modes.begin(length(f, theirs) if drawn else 0)
            promise.begin()
            reward = 0.0
        at = Scene(s, t, q[s].mean(axis=0), q, visits, ours)
        value = measure(form, at)
        if method == "chance":
            chance = f.trigger.c
        elif method == "every":
            count += f.per == "step" or first
            chance = float(count % f.trigger.n == 0)
        else:
            chance = rate.chance(promise.signal(q[s].mean(axis=0).max(), reward))
        if method == "vdsc":
            chance += second.chance(1 / math.sqrt(visits[s] + 1))
        due = modes.left == 0 and (first or f.per == "step")
        coin = uniform(theirs) if due else 1.0
        assert value == f.c * modes.explores(coin, chance, length(f, theirs) if coin < chance else 0)
        explored.append(value > 0)
        reward = float(random.normal())
        observe(form, at, Seen(0, reward, 0, False, 0.0), 0.0)
        visits[s] += 1
    assert 0.02 < np.mean(explored) < 0.7


EPSILON = 0.3
LENGTHS = {"temporl": RECIPES.tempo_rl(EPSILON, 4, 0.9).D, "ute": RECIPES.ute(EPSILON, -0.5, 4, 0.9, heads=3).D}


def one_of(number, stream):
    """Return numbers in place of Gumbel draws whose maximum is at a uniform choice."""
    return np.eye(number)[int(uniform(stream) * number)]


@pytest.mark.parametrize("name", LENGTHS)
def test_learned_lengths_equal_the_plain_methods(name):
    D, ours = dataclasses.replace(LENGTHS[name], start=1.0, step_size=0.01), streams(1, 1)[0]  # no ties
    form = lower(D, MODEL)
    scatter(form, ours)
    theirs = ours.copy()
    plain = Repeater(form.values.swapaxes(0, 1), EPSILON, D.lam, D.gamma, D.step_size)
    q, s, drawn, repeated = np.random.default_rng(3).normal(size=(S, A)), 0, 0, 0
    for _ in range(STEPS):
        action, explored = sample(form, s, tuple(range(A)), q[s], EPSILON, np.empty(A), ours)
        numbers = [1.0, 1.0, np.zeros(A), np.zeros(D.longest)]
        if plain.left == 0:
            numbers[0] = uniform(theirs)
            if numbers[0] < EPSILON:
                numbers[2] = one_of(A, theirs)
            if D.heads == 1:
                numbers[1] = uniform(theirs)
                if numbers[1] < EPSILON:
                    numbers[3] = one_of(D.longest, theirs)
        repeated += plain.left > 0
        assert (action, explored) == plain.act(q[s], s, numbers)
        k = s * A + action
        seen = Seen(action, MODEL.reward[k], MODEL.next_state[k], MODEL.terminal[k], 0.0)
        follow(form, s, seen, ours)
        learns = [D.mask_probability == 1 or uniform(theirs) < D.mask_probability for _ in range(D.heads)]
        plain.learn(s, action, seen.reward, seen.next_state, seen.terminated, learns)
        drawn += explored
        s = seen.next_state
        if seen.terminated:
            restart(form, True)
            plain.begin()
            s = 0
    np.testing.assert_allclose(form.values.swapaxes(0, 1), plain.values, atol=1e-10)
    assert 0.1 < drawn / STEPS < 0.9
    assert repeated > STEPS / 10


def test_initial_values_of_several_heads_are_normal():
    form = lower(RECIPES.ute(heads=40, longest=7).D, MODEL)
    scatter(form, streams(0, 1)[0])
    assert form.values.mean() == pytest.approx(0, abs=0.06)
    assert form.values.std() == pytest.approx(1, abs=0.04)


def test_a_mask_ends_a_repetition():
    form, stream = lower(adeu.LearnedLengths(3), MODEL), streams(0, 1)[0]
    form.values[..., 2] = 1.0  # repeat three times
    centers = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [1, -np.inf, 0]])
    taken = [sample(form, 0, (0, 1, 2), center, 0.0, np.empty(A), stream)[0] for center in centers]
    assert taken == [0, 0, 0, 1, 0]
