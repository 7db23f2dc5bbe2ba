"""The main table: its cases, and how controls are made from their sources."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest

import adeu
from adeu.agents import Td3
from adeu.cli import listing
from adeu.cli.commands import List
from adeu.experiments import NAMES, locate
from adeu.experiments.lib import plots
from adeu.experiments.lib.experiment import SPREAD, curve_columns
from adeu.experiments.lib.training_setting import TrainingSetting, controlled
from adeu.experiments.lib.watch import after_warmup
from adeu.experiments.mujoco import ENVIRONMENTS, ROWS, controls, draw_all, draw_one
from adeu.runs.spec import plain

CONTROLS = ["constant-0.1", "no-noise", "rnd-mean-matched", "rnd-shuffled", "q-std-mean-matched", "q-std-shuffled"]
APPENDIX = ["q-std-lam10", "q-std-rho0"]
READINGS = ["rnd-32", "rnd-mean", "rnd-rollout-c"]


def test_every_domain_has_the_rows_controls_and_results_of_the_paper():
    for name, rate, capacity, steps in (("mujoco", 5e-5, 100_000, 250_000), ("mujoco-td3", 3e-4, 1_000_000, 100_000)):
        members = locate(name)
        assert [member.name for member in members] == [f"{name}/{env}" for env in ENVIRONMENTS]
        for member in members:
            assert set(member.cases) == {*ROWS, *CONTROLS, *APPENDIX, *READINGS}
            assert set(member.paper) == set(ROWS)
            assert {setting.agent.learning_rate for setting in member.cases.values()} == {rate}
            assert {setting.agent.capacity for setting in member.cases.values()} == {capacity}
            assert {setting.steps for setting in member.cases.values()} == {steps}
    (hopper,) = locate("mujoco/Hopper-v5/rnd")
    assert hopper.cases["rnd"].agent.explorer.f == adeu.Rollouts(adeu.Rnd.paper(), rho=0.3, c=0.2)
    assert hopper.paper["rnd"] == {"mean": 733, "max": 1167}


def test_other_readings_of_rnd():
    (hopper,) = locate("mujoco/Hopper-v5")
    explorers = {case: hopper.cases[case].agent.explorer for case in ("rnd", *READINGS)}
    assert {explorer.g for explorer in explorers.values()} == {adeu.Sigmoid(0.2)}
    assert {explorer.f.rho for explorer in explorers.values()} == {0.3}
    wide, mean = (explorers[case].f.f for case in ("rnd-32", "rnd-mean"))
    assert (wide.scale, wide.features, wide.hidden) == (187.5, 32, (64, 64))
    assert mean == dataclasses.replace(wide, scale=mean.scale)
    assert mean.scale**2 == pytest.approx(187.5**2 / 32)
    rollout = explorers["rnd-rollout-c"]
    assert dataclasses.replace(rollout.f, c=0.2) == explorers["rnd"].f
    assert np.asarray(rollout.g(jnp.float32(rollout.f.c))) == np.float32(0.2)  # g(c) is 0.2, to the last bit
    assert np.asarray(explorers["rnd"].g(jnp.float32(explorers["rnd"].f.c))) == pytest.approx(0.11, abs=1e-3)


def test_the_listing_shows_the_composition_of_every_case(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert listing.main(List("mujoco/Hopper-v5")) == 0
    told = [line.strip() for line in capsys.readouterr().out.splitlines()]
    (hopper,) = locate("mujoco/Hopper-v5")
    for case, setting in hopper.cases.items():
        explorer = setting.agent.explorer
        first = next(number for number, line in enumerate(told) if line.startswith(f"{case} "))
        assert told[first].removeprefix(case).strip() == f"f {explorer.f!r}"
        assert told[first + 1 : first + 3] == [f"g {explorer.g!r}", f"D {explorer.D!r}"]
    assert "agent Td3(capacity=100000, learning_rate=5e-05, critics=5, center='ucb')" in told
    assert "setting TrainingSetting(env='Hopper-v5', steps=250000, source='rnd', control='shuffled')" in told
    for name in NAMES:
        assert listing.main(List(name)) == 0
    assert "deep-sea/100" in capsys.readouterr().out


def test_the_ablation_of_g_has_both_g_with_gating_and_weighting():
    for member, env in zip(locate("g-ablation"), ENVIRONMENTS, strict=True):
        assert member.name == f"g-ablation/{env}"
        kinds = ["sigmoid", "saturating", "saturating-gated", "saturating-weighted"]
        kinds += ["saturating-mean-matched", "saturating-shuffled"]
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


def test_a_control_includes_its_source():
    (hopper,) = locate("mujoco/Hopper-v5/rnd-shuffled")
    assert list(hopper.cases) == ["rnd", "rnd-shuffled"]
    assert "q-std" in hopper.left_out


def test_figures_of_exploration_exclude_the_row_before_the_first_step():
    spread = np.array([[np.nan, 0.1, 0.2], [np.nan, 0.3, 0.4]])
    curves = {"trained": np.array([[0.0, 0.0, 1.0]] * 2), "spread": spread}
    assert after_warmup(curves, "spread").tolist() == [0.2, 0.4]
    assert SPREAD.of(curves) == pytest.approx([0.15, 0.35])
    assert np.isnan(after_warmup(curves | {"trained": np.zeros((2, 3))}, "spread")).all()
    steps = np.array([[0.0, 10.0, 20.0]] * 2)
    columns = curve_columns(
        {"rnd": curves | {"seed": np.arange(2.0), "step": steps, "episode": steps, "return": steps}}
    )
    assert columns["spread"] == [None, pytest.approx(0.2), pytest.approx(0.3)]


def test_results_of_the_paper_are_not_shown_for_changed_settings(tmp_path):
    (hopper,) = locate("mujoco/Hopper-v5/rnd")
    for case, setting in hopper.left_out.items():
        changed = dataclasses.replace(setting, steps=5_000) if case in ("ucb", "constant-0.1") else setting
        folder = tmp_path / hopper.name / case / "seed-0"
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(json.dumps({"setting": plain(changed)}))
    assert set(hopper.comparable(tmp_path).paper) == {*ROWS} - {"ucb"}
    (other,) = locate("mujoco-td3/Hopper-v5/rnd")
    assert other.others["authors, v1"] == {"constant-0.1": {"mean": 360, "max": 827}}


WARMUP, STEPS = 2_000, 5_500
WINDOWS = [slice(at, min(at + 1_000, STEPS)) for at in range(0, STEPS, 1_000)]


def shuffled_setting(**fields):
    (hopper,) = locate("mujoco/Hopper-v5")
    short = {"steps": STEPS, "warmup": WARMUP, "evaluate_every": 500}
    return dataclasses.replace(hopper.cases["rnd-shuffled"], **short | fields)


def recorded(asked=None):
    """Return the recorded arrays of a run whose rollout episodes have a spread of 9."""
    random = np.random.default_rng(0)
    asked = random.random(STEPS) < 0.7 if asked is None else asked
    return {"spread": np.where(asked, random.random(STEPS), 9.0).astype(np.float32), "asked": asked}


def test_a_shuffled_control_permutes_the_asked_spreads_within_each_window():
    setting, kept = shuffled_setting(), recorded()
    found = controlled(setting, 0, kept)
    for window in WINDOWS:
        theirs = kept["spread"][window][kept["asked"][window]]
        assert 0 < len(theirs) < window.stop - window.start
        ours = found[window][: len(theirs)]
        assert np.array_equal(np.sort(ours), np.sort(theirs))
        assert not np.array_equal(ours, theirs)
        assert np.array_equal(found[window], np.resize(ours, window.stop - window.start))  # then they repeat
    assert not np.array_equal(found, controlled(setting, 1, kept))
    assert np.array_equal(found, controlled(setting, 0, kept))


def test_windows_restart_after_the_warm_up():
    kept = recorded(np.ones(STEPS, bool))
    found = controlled(shuffled_setting(warmup=1_500), 0, kept)
    for window in (slice(0, 1_000), slice(1_000, 1_500), slice(1_500, 2_500), slice(4_500, 5_500)):
        assert np.array_equal(np.sort(found[window]), np.sort(kept["spread"][window]))
    assert np.sort(found[1_000:2_000]).tolist() != np.sort(kept["spread"][1_000:2_000]).tolist()


def test_a_window_without_an_asked_step_takes_the_spreads_of_another():
    asked = np.ones(STEPS, bool)
    asked[:1_000] = asked[3_000:5_000] = False
    kept = recorded(asked)
    found = controlled(shuffled_setting(), 0, kept)
    for window, source in ((0, 1), (3, 2), (4, 2)):
        assert set(found[WINDOWS[window]]) == set(kept["spread"][WINDOWS[source]])


def test_a_mean_matched_control_has_the_mean_of_the_asked_spreads_after_the_warm_up():
    kept = recorded()
    mean = controlled(shuffled_setting(control="mean"), 0, kept)
    asked = kept["asked"] & (np.arange(STEPS) >= WARMUP)
    assert mean == pytest.approx(np.full(STEPS, kept["spread"][asked].mean()))


def test_an_unsuitable_source_is_rejected():
    setting, kept = shuffled_setting(), recorded()
    with pytest.raises(ValueError, match="a control: its source takes a run of 5,500 steps, got '100'"):
        controlled(setting, 0, {name: values[:100] for name, values in kept.items()})
    with pytest.raises(ValueError, match="its source takes a run that recorded where f decided the spread"):
        controlled(setting, 0, {"spread": kept["spread"]})
    with pytest.raises(ValueError, match="its source takes a run in which f decided a spread after the warm-up"):
        controlled(setting, 0, kept | {"asked": np.arange(STEPS) < WARMUP})


def test_a_control_has_rollout_episodes_with_the_spread_of_the_source():
    for name, sources in (
        ("mujoco", {"rnd": 0.11, "q-std": 0.11}),
        ("g-ablation", {"rnd-saturating": 0.03625, "q-std-saturating": 0.03625}),
    ):
        (hopper,) = locate(f"{name}/Hopper-v5")
        for source, rollout in sources.items():
            theirs = hopper.cases[source].agent
            for kind in ("mean-matched", "shuffled"):
                setting = hopper.cases[f"{source}-{kind}"]
                f = setting.agent.explorer.f
                assert f == adeu.Rollouts(adeu.Recorded(), theirs.explorer.f.rho, f.c)
                assert f.c == pytest.approx(rollout, rel=1e-3)
                assert f.c == float(theirs.explorer.g(jnp.float32(0.2)))
                assert setting.agent.explorer.g == adeu.Identity()
                assert setting.source == source
                assert dataclasses.replace(setting.agent, explorer=theirs.explorer) == theirs


def test_a_control_draws_new_coins_and_replays_the_spreads_of_its_source():
    """Train a control of a trained source in a tiny environment."""
    agent = Td3(
        adeu.Explorer(adeu.Rollouts(adeu.EnsembleStd(), 0.5, 0.2), adeu.Sigmoid(0.2), adeu.Gaussian()),
        hidden=(8,),
        batch=8,
        capacity=150,
    )
    source = TrainingSetting(
        "tests.runs.broken:Broken-v0", agent, steps=400, warmup=340, evaluate_every=400, evaluate_episodes=1
    )
    control = dataclasses.replace(controls("q-std", source)["q-std-shuffled"], traced=tuple(range(1, 21)))
    trainer = source.trainer(0)
    trained(trainer)
    kept = trainer.kept()
    theirs = kept["asked"].reshape(20, 20)
    assert (theirs == theirs[:, :1]).all()  # one coin per episode
    traces = trained(control.trainer(0, kept))
    spread = np.array([traces[f"episode-{number}"]["spread"] for number in range(1, 21)])
    rollout = np.isclose(spread, float(adeu.Sigmoid(0.2)(0.2)), rtol=1e-6)
    assert (rollout == rollout[:, :1]).all()
    ours = ~rollout[:, 0]
    assert set(spread[ours].ravel().tolist()) <= set(kept["spread"][kept["asked"]].tolist())
    assert 3 < ours.sum() < 17
    assert 3 < np.sum(ours == theirs[:, 0]) < 17  # of 20 coins


def trained(trainer):
    traces = {}
    while trainer.done < trainer.total:
        traces |= trainer.advance().traces
    return traces


def test_a_case_has_one_colour_in_the_pictures_of_all_domains(tmp_path):
    steps, returns = np.tile(np.arange(6) * 1000.0, (3, 1)), np.random.default_rng(0).random((3, 6))
    curve = {"step": steps, "return": returns, "seed": np.arange(3)}
    hopper, ant = {"constant": curve, "rnd": curve}, {"rnd": curve}
    colors = [color for color, _ in plots.style(hopper).values()]
    counts = []
    for members in ({"mujoco/Hopper-v5": hopper}, {"mujoco/Hopper-v5": hopper, "mujoco/Ant-v5": ant}):
        picture = draw_all(members, tmp_path)[1].read_text()
        counts.append([picture.count(f"stroke: {color}") for color in colors])
    (constant, rnd), (same, more) = counts
    assert constant == same > 0
    assert more == rnd + 4  # the mean and three runs on Ant


def test_pictures_have_each_run_and_no_band(tmp_path):
    steps, returns = np.tile(np.arange(6) * 1000.0, (5, 1)), np.random.default_rng(0).random((5, 6))
    curve = {"step": steps, "return": returns, "uncertainty": returns, "seed": np.arange(5)}
    curves = {"constant": curve, "rnd": curve}
    everywhere = draw_all({"mujoco/Hopper-v5": curves}, tmp_path)[1].read_text()
    picture = draw_one(curves, tmp_path)[1].read_text()
    for color, _ in plots.style(curves).values():
        assert picture.count(f"stroke: {color}") == 6  # five runs and their mean
        assert everywhere.count(f"stroke: {color}") == 7  # and the legend's line
        for each in (picture, everywhere):
            assert f"fill: {color}" not in each  # no band
