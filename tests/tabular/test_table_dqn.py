"""Tabular DQN: compared with plain Python on the same random numbers, in pieces, and in the deep sea."""

import dataclasses
import re

import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.envs import Sea, deep_sea_mdp
from adeu.tabular.f_forms import Seen
from adeu.tabular.learner_forms import learn, prefer, value
from adeu.tabular.stream import streams, uniform

EZ = adeu.Explorer(adeu.Constant(1 / 11), adeu.Identity(), adeu.Options(2.0, carried=True))
NOTHING = adeu.Explorer(adeu.Constant(0.0), adeu.Identity(), adeu.Bernoulli())


def sea_job(size, agent, seed=0, episodes=500):
    model = tabular.from_mdp(deep_sea_mdp(Sea(size=size)))
    return agent.job(model, episodes=episodes, max_steps=size, seed=seed, evaluate_every=50)


class Plain:
    """A plain implementation of the learner."""

    def __init__(self, q, agent, gamma, rng):
        self.q, self.target = q.copy(), q.copy()
        self.agent, self.gamma, self.rng = agent, gamma, rng
        self.kept, self.steps = [None] * agent.capacity, 0

    def learn(self, s, a, reward, after, ended):
        tables, agent = range(self.q.shape[1]), self.agent
        mask = [agent.mask_probability >= 1 or uniform(self.rng) < agent.mask_probability for _ in tables]
        self.kept[self.steps % agent.capacity] = (s, a, reward, after, ended, mask)
        self.steps += 1
        if self.steps % agent.update_every == 0:
            for _ in range(agent.batch):
                filled = min(self.steps, agent.capacity)
                s, a, reward, after, ended, mask = self.kept[int(uniform(self.rng) * filled)]
                for i in tables:
                    y = reward + (0.0 if ended else self.gamma * self.target[after, i].max())
                    if mask[i]:
                        self.q[s, i, a] += agent.alpha * (y - self.q[s, i, a])
        if self.steps % agent.target_every == 0:
            self.target = self.q.copy()


@pytest.mark.parametrize(
    "agent",
    [
        tabular.TableDqn(NOTHING, alpha=0.3, capacity=40, batch=4, target_every=7),
        tabular.TableDqn(
            NOTHING, capacity=1000, batch=8, update_every=3, target_every=5, tables=3, mask_probability=0.5
        ),
    ],
    ids=["one", "three"],
)
def test_it_learns_as_the_plain_implementation(agent):
    job = sea_job(4, agent)
    learner, rng = job.learner, np.random.default_rng(0)
    own, theirs = streams(5, 1)[0], streams(5, 1)[0]
    plain = Plain(learner.q, agent, 0.9, theirs)
    with np.errstate(over="ignore"):
        for _ in range(100):
            s, after = (int(x) for x in rng.integers(10, size=2))
            a, reward, ended = int(rng.integers(2)), float(rng.normal()), bool(rng.random() < 0.3)
            learn(learner, job.model.mask, s, Seen(a, reward, after, ended, 0.0), 0.9, own)
            plain.learn(s, a, reward, after, ended)
            assert learner.q == pytest.approx(plain.q)
    assert learner.target == pytest.approx(plain.target)
    assert learner.clock.steps[0] == 100


def test_the_center_of_several_tables():
    center = np.zeros(2)
    for acting, expected in [("mean", [2.0, 2.0]), ("sampled", [3.0, 4.0]), ("ucb", [2.5, 3.0])]:
        job = sea_job(4, tabular.TableDqn(NOTHING, tables=2, center=acting, ucb=0.5))
        job.learner.q[3] = [[1.0, 0.0], [3.0, 4.0]]
        job.learner.clock.table[0] = 1
        prefer(job.learner, job.model.mask, 3, center)
        assert center.tolist() == expected
        value(job.learner, job.model.mask, 3, center)
        assert center.tolist() == [2.0, 2.0]


METHODS = {
    "ez": tabular.TableDqn(EZ, capacity=300),
    "bootstrapped": tabular.TableDqn(NOTHING, tables=4, start=0.1, center="sampled", mask_probability=0.5),
    "ucb": tabular.TableDqn(NOTHING, tables=4, start=0.1, center="ucb", ucb=3.0),
}


