"""Kill commands and workers at random moments: the same command resumes and gives the same bytes."""

import contextlib
import os
import random
import re
import signal
import time

import pytest

from adeu.runs.folder import DONE
from tests.runs.processes import (
    checkpoints,
    members,
    pause_at_checkpoint,
    said,
    signal_workers,
    start,
    wait_until,
    workers,
)

ONE = ("--jobs", "1", "--seeds", "0:3")
SMALL = ("--set", "hidden=[16]", "--set", "batch=16", "--set", "warmup=300", "--set", "evaluate_episodes=1")
EXPERIMENTS = {
    "frozen-lake": ("frozen-lake", "--set", "lake.size=60", "--set", "episodes=20000", "--seeds", "0:3"),
    "deep-sea": ("deep-sea/10/ez-carried", "--set", "steps=400000", "--seeds", "0:12"),
    "deep-sea-mlp": (
        *("deep-sea-mlp/20/ez-carried", "--set", "env.size=6", "--set", "f.c=0.2", "--set", "enough=0"),
        *("--steps", "30000", *ONE),
    ),
    "td3": (
        *("mujoco/Hopper-v5/rnd", "--set", "env=InvertedPendulum-v5", "--set", "evaluate_every=1000"),
        *("--steps", "3000", *SMALL, *ONE),
    ),
    "sac": ("Pendulum-v1", "--agent", "sac", "--steps", "3000", *SMALL, *ONE),
    "compiled-sac": (),
}
"""Sweeps of short runs: 12 of half a second each; 3 with networks, which are compiled first."""
OTHER_COMMANDS = {"sac": {"command": "train"}, "compiled-sac": {"main": "tests.runs.compiled_sac"}}
TABLES = ("frozen-lake", "deep-sea")
RUNS = {name: 12 if name in TABLES else 3 for name in EXPERIMENTS}
SECONDS = {name: 1.5 if name in TABLES else 12.0 for name in EXPERIMENTS}
"""Seconds within which a command is killed; networks take longer because they are compiled first."""


def begin(name, out):
    return start(*EXPERIMENTS[name], out=out, **OTHER_COMMANDS.get(name, {}))


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Return a function that returns the files of an uninterrupted experiment."""
    found = {}

    def of(name):
        if name not in found:
            out = tmp_path_factory.mktemp("uninterrupted")
            assert begin(name, out).wait() == 0, said(out)
            found[name] = contents(out)
            assert len([path for path in found[name] if path.endswith("metrics.csv")]) == RUNS[name]
        return found[name]

    return of


def contents(out):
    """Return all files of runs and results, except the specs."""
    paths = [path for path in sorted(out.rglob("*.*")) if path.is_file() and path.suffix in (".csv", ".json", ".npz")]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths if path.name != "spec.json"}


def complete(out):
    """Return the done.json of each complete run, with its inode and time."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob(DONE)}


def kill_command(process):
    process.kill()
    process.wait()


def kill_all(process):
    with contextlib.suppress(ProcessLookupError):  # it may be complete
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def kill_worker(process):
    if alive := workers(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(sorted(alive)), signal.SIGKILL)


KILLS = {name: 10 if name in TABLES else 5 for name in EXPERIMENTS}
LONG = [(name, kill, kills) for name, kills in KILLS.items() for kill in (kill_command, kill_all, kill_worker)]


@pytest.mark.parametrize(
    ("name", "kill", "kills"),
    [("frozen-lake", kill_command, 2), *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG)],
)
def test_a_killed_sweep_resumes_with_the_same_bytes(name, kill, kills, uninterrupted, tmp_path):
    """Kill it in turns after a new checkpoint and at a random time."""
    out, seen, process, resumed = tmp_path / "out", {}, None, 0
    for number in range(kills):
        if process is None or process.poll() is not None:
            process = begin(name, out)
        wait_until(lambda: workers(process) or process.poll() is not None)  # noqa: B023
        if number % 2:
            time.sleep(random.uniform(0, SECONDS[name]))
        else:
            resumed += bool(pause_at_checkpoint(process, out, checkpoints(out)))
        kill(process)
        signal_workers(process, signal.SIGCONT)
        now = complete(out)
        assert seen.items() <= now.items(), "a complete run was repeated"
        seen = now
    assert resumed, "no run was killed after its first checkpoint"
    assert process.wait() in (0, 1, -signal.SIGKILL), said(out)
    assert begin(name, out).wait() == 0, said(out)
    assert seen.items() <= complete(out).items(), "a complete run was repeated"
    assert contents(out) == uninterrupted(name)


