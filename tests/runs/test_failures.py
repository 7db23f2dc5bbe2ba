"""Runs that fail in different ways: the others complete, and errors are returned with their traceback."""

import dataclasses
import logging
import os
import sys

import pytest

from adeu.runs.engines.event import Event, without_errors
from adeu.runs.engines.local import PRINTED, _Tail
from adeu.runs.engines.worker_job import LONGEST, explain
from adeu.runs.folder import DONE
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep
from tests.runs import failing
from tests.runs.failing import Failing
from tests.runs.keeping import Dependent, Keeping

SEEDS = {
    failing.GOOD: None,
    failing.RAISES: "RuntimeError: no trainer for this seed",
    failing.UNPICKLED: "TypeError: cannot pickle '_thread.lock' object",
    failing.SIGNALLED: "its worker was killed by signal 40, 2 times",
    failing.EXITS: "SystemExit: 3",
    failing.PRINTS: None,
    failing.UNLOADABLE: "ModuleNotFoundError: not on this machine",
}


def specs(setting=Failing()):  # noqa: B008
    return [Spec("failing", "case", seed, setting) for seed in SEEDS]


def check(failed, out):
    assert {spec.seed: why.splitlines()[0] for spec, why in failed.items()} == {
        seed: why for seed, why in SEEDS.items() if why
    }
    for spec in specs():
        assert (out / spec.name / DONE).exists() == (SEEDS[spec.seed] is None)
    frames = {spec.seed: why for spec, why in failed.items() if "Traceback (most recent call last)" in why}
    assert frames.keys() == {failing.RAISES, failing.UNPICKLED, failing.EXITS, failing.UNLOADABLE}
    assert "in step" in frames[failing.EXITS]
    assert "sys.exit(3)" in frames[failing.EXITS]
    assert "in trainer" in frames[failing.RAISES]


def test_failures_do_not_affect_other_runs(tmp_path):
    check(sweep(specs(), tmp_path, jobs=1), tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_failures_do_not_affect_other_runs_on_a_cluster(tmp_path):
    pytest.importorskip("ray", reason="pip install 'adeu-rl[ray]'")
    failed = {spec.seed: why for spec, why in sweep(specs(), tmp_path, jobs=2, engine="ray").items()}
    assert failed.keys() == {seed for seed, why in SEEDS.items() if why}
    for seed in (failing.RAISES, failing.UNPICKLED, failing.EXITS, failing.UNLOADABLE):
        assert failed[seed].startswith(SEEDS[seed])
        assert "Traceback (most recent call last)" in failed[seed]
    assert failed[failing.SIGNALLED].startswith("its worker died")


def test_a_case_without_a_trainer_is_rejected_before_any_run(tmp_path):
    @dataclasses.dataclass(frozen=True)
    class Bad:
        def trainer(self, seed):
            raise ValueError("no such task")

    with pytest.raises(ValueError, match="no such task"):
        sweep([*specs(), *(Spec("failing", "bad", seed, Bad()) for seed in (0, 1))], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("again", ["controls", "all"])
def test_a_control_with_a_damaged_source_does_not_affect_other_runs(again, tmp_path, in_process):
    cases = {"second": Dependent(), "first": Keeping()}
    every = {(case, seed): Spec("chain", case, seed, cases[case]) for case in cases for seed in (3, 4)}
    assert sweep([spec for (case, _), spec in every.items() if case == "first"], tmp_path) == {}
    kept = tmp_path / "chain/first/seed-3/kept.npz"
    kept.write_bytes(kept.read_bytes()[:-200] + bytes(200))
    left = [spec for (case, _), spec in every.items() if case == "second" or again == "all"]
    failed = {(spec.case, spec.seed): why for spec, why in sweep(left, tmp_path).items()}
    if again == "all":
        assert "seed-3/kept.npz is missing or was changed after the run" in failed.pop(("first", 3))
        assert failed == {("second", 3): "chain/first/seed-3, which it starts from, failed"}
    else:
        assert list(failed) == [("second", 3)]
        assert "it starts from" in failed["second", 3]
        assert "kept.npz is missing or was changed after the run" in failed["second", 3]
    assert (tmp_path / every["second", 4].name / DONE).exists()


def test_a_full_disk_while_writing_the_spec_fails_that_run(tmp_path, in_process, monkeypatch):
    def full(spec, out):
        if spec.seed == failing.GOOD:
            raise OSError(28, "No space left on device")
        return record(spec, out)

    module = sys.modules["adeu.runs.sweep"]
    record = module.record
    monkeypatch.setattr(module, "record", full)
    some = [spec for spec in specs() if spec.seed in (failing.GOOD, failing.PRINTS)]
    failed = sweep(some, tmp_path)
    assert {spec.seed: why for spec, why in failed.items()} == {
        failing.GOOD: "OSError: [Errno 28] No space left on device"
    }


class TestExplain:
    def test_the_length_is_limited(self):
        for error in (ValueError("x" * 10**7), RecursionError("y" * 10**7)):
            assert len(explain(error)) < 3 * LONGEST

    def test_an_error_without_a_string_is_explained_by_its_type(self):
        class BrokenError(Exception):
            def __str__(self):
                raise RuntimeError

        assert explain(BrokenError()).startswith("BrokenError")


def test_the_kept_output_of_a_worker_is_limited():
    reading, writing = os.pipe()
    tail = _Tail(os.fdopen(reading, "rb"))
    for _ in range(200):
        os.write(writing, b"x" * 10_000)
    os.write(writing, b"\nthe last line")
    os.close(writing)
    assert tail.text().splitlines()[-1] == "the last line"
    assert len(tail._kept) == PRINTED


class TestWatchers:
    def test_an_error_of_a_watcher_is_logged_once_and_the_runs_continue(self, tmp_path, in_process, caplog):
        def watch(event):
            raise RuntimeError("the watcher\nis broken")

        some = [spec for spec in specs() if spec.seed in (failing.GOOD, failing.PRINTS)]
        with caplog.at_level(logging.ERROR):
            assert sweep(some, tmp_path, watch=watch) == {}
        (record,) = caplog.records
        assert record.getMessage().endswith("failed, the runs continue: RuntimeError: the watcher is broken")
        assert "\n" not in record.getMessage()

    def test_the_other_watchers_are_called(self):
        spec, told = specs()[0], []
        watchers = [without_errors(lambda event: 1 / 0), without_errors(told.append)]
        for _ in range(3):
            for watch in watchers:
                watch(Event(spec, finished=True))
        assert len(told) == 3

    def test_an_interrupt_in_a_watcher_is_not_suppressed(self):
        def interrupt(event):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            without_errors(interrupt)(Event(specs()[0], finished=True))