@pytest.mark.parametrize("name", METHODS)
def test_results_do_not_depend_on_pieces_or_files(name, tmp_path):
    job = sea_job(6, METHODS[name], episodes=100)
    whole = tabular.run(job)
    training = tabular.Training(job)
    training.advance(37)
    np.savez(tmp_path / "saved.npz", **training.arrays())
    later = tabular.Training(job)
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as saved:
        later.restore(saved)
    later.advance(100)
    assert (later.result().q == whole.q).all()
    assert (later.result().returns == whole.returns).all()
    assert later.arguments.learner.clock.steps[0] == 600


def test_python_and_compiled_code_agree():
    job = sea_job(5, METHODS["bootstrapped"], episodes=20)
    compiled, python = tabular.Training(job), tabular.Training(job)
    compiled.advance(20)
    for _ in range(20):
        python.trace()
    assert (compiled.arguments.learner.q == python.arguments.learner.q).all()
    assert len({int(t) for t in compiled.arguments.learner.clock.table}) == 1


def test_the_acting_table_changes_between_episodes():
    training, seen = tabular.Training(sea_job(5, METHODS["bootstrapped"], episodes=40)), set()
    for _ in range(40):
        training.advance(1)
        seen.add(int(training.arguments.learner.clock.table[0]))
    assert seen == {0, 1, 2, 3}


def test_the_acting_table_changes_after_truncated_episodes():
    """Each episode is truncated, and no step terminates."""
    model = tabular.from_mdp(deep_sea_mdp(Sea(size=5)))
    job = METHODS["bootstrapped"].job(model, episodes=40, max_steps=3, seed=0, evaluate_every=50)
    training, seen = tabular.Training(job), set()
    for _ in range(40):
        training.advance(1)
        seen.add(int(training.arguments.learner.clock.table[0]))
    assert not training.arguments.learner.store.terminated.any()
    assert seen == {0, 1, 2, 3}


@pytest.mark.parametrize("name", METHODS)
def test_deep_exploration_finds_the_treasure(name):
    agent = METHODS[name]
    if agent.tables > 1:
        agent = dataclasses.replace(agent, tables=10, mask_probability=1.0)
    training = tabular.Training(sea_job(10, agent, episodes=2000))
    training.advance(2000)
    assert training.result().returns[-1] == pytest.approx(0.99)
    clock = training.arguments.learner.clock
    assert clock.highest[0] == pytest.approx(0.999)
    assert 10 <= clock.highest_at[0] < 20_000
    assert clock.highest_at[0] % 10 == 0  # the last step of an episode


def test_one_table_without_options_does_not_find_the_treasure():
    greedy = adeu.Explorer(adeu.Constant(1 / 21), adeu.Identity(), adeu.Bernoulli())
    assert (tabular.run(sea_job(20, tabular.TableDqn(greedy), episodes=1000)).returns <= 0).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"alpha": 0.0}, "alpha takes a finite number > 0 and <= 1, got 0.0"),
        ({"capacity": 10}, "capacity takes a whole number >= 32, got 10"),
        ({"batch": 0}, "batch takes a whole number >= 1, got 0"),
        ({"tables": 0}, "tables takes a whole number >= 1, got 0"),
        ({"center": "max"}, "center takes 'mean' or 'sampled' or 'ucb', got 'max'"),
        ({"mask_probability": 0.0}, "mask_probability takes a finite number > 0 and <= 1, got 0.0"),
        ({"start": -1.0}, "start takes a finite number >= 0, got -1.0"),
        ({"ucb": -1.0}, "ucb takes a finite number >= 0, got -1.0"),
        ({"gamma": 1.1}, "gamma takes a finite number >= 0 and <= 1, got 1.1"),
        ({"update_every": 0}, "update_every takes a whole number >= 1, got 0"),
        ({"target_every": 0}, "target_every takes a whole number >= 1, got 0"),
        ({"explorer": adeu.Constant(0.1)}, "explorer takes an Explorer, got Constant(c=0.1)"),
    ],
)
def test_bad_fields_are_rejected(changed, message):
    with pytest.raises(ValueError, match=re.escape(f"TableDqn: {message}")):
        tabular.TableDqn(**{"explorer": NOTHING} | changed)


def test_too_many_actions_are_rejected():
    model = tabular.from_arrays(np.zeros((1, 257), int), np.zeros((1, 257)), np.ones((1, 257), bool))
    with pytest.raises(ValueError, match="TableDqn: model takes at most 256 actions, got 257"):
        tabular.TableDqn(NOTHING).job(model, episodes=1, max_steps=1, seed=0)
