"""The main table's settings: the cases, what controls are made of, and what they refuse."""

import dataclasses
import json

import numpy as np
import pytest

import adeu
from adeu.experiments import locate
from adeu.experiments.lib.training_setting import controlled
from adeu.experiments.mujoco import ENVIRONMENTS, ROWS
from adeu.runs.spec import plain

CONTROLS = ["constant-0.1", "no-noise", "rnd-mean-matched", "rnd-shuffled", "q-std-mean-matched", "q-std-shuffled"]
APPENDIX = ["q-std-lam10", "q-std-rho0"]


def test_every_domain_has_the_rows_the_controls_and_the_papers_figures():
    for name, rate, capacity in (("mujoco", 5e-5, 100_000), ("mujoco-td3", 3e-4, 1_000_000)):
        members = locate(name)
        assert [member.name for member in members] == [f"{name}/{env}" for env in ENVIRONMENTS]
        for member in members:
            assert set(member.cases) == {*ROWS, *CONTROLS, *APPENDIX}
            assert set(member.paper) == set(ROWS)
            assert {setting.agent.learning_rate for setting in member.cases.values()} == {rate}
            assert {setting.agent.capacity for setting in member.cases.values()} == {capacity}
            assert {setting.steps for setting in member.cases.values()} == {100_000}
    (hopper,) = locate("mujoco/Hopper-v5/rnd")
    assert hopper.cases["rnd"].agent.explorer.f == adeu.Rollouts(adeu.Rnd.paper(), rho=0.3, c=0.2)
    assert hopper.paper["rnd"] == {"mean": 733, "max": 1167}


def test_the_ablation_of_g_has_both_g_and_both_remedies():
    for member, env in zip(locate("g-ablation"), ENVIRONMENTS, strict=True):
        assert member.name == f"g-ablation/{env}"
        kinds = ("sigmoid", "saturating", "saturating-gated", "saturating-weighted")
        assert set(member.cases) == {f"{source}-{kind}" for source in ("rnd", "q-std") for kind in kinds}
        for source in ("rnd", "q-std"):
            (table,) = locate(f"mujoco/{env}")
            assert member.cases[f"{source}-sigmoid"] == table.cases[source]
            setting = table.cases[source]
            explorer = dataclasses.replace(setting.agent.explorer, g=adeu.Saturating(0.2))
            saturating = dataclasses.replace(setting.agent, explorer=explorer)
            assert member.cases[f"{source}-saturating"] == dataclasses.replace(setting, agent=saturating)
            for remedy in ("gated", "weighted"):
                agent = dataclasses.replace(saturating, **{remedy: True})
                assert member.cases[f"{source}-saturating-{remedy}"] == dataclasses.replace(setting, agent=agent)


def test_a_control_brings_the_run_it_is_made_from():
    (hopper,) = locate("mujoco/Hopper-v5/rnd-shuffled")
    assert list(hopper.cases) == ["rnd", "rnd-shuffled"]
    assert "q-std" in hopper.left_out


def test_the_papers_figures_are_not_for_runs_of_other_settings(tmp_path):
    (hopper,) = locate("mujoco/Hopper-v5/rnd")
    for case, setting in hopper.left_out.items():
        changed = dataclasses.replace(setting, steps=5_000) if case in ("ucb", "constant-0.1") else setting
        folder = tmp_path / hopper.name / case / "seed-0"
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(json.dumps({"setting": plain(changed)}))
    assert set(hopper.comparable(tmp_path).paper) == {*ROWS} - {"ucb"}
    (other,) = locate("mujoco-td3/Hopper-v5/rnd")
    assert other.others["authors, v1"] == {"constant-0.1": {"mean": 360, "max": 827}}


def test_the_spreads_of_controls():
    (hopper,) = locate("mujoco/Hopper-v5")
    setting = dataclasses.replace(hopper.cases["rnd-shuffled"], steps=5_500, warmup=2_000, evaluate_every=500)
    spreads = np.random.default_rng(0).random(5_500).astype(np.float32)
    shuffled = controlled(setting, 0, spreads)
    for first, last in ((2_000, 3_000), (3_000, 4_000), (5_000, 5_500)):
        window = slice(first, last)
        assert not np.array_equal(shuffled[window], spreads[window])
        assert np.array_equal(np.sort(shuffled[window]), np.sort(spreads[window]))
    assert not np.array_equal(shuffled, controlled(setting, 1, spreads))
    mean = controlled(dataclasses.replace(setting, control="mean"), 0, spreads)
    assert mean == pytest.approx(np.full(5_500, spreads[2_000:].mean()))
    with pytest.raises(ValueError, match="a control: its source takes a run of 5,500 steps, got '100'"):
        controlled(setting, 0, spreads[:100])
