"""`GymLoop` as a run: a failed run keeps its last good checkpoint, and settings reach the loop."""

import dataclasses

import numpy as np
import pytest

import adeu
from adeu.agents import Td3
from adeu.experiments import cart_pole
from adeu.experiments.lib.table_setting import TableSetting
from adeu.experiments.lib.training_setting import TrainingSetting
from adeu.runs.folder import CHECKPOINT, DONE, METRICS, Folder, load_checkpoint
from adeu.runs.identity import fill_in, to_data
from adeu.runs.work import work
from adeu.tabular import QLearning
from tests.runs.broken import Broken

EXPLORER = adeu.Explorer(adeu.Constant(0.1), adeu.Identity(), adeu.Gaussian())
AGENT = Td3(EXPLORER, hidden=(8,), batch=8, learning_rate=0.1, capacity=150, policy_delay=1)
SMALL = TrainingSetting(
    "tests.runs.broken:Broken-v0", AGENT, steps=100, warmup=10, evaluate_every=50, evaluate_episodes=1
)
TABLE = TableSetting("FrozenLake-v1", QLearning(dataclasses.replace(EXPLORER, D=adeu.Bernoulli())))


def run(folder):
    work(Folder(folder), SMALL.trainer(0), lambda progress: None, checkpoint_seconds=0)


def test_a_nan_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    run(tmp_path / "whole")
    monkeypatch.setattr(Broken, "at", 70)
    with pytest.raises(ValueError, match=r"step\(\) at step 70 .*, in episode 4: observation .* got nan"):
        run(tmp_path / "broken")
    saved = load_checkpoint(Folder(tmp_path / "broken"))
    assert saved
    arrays, text = saved
    assert int(arrays["step"]) == 60
    assert text.splitlines()[-1].startswith("50,")
    assert all(np.isfinite(array).all() for array in arrays.values())
    monkeypatch.setattr(Broken, "at", 0)
    run(tmp_path / "broken")
    metrics = [(tmp_path / name / METRICS).read_bytes() for name in ("whole", "broken")]
    assert metrics[0] == metrics[1]
    assert (tmp_path / "broken" / DONE).exists()
    assert not (tmp_path / "broken" / CHECKPOINT).exists()


def test_overlap_reaches_the_loop():
    def learned(overlap):
        trainer = dataclasses.replace(SMALL, overlap=overlap).trainer(0)
        while trainer.done < trainer.total:
            trainer.advance()
        return trainer.arrays()["player/replay/rows"]

    assert np.array_equal(learned(False), learned(False))
    assert not np.array_equal(learned(False), learned(True))


def test_an_episode_truncated_by_the_end_of_training_has_a_trace():
    trainer, traces = dataclasses.replace(SMALL, steps=50, traced=(2, 3), traced_at=()).trainer(0), {}
    while trainer.done < trainer.total:
        traces |= trainer.advance().traces
    assert {name: len(trace["spread"]) for name, trace in traces.items()} == {"episode-2": 20, "episode-3": 10}


def test_a_warmup_of_all_steps_warns():
    with pytest.warns(UserWarning, match="nothing will be learned: the warm-up of 200 steps covers all 100 steps"):
        dataclasses.replace(SMALL, warmup=200).trainer(0)


def test_an_explorer_as_agent_is_rejected():
    with pytest.raises(ValueError, match="TrainingSetting: agent takes an Agent, got Explorer"):
        dataclasses.replace(SMALL, agent=EXPLORER)


@pytest.mark.parametrize("setting", [SMALL, cart_pole.EXPERIMENT.cases["rnd"], TABLE], ids=lambda each: each.env)
def test_a_spec_without_traced_at_is_the_same_run(setting):
    stored = to_data(setting)
    assert stored.pop("traced_at") == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert fill_in(stored, setting) == to_data(setting)