def test_ctrl_c_interrupts_and_the_command_resumes(uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = start(*EXPERIMENTS["frozen-lake"], out=out)
    saved = pause_at_checkpoint(process, out)
    assert saved, said(out)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == 130
    assert "Interrupted. Complete runs are kept; run the same command to resume." in said(out)
    assert "Traceback" not in said(out)
    assert not members(process.pid)
    assert all(path.exists() for path in saved)
    assert start(*EXPERIMENTS["frozen-lake"], out=out).wait() == 0
    assert contents(out) == uninterrupted("frozen-lake")


def test_sigterm_interrupts_the_command(tmp_path):
    out = tmp_path / "out"
    process = start(*EXPERIMENTS["frozen-lake"], out=out)
    wait_until(lambda: workers(process), process)
    process.terminate()
    assert process.wait() == 130
    assert "Interrupted." in said(out)
    assert not members(process.pid)


def test_ignored_signals_stay_ignored(tmp_path):
    """As in a background job of a script, or under nohup."""
    out, short = tmp_path / "out", ("frozen-lake/adeu", "--set", "lake.size=12", "--set", "episodes=300")
    process = start(*short, "--seeds", "0", out=out, SIGINT="SIG_IGN", SIGTERM="SIG_IGN")
    wait_until(lambda: workers(process), process)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.killpg(process.pid, number)
    assert process.wait() == 0, said(out)
    assert len(complete(out)) == 1


def test_a_worker_killed_once_is_reported_and_its_run_continues(uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = start(*EXPERIMENTS["frozen-lake"], "--jobs", "2", out=out)
    assert pause_at_checkpoint(process, out), said(out)
    os.kill(min(workers(process)), signal.SIGKILL)
    signal_workers(process, signal.SIGCONT)
    assert process.wait() == 0
    names = re.findall(
        r"^(\S+): its worker was killed by SIGKILL \(out of memory\?\); trying again$", said(out), re.M
    )
    assert len(names) == 1
    assert re.fullmatch(r"frozen-lake/[a-z-]+-size=60-episodes=20000/seed-\d", names[0])
    assert contents(out) == uninterrupted("frozen-lake")


def test_a_run_whose_worker_is_killed_twice_fails_without_affecting_others(uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = start(*EXPERIMENTS["frozen-lake"], "--jobs", "2", out=out)
    first = wait_until(lambda: len(workers(process)) == 2 and workers(process), process)
    os.kill(min(first), signal.SIGKILL)
    (second,) = wait_until(lambda: workers(process).keys() - first.keys(), process)
    os.kill(second, signal.SIGKILL)
    assert process.wait() == 1
    failed = re.findall(r"^(\S+) failed: its worker was killed by SIGKILL .*, 2 times$", said(out), re.M)
    assert len(failed) == 1
    assert "1 of 12 runs failed. Complete runs are kept; run the same command to retry." in said(out)
    done = complete(out)
    assert {str(path.parent.relative_to(out)) for path in done}.isdisjoint(failed)
    assert len(done) == 11
    assert start(*EXPERIMENTS["frozen-lake"], out=out).wait() == 0
    assert done.items() <= complete(out).items()
    assert contents(out) == uninterrupted("frozen-lake")


def test_a_bad_checkpoint_seconds_variable_is_rejected(tmp_path):
    process = start(*EXPERIMENTS["frozen-lake"], out=tmp_path / "out", checkpoint_seconds="soon")
    assert process.wait() == 1
    assert "ADEU_CHECKPOINT_SECONDS takes a finite number >= 0, got 'soon'" in said(tmp_path / "out")
