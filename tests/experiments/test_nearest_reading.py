"""The search for the paper's horizon and warm-up, on curves with a known answer."""

import math

import numpy as np
import pytest
from rich.console import Console

from adeu.experiments import mujoco_reading
from adeu.experiments.lib.nearest_reading import (
    HORIZONS,
    Reading,
    choose,
    draw,
    figures,
    readings,
    regular,
    single,
    verdict,
)
from adeu.runs.folder import Folder, digest, to_json
from adeu.runs.trainers.trainer import Piece
from adeu.runs.work import work
from tests.command import run_here

STEPS = np.arange(0.0, 300_001, 5_000)
PAPER = {"A-v5": (100.0, 300.0), "B-v5": (40.0, 50.0)}


def straight(mean, horizon, seeds=(0.9, 1.1)):
    """Return curves that grow linearly and have this mean over the evaluations up to the horizon."""
    return np.outer(seeds, 2 * mean * STEPS / horizon)


def case(returns):
    return {"step": np.broadcast_to(STEPS, returns.shape), "return": returns, "seed": np.arange(float(len(returns)))}


def members(**returns):
    """Return domains A and B; B has the results of the paper and no difference between seeds."""
    flat = np.where(STEPS == 5_000, 50.0, 40.0)
    flat[0] = 40.0 * len(STEPS) - flat[1:].sum()
    return {
        "reading/A-v5": {name: case(values) for name, values in returns.items()},
        "reading/B-v5": {name: case(np.stack([flat, flat])) for name in returns},
    }


def test_mean_and_max_are_over_the_evaluations_up_to_the_horizon():
    curve = {"return": np.array([[0.0, 10.0, 2.0], [4.0, 30.0, 5.0]]), "step": np.array([[0.0, 5.0, 10.0]] * 2)}
    assert figures(regular(curve, 5)) == (11.0, 20.0)
    assert figures(regular(curve, 10)) == (8.5, 20.0)
    assert figures(regular(curve, 0)) == (2.0, 2.0)  # only the untrained agent


def test_the_max_counts_only_single_episodes_of_all_seeds():
    nan = np.nan
    curve = {
        "single_step": np.array([[0.0, 7.0, 9.0, nan], [0.0, 4.0, nan, nan]]),
        "single_return": np.array([[1.0, 2.0, 90.0, nan], [3.0, 8.0, nan, nan]]),
    }
    mean, top = figures(single(curve, 10))
    assert mean == pytest.approx((31.0 + 5.5) / 2)  # the mean of the means of the seeds
    assert top == 5.0  # only one seed has the third episode
    assert figures(single(curve, 5)) == (pytest.approx((1.0 + 5.5) / 2), 2.0)


def test_the_distance_is_summed_over_domains_mean_and_max():
    found = readings(members(start=straight(200.0, 100_000)), PAPER, [100_000])
    (each,) = found
    assert each.figures["A-v5"] == (pytest.approx(200.0), pytest.approx(400.0))
    other = sum(
        abs(math.log(ours / theirs)) for ours, theirs in zip(each.figures["B-v5"], PAPER["B-v5"], strict=True)
    )
    assert each.distance == pytest.approx(math.log(2) + math.log(400 / 300) + other)
    # The two seeds have 0.9 and 1.1 times these values in A, and equal ones in B.
    assert each.apart == pytest.approx(2 * math.log(1.1 / 0.9))


def test_the_distance_of_negative_returns_is_infinite():
    (each,) = readings(members(start=-straight(200.0, 100_000)), PAPER, [100_000])
    assert each.distance == math.inf


def test_the_right_reading_is_found():
    paper = {"A-v5": (100.0, 200.0), "B-v5": (100.0, 200.0)}
    right, wrong = straight(100.0, 150_000, (0.99, 1.01)), straight(10.0, 150_000, (0.99, 1.01))
    both = {f"reading/{env}": {"short": case(wrong), "long": case(right)} for env in paper}
    choice = choose(readings(both, paper, HORIZONS))
    assert (choice.best.case, choice.best.horizon) == ("long", 150_000)
    assert choice.best.distance == pytest.approx(0.0, abs=1e-9)
    assert choice.tied == [choice.best]
    assert choice.chosen is choice.best


