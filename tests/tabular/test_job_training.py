"""Training in pieces, saving and resuming it, and traces."""

import dataclasses
import pickle
import threading

import numpy as np
import pytest

import adeu
from adeu import tabular
from adeu.tabular import job_training as module
from adeu.tabular.decision_forms import normalize

from .test_engine import ADEU, COIN, EXPLORERS, MDP, MODEL, assert_same, make_job


def assert_equal(one, other):
    a, b = one.arrays(), other.arrays()
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.parametrize("name", EXPLORERS)
def test_pieces_traces_and_a_restart_do_not_change_the_result(name, tmp_path):
    explorer, changes = EXPLORERS[name]
    job = make_job(explorer, **changes)
    whole = tabular.Training(job)
    whole.advance(60)

    first = tabular.Training(job)
    for episodes in (1, 12, 0, 20):
        first.advance(episodes)
    first.trace()
    np.savez(tmp_path / "saved.npz", **first.arrays())
    first.advance(60)
    assert_equal(first, whole)

    second = tabular.Training(make_job(explorer, **changes))
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as saved:
        second.restore(saved)
    assert second.episode == 34
    second.advance(26)
    assert_equal(second, whole)
    assert_same(second.result(), tabular.run(job))


def test_names_of_the_saved_arrays():
    explorer, changes = EXPLORERS["composed"]
    names = tabular.Training(make_job(explorer, **changes)).arrays().keys()
    tables = {"f.f.f.table", "f.f.other.f.f.table", "f.coin", "learner.q", "learner.steps.visits", "D.now"}
    assert names >= tables | {"episode", "rng", "evaluation_rng", "record.visits", "record.steps", "record.returns"}


def test_arrays_are_a_copy():
    training = tabular.Training(make_job(ADEU))
    before = training.arrays()
    training.advance(10)
    assert not before["learner.q"].any()
    assert_equal(tabular.Training(make_job(ADEU)), restored(before))


def restored(arrays):
    training = tabular.Training(make_job(ADEU))
    training.restore(arrays)
    return training


def test_an_intermediate_result_has_the_rows_so_far():
    whole, training = tabular.run(make_job(ADEU)), tabular.Training(make_job(ADEU))
    training.advance(25)
    part = training.result()
    assert part.evaluated.tolist() == [10, 20]
    assert training.steps == part.steps.sum() == part.visits.sum()
    training.advance(35)
    for field in ("steps", "violations", "explored", "switches", "uncertainty", "spread", "returns"):
        rows = getattr(part, field)
        np.testing.assert_array_equal(rows, getattr(whole, field)[: len(rows)])
    assert len(part.steps) == len(part.violations) == 25


def test_training_ends_with_the_episodes_of_the_job():
    training = tabular.Training(make_job(COIN))
    training.advance(1000)
    assert (training.episode, training.left) == (60, 0)
    with pytest.raises(ValueError, match="all 60 episodes are done"):
        training.trace()
    with pytest.raises(ValueError, match="Training: episodes takes a whole number >= 0, got -1"):
        training.advance(-1)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"learner.q": None}, "learner.q is missing"),
        ({"f.table": np.zeros(3)}, "f.table is not of this job"),
        ({"learner.q": np.zeros((3, 1, 4))}, r"learner.q takes float64 of shape \(17, 1, 4\), got .*\(3, 1, 4\)"),
        ({"record.visits": np.zeros(17)}, r"record.visits takes int64 of shape \(17,\), got 'float64"),
        ({"record.steps": np.zeros(61, np.int64)}, r"record.steps takes .*\(60,\)"),
        ({"episode": np.array(61)}, "episode takes 0 .. 60, got 61"),
    ],
)
def test_arrays_of_another_job_are_rejected(change, complaint):
    arrays = tabular.Training(make_job(ADEU, seed=4)).arrays() | change
    training = tabular.Training(make_job(ADEU))
    with pytest.raises(ValueError, match=f"Training: {complaint}"):
        training.restore({name: array for name, array in arrays.items() if array is not None})
    assert_equal(training, tabular.Training(make_job(ADEU)))


