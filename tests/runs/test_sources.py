"""Runs that start from arrays kept by other runs."""

import numpy as np
import pytest

from adeu.runs.load import read_metrics
from adeu.runs.spec import Spec
from adeu.runs.sweep import is_complete, sweep
from tests.runs.keeping import Dependent, Keeping


def specs(first=Keeping()):  # noqa: B008
    cases = {"second": Dependent(), "first": first}
    return [Spec("chain", case, seed, setting) for seed in (3, 4) for case, setting in cases.items()]


def column(out, case, seed):
    return read_metrics(out / f"chain/{case}/seed-{seed}/metrics.csv")["return"]


def check_both(out):
    for seed in (3, 4):
        expected = np.random.default_rng(seed).random(5)
        assert np.array_equal(column(out, "first", seed), expected)
        assert np.array_equal(column(out, "second", seed), expected)


def test_a_run_gets_the_arrays_of_its_source(tmp_path):
    assert sweep(specs(), tmp_path, jobs=2) == {}
    check_both(tmp_path)


def test_the_source_may_be_complete_from_an_earlier_sweep(tmp_path):
    first = [spec for spec in specs() if spec.case == "first"]
    second = [spec for spec in specs() if spec.case == "second"]
    with pytest.raises(
        ValueError, match=r"chain/second/seed-3 starts from .*seed-3, which is not.* adeu run chain/first first"
    ):
        sweep(second, tmp_path, jobs=1)
    assert sweep(first, tmp_path, jobs=1) == {}
    assert sweep(second, tmp_path, jobs=1) == {}
    check_both(tmp_path)


def test_a_run_is_not_started_if_its_source_failed(tmp_path):
    failed = sweep(specs(Keeping(fails=True)), tmp_path, jobs=1)
    assert {spec.name: why for spec, why in failed.items() if spec.case == "second"} == {
        f"chain/second/seed-{seed}": f"chain/first/seed-{seed}, which it starts from, failed" for seed in (3, 4)
    }
    assert len(failed) == 4


def test_kept_arrays_are_verified(tmp_path):
    sweep(specs(), tmp_path, jobs=1)
    (source,) = (spec for spec in specs() if spec.name == "chain/first/seed-3")
    kept = tmp_path / source.name / "kept.npz"
    content = kept.read_bytes()
    kept.write_bytes(content[:-200] + bytes(200))
    with pytest.raises(ValueError, match=r"kept.npz is missing or was changed after the run"):
        is_complete(source, tmp_path)
    kept.unlink()
    with pytest.raises(ValueError, match=r"kept.npz is missing or was changed after the run"):
        is_complete(source, tmp_path)