def reading(case, horizon, distance, apart=0.0):
    return Reading(case, horizon, {}, distance, apart)


def test_of_tied_readings_the_shortest_is_chosen():
    found = [
        reading("a", 50_000, 1.31, 9.0),
        reading("a", 100_000, 1.30),
        reading("a", 200_000, 1.0, 0.3),
        reading("b", 100_000, 1.2),
        reading("b", 300_000, 1.1),
    ]
    best, tied, chosen = choose(found)
    assert best is found[2]
    assert tied == found[1:]
    assert chosen is found[3]  # as short as found[1], and nearer
    assert "4 of 5 readings" in verdict(found, choose(found))
    assert "of which b over 100,000 steps is the shortest" in verdict(found, choose(found))


def test_if_all_readings_tie_none_is_chosen():
    found = [reading("a", 50_000, 1.2), reading("a", 100_000, 1.0, 0.5)]
    assert choose(found).chosen is None
    assert "not settled" in verdict(found, choose(found))


class FakeTrainer:
    """A trainer that returns given rows and single episodes."""

    unit, total, most_steps = "steps", 1, 300_000

    def __init__(self, rows, singles):
        self.done = self.steps = 0
        self.rows, self.singles = rows, singles

    def advance(self):
        self.done, self.steps = 1, self.most_steps
        return Piece(self.rows)

    def kept(self):
        return {"spread": np.zeros(3, np.float32), "singles": self.singles}

    def arrays(self):
        return {}


@pytest.fixture
def complete(tmp_path):
    """Write complete runs, in which warmup-25000 over 200,000 steps has the mean of the paper."""
    watched = dict.fromkeys(("uncertainty", "spread", "explored", "switches", "saturated"), 0.2)
    for member in mujoco_reading.EXPERIMENT.members:
        mean, _ = mujoco_reading.PAPER[member.name.rpartition("/")[2]]
        for spec in member.specs(member.seeds):
            factor = {"warmup-1000": 0.1, "warmup-25000": 1.0}[spec.case] * (1.01 if spec.seed == 1001 else 0.99)
            returns = straight(factor * mean, 200_000, (1.0,))[0]
            rows = [
                {"step": int(step), "episode": int(step) // 50, "return": value, **watched, "solved": 0}
                for step, value in zip(STEPS, returns, strict=True)
            ]
            singles = np.array([(100 * k, 5_000 * k, returns[k]) for k in range(40 + spec.seed % 2)])
            folder, plain = tmp_path / spec.name, spec.plain()
            folder.mkdir(parents=True)
            (folder / "spec.json").write_bytes(to_json(plain))
            work(Folder(folder), FakeTrainer(rows, singles), lambda progress: None, spec=digest(plain))
    return tmp_path


def test_table_and_plot_of_complete_runs(complete):
    family = mujoco_reading.EXPERIMENT
    curves = {each.name: each.curves(each.seeds, complete) for each in family.members}
    console = Console(width=200)
    with console.capture() as captured:
        console.print(family.analysis(curves))
    regularly, literally = captured.get().split("one greedy episode per 100 training episodes")
    assert "warmup-25000 over 200,000 steps is nearest" in " ".join(regularly.split())
    assert regularly.count("warmup-1000 ") == len(HORIZONS)
    assert literally.count("warmup-1000 ") == len(HORIZONS)
    hopper = curves["mujoco-reading/Hopper-v5"]["warmup-25000"]
    assert np.isfinite(hopper["single_return"]).sum(axis=1).tolist() == [40, 41]
    assert [path.name for path in draw(mujoco_reading.PAPER, curves, complete)] == ["distance.png", "distance.svg"]


@pytest.mark.slow
def test_the_command_shows_the_tables(complete):
    pytest.importorskip("mujoco", reason="pip install 'adeu-rl[mujoco]'")
    done = run_here("run", "mujoco-reading", "--out", complete)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "Evaluations every 5,000 steps" in told
    assert "warmup-25000 over 200,000 steps is nearest" in told
    assert (complete / "mujoco-reading/distance.png").exists()
    assert (complete / "mujoco-reading/domains.png").exists()