def traces(explorer, **changes):
    training = tabular.Training(make_job(explorer, **changes))
    return training, [training.trace() for _ in range(60)]


def test_traces_agree_with_the_model_and_the_result():
    training, episodes = traces(ADEU)
    visits = np.zeros(MODEL.num_states)
    columns = training.result()[2:8]
    for trace, steps, violations, explored, switches, uncertainty, spread in zip(episodes, *columns, strict=True):
        assert {len(column) for column in trace} == {steps}
        assert [column.dtype.kind for column in trace] == list("iiibffff")
        assert trace.state[0] == MDP.start
        for s, a, there in zip(trace.state, trace.action, trace.state[1:], strict=False):
            assert MDP.next_state[s, a] == there
        np.testing.assert_array_equal(trace.reward, MDP.reward[trace.state, trace.action])
        np.testing.assert_array_equal(trace.cost, MDP.cost[trace.state, trace.action])
        assert (trace.cost > 0).sum() == violations
        assert trace.explored.sum() == explored
        assert np.diff(trace.explored, prepend=False).sum() == switches
        assert trace.uncertainty.mean() == pytest.approx(uncertainty)
        assert trace.spread.mean() == pytest.approx(spread)
        for s, f, g in zip(trace.state, trace.uncertainty, trace.spread, strict=True):
            assert f == 1 / (0.9 * np.sqrt(visits[s] + 1))
            assert g == normalize(training.arguments.g, f)
            visits[s] += 1
    every = tabular.Trace(*map(np.concatenate, zip(*episodes, strict=True)))
    assert every.explored.any()
    assert (every.action != every.best)[every.explored].all()


def test_a_trace_distinguishes_explored_from_greedy_actions():
    learned = np.zeros((MODEL.num_states, 4))
    learned[:, 2] = 1.0
    never, always = (
        tabular.Training(make_job(adeu.Explorer(adeu.Constant(p), adeu.Identity(), adeu.Bernoulli()), q=learned))
        for p in (0.0, 1.0)
    )
    chosen, drawn = never.trace(), always.trace()
    assert chosen.best[0] == chosen.action[0] == 2
    assert not chosen.explored.any()
    assert drawn.explored.all()
    assert (drawn.spread == 1).all()


def test_states_of_the_guard_are_not_explored():
    _, episodes = traces(dataclasses.replace(COIN, f=adeu.Constant(1.0), guard=adeu.KnownUnsafe([0], [1])))
    for trace in episodes:
        mentored = trace.state == 0
        assert (trace.spread == ~mentored).all()
        assert (trace.uncertainty == 1).all()
        assert (trace.best[mentored] == 1).all()
        assert (trace.action[mentored] == 1).all()


def test_a_trace_shows_the_reward_without_the_bonus():
    _, episodes = traces(ADEU, intrinsic=5.0)
    for trace in episodes:
        np.testing.assert_array_equal(trace.reward, MDP.reward[trace.state, trace.action])


def test_other_threads_run_during_a_kernel():
    job = make_job(ADEU, episodes=400_000, evaluate_every=400_000)
    training = tabular.Training(job)
    training.advance(1)
    worker = threading.Thread(target=training.advance, args=(400_000,))
    worker.start()
    seen = set()
    while worker.is_alive():
        seen.add(np.count_nonzero(training.arguments.record.steps))
    worker.join()
    assert training.left == 0
    assert any(1 < episodes < 400_000 for episodes in seen)


def test_a_run_is_split_into_pieces(monkeypatch):
    taken = []
    advance = tabular.Training.advance
    monkeypatch.setattr(module, "PIECE", 24 * 25)
    monkeypatch.setattr(tabular.Training, "advance", lambda self, n: (taken.append(n), advance(self, n)))
    tabular.run(pickle.loads(pickle.dumps(make_job(ADEU))))
    assert taken == [25, 25, 25]
