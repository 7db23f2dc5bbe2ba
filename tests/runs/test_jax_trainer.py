"""`JaxLoop` as a run: rows, stopping early, and resuming with the same bits."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

import adeu
from adeu.agents import Dqn, JaxLoop
from adeu.agents.tracing import QUARTERS
from adeu.envs import JaxDeepSea, Sea
from adeu.experiments import deep_sea, deep_sea_mlp
from adeu.experiments.lib import ended
from adeu.experiments.lib.experiment import SPREAD
from adeu.runs.folder import SPEC, to_csv
from adeu.runs.trainers.jax_trainer import JaxTrainer

EZ = adeu.Explorer(adeu.Constant(0.2), adeu.Identity(), adeu.Options(2.0, carried=True))
AGENT = Dqn(EZ, hidden=(8, 8), capacity=500, batch=8, target_every=10)


def trainer(most=1000, enough=0, seed=3, **fields):
    loop = JaxLoop(AGENT, JaxDeepSea(Sea(size=4)), evaluate_every=100)
    return JaxTrainer(loop, seed, most, goal=0.5, enough=enough, **fields)


def rows_of(running):
    rows = []
    while running.done < running.total:
        rows += running.advance().rows
    return rows


def test_a_run_resumes_from_its_arrays():
    whole, first = trainer(), pickle.loads(pickle.dumps(trainer()))
    rows = rows_of(whole)
    assert [row["step"] for row in rows] == list(range(100, 1001, 100))
    assert [row["episode"] for row in rows] == list(range(25, 251, 25))
    before = first.advance().rows + first.advance().rows
    second = trainer()
    second.restore({name: array.copy() for name, array in first.arrays().items()})
    assert (second.done, second.steps) == (200, 200)
    assert before + rows_of(second) == rows
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(second.arrays()[name], array, err_msg=name)
    hit = rows[-1]["first_hit"]
    assert hit > 0
    assert hit % 4 == 0, "the treasure is not at the end of an episode"
    assert [row["first_hit"] for row in rows] == [hit if row["step"] >= hit else 0 for row in rows]
    with pytest.raises(ValueError, match="its arrays do not have the shapes of its parts"):
        second.restore({name: array[..., None] for name, array in first.arrays().items()})


def test_a_run_stops_when_it_has_solved_its_task():
    """Its rows equal the first rows of a run that continues."""
    ended, whole = trainer(most=4000, enough=3), trainer(most=4000)
    rows, all_rows = rows_of(ended), rows_of(whole)
    assert ended.done == ended.total == rows[-1]["step"] < 4000 == ended.most_steps
    assert rows == all_rows[: len(rows)]
    solved = [row["solved"] for row in rows]
    assert solved[-3:] == [1, 1, 1]
    assert all(solved[i : i + 3] != [1, 1, 1] for i in range(len(solved) - 3))


@pytest.mark.parametrize(("most", "enough"), [(1000, 0), (4000, 3)])
def test_episodes_are_traced_at_fractions_of_training_and_at_its_end(most, enough):
    """The second run stops before its 4,000 steps."""
    traced, plain = trainer(most, enough, traced_at=QUARTERS), trainer(most, enough)
    rows, traces = [], {}
    while traced.done < traced.total:
        piece = traced.advance()
        rows += piece.rows
        traces |= piece.traces
    assert rows == rows_of(plain)
    end = rows[-1]["step"]
    due = {"at-0": 0} | {f"at-{percent}": most * percent / 100 for percent in (25, 50, 75)}
    expected = {
        name: min(row["step"] for row in rows if row["step"] >= step) if step else 0
        for name, step in due.items()
        if step < end
    }
    assert {name: trace["step"][0] for name, trace in traces.items()} == expected | {"at-100": end}
    assert all(len(trace["step"]) == 4 for trace in traces.values())


def test_a_run_that_stopped_early_is_extended_when_read(tmp_path):
    columns = {
        "step": [1000, 2000, 3000],
        "solved": [0, 1, 1],
        "first_hit": [0, 1500, 1500],
        "spread": [0.3, 0.2, 0.1],
    }
    (tmp_path / "metrics.csv").write_text(to_csv(columns))
    (tmp_path / SPEC).write_text(json.dumps({"setting": {"steps": 6000}}))
    read = ended.read_extended(tmp_path)
    assert read["step"].tolist() == [1000, 2000, 3000, 4000, 5000, 6000]
    assert read["solved"].tolist() == [0, 1, 1, 1, 1, 1]
    assert read["first_hit"].tolist() == [0] + [1500] * 5
    np.testing.assert_allclose(SPREAD.of({"spread": read["spread"][None]}), [0.2], err_msg="of the steps that it had")


def test_cases_are_those_of_deep_sea_and_the_usual_initialization():
    for size, member in zip(deep_sea_mlp.SIZES, deep_sea_mlp.EXPERIMENT.members, strict=True):
        assert list(member.cases) == [*deep_sea.cases(size), "eps-greedy-usual-init"]
        usual, wide = member.cases["eps-greedy-usual-init"], member.cases["eps-greedy"]
        assert dataclasses.replace(usual, agent=dataclasses.replace(usual.agent, rows=1.0)) == wide
        assert usual.agent.rows == (size**2) ** -0.5
        assert member.metrics == deep_sea.METRICS


def test_bad_lengths_are_rejected():
    with pytest.raises(ValueError, match="a run: steps takes a multiple of evaluate_every=100, got 150"):
        trainer(most=150)


def test_recorded_spreads_are_kept_and_resumed():
    def recording(**fields):
        loop = JaxLoop(dataclasses.replace(AGENT, explorer=fading), JaxDeepSea(Sea(size=4)), evaluate_every=50)
        return JaxTrainer(loop, 0, 150, goal=0.5, **fields)

    fading = adeu.Explorer(adeu.Schedule(1.0, 0.25, 150), adeu.Identity(), adeu.Bernoulli())
    whole, first, second = (recording(recorded=True) for _ in range(3))
    rows_of(whole)
    first.advance()
    second.restore({name: array.copy() for name, array in first.arrays().items()})
    rows_of(second)
    np.testing.assert_allclose(whole.kept()["spread"], 1 - 0.75 * np.arange(150) / 150, rtol=1e-5)
    np.testing.assert_array_equal(second.kept()["spread"], whole.kept()["spread"])
    assert recording().kept() == {}
