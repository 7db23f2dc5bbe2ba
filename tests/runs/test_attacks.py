"""Corrupt, foreign and hostile run folders and full disks are rejected with a clear error, without side effects."""

import dataclasses
import io
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from rich.console import Console

import adeu
from adeu.core.files import ASIDE
from adeu.envs import Lake
from adeu.experiments.lib.lake_setting import adeu_counts
from adeu.runs import lock
from adeu.runs.display import Display
from adeu.runs.engines.event import Event
from adeu.runs.folder import CHECKPOINT, DONE, METRICS, SPEC, Folder, done, load_checkpoint, to_csv
from adeu.runs.spec import Spec
from adeu.runs.sweep import _prepare, sweep
from adeu.runs.trainers.trainer import Piece
from adeu.runs.work import work
from tests.command import run_here

SETTING = dataclasses.replace(adeu_counts(), lake=Lake(size=12), episodes=600)
OTHER = dataclasses.replace(SETTING.agent, gamma=0.5)
SPECS = [Spec("lake", "adeu", seed, SETTING) for seed in (0, 1)]
LAKE = ("frozen-lake/adeu", "--set", "lake.size=60", "--set", "episodes=20000", "--seeds", "0:4")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    assert sweep(SPECS, out, jobs=1) == {}
    return out


@pytest.fixture
def out(whole, tmp_path):
    """Return a copy of a folder with two complete runs."""
    return shutil.copytree(whole, tmp_path / "out")


def first(out):
    return out / SPECS[0].name


def metrics(out):
    return {spec: (out / spec.name / METRICS).read_bytes() for spec in SPECS}


def reseal(folder, text):
    """Write metrics with a matching done.json, as an attacker could."""
    (folder / METRICS).write_text(text)
    (folder / DONE).write_bytes(done(text, 1))


CORRUPT = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "not text": lambda content: b"\xff\xfe\x00" + content,
    "not data": lambda content: b"<script>alert(1)</script>",
    "deep": lambda content: b"[" * 100_000,
    "long number": lambda content: b"9" * 10_000,
    "other data": lambda content: b'["NaN", NaN]',
}


@pytest.mark.parametrize("how", CORRUPT)
@pytest.mark.parametrize("name", [SPEC, METRICS, DONE])
def test_a_corrupt_file_is_rejected(name, how, out):
    path = first(out) / name
    path.write_bytes(CORRUPT[how](path.read_bytes()))
    before = metrics(out)
    for attempt in (lambda: sweep(SPECS, out), lambda: adeu.runs.load(out)):
        with pytest.raises(
            ValueError, match=r"lake/adeu/seed-0.*(corrupt|is not a run spec|was changed after the run)"
        ):
            attempt()
    assert metrics(out) == before


def test_a_changed_digit_in_the_metrics_is_detected(out):
    path = first(out) / METRICS
    text = path.read_text()
    path.write_text(text[:-2] + ("2" if text[-2] == "1" else "1") + "\n")
    for attempt in (lambda: sweep(SPECS, out), lambda: adeu.runs.load(out)):
        with pytest.raises(ValueError, match="is missing or was changed after the run"):
            attempt()


@pytest.mark.parametrize("name", [SPEC, METRICS])
def test_a_missing_file_is_detected(name, out):
    (first(out) / name).unlink()
    with pytest.raises(ValueError, match="lake/adeu/seed-0"):
        adeu.runs.load(out)


def test_a_folder_of_another_experiment_is_rejected(out):
    other = dataclasses.replace(SETTING, agent=OTHER, traced=tuple(place / 400 for place in range(1, 400)))
    with pytest.raises(
        ValueError, match=r"holds another run: setting.agent.gamma is 0.99 there and 0.5 here.*--out"
    ) as caught:
        sweep([dataclasses.replace(SPECS[0], setting=other)], out)
    assert len(str(caught.value)) < 600
    spec = json.loads((first(out) / SPEC).read_text()) | {"experiment": "<script>alert(1)</script>[/red]"}
    (first(out) / SPEC).write_text(json.dumps(spec))
    with pytest.raises(ValueError, match="holds another run: experiment is"):
        sweep(SPECS, out)
    with pytest.raises(ValueError, match=r"seed-0/done\.json does not belong to the run in spec\.json"):
        adeu.runs.load(out)


@pytest.mark.parametrize(
    "head",
    [{"seed": -1}, {"seed": 10**400}, {"seed": True}, {"seed": 0.5}, {"case": ["x"]}, {"case": None}],
)
def test_a_spec_with_a_bad_seed_or_case_is_rejected(head, out):
    spec = json.loads((first(out) / SPEC).read_text()) | head
    (first(out) / SPEC).write_text(json.dumps(spec))
    with pytest.raises(ValueError, match=r"seed-0/spec.json is (not a run spec|corrupt)"):
        adeu.runs.load(out)


def test_huge_numbers_are_loaded(out):
    reseal(first(out), "step,return,solved\n1,1e999,99999999999999999999\n2,-1e308,1\n")
    loaded = adeu.runs.load(out)
    assert loaded["return"][0] == np.inf
    assert loaded["solved"][0] == 1e20
    reseal(first(out), "step,return\n1," + "9" * 100_000 + "\n2,\n")
    assert adeu.runs.load(out)["return"][0] == np.inf
    reseal(first(out), "step,return\n1,2,3\n")
    with pytest.raises(ValueError, match="its rows and its header have different numbers of columns"):
        adeu.runs.load(out)


def test_links_that_leave_the_folder_are_not_followed(out, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept.txt").write_text("mine")
    (tmp_path / "elsewhere" / f"{ASIDE}kept").write_text("mine")
    shutil.rmtree(first(out))
    first(out).mkdir()
    (first(out) / "checkpoint").symlink_to(tmp_path / "elsewhere")
    (first(out) / "loop").symlink_to(out)
    failed = sweep(SPECS, out, jobs=1)
    assert "checkpoint/state.npz is not inside" in failed[SPECS[0]]
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == [f"{ASIDE}kept", "kept.txt"]
    assert len(adeu.runs.load(out)["seed"]) == 6


@pytest.mark.parametrize("name", [SPEC, METRICS, DONE])
@pytest.mark.parametrize("kind", ["pipe", "zero", "link"])
def test_other_than_regular_files_are_rejected(name, kind, out, tmp_path):
    path = first(out) / name
    shutil.copy(path, tmp_path / "elsewhere")
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "zero" else tmp_path / "elsewhere")
    for attempt in (lambda: sweep(SPECS, out), lambda: adeu.runs.load(out)):
        with pytest.raises(ValueError, match=f"{name}.* is not a regular file"):
            attempt()


@pytest.mark.parametrize("place", ["lake", "lake/adeu", "lake/adeu/seed-0"])
def test_a_linked_folder_of_runs_is_neither_read_nor_written(place, out, tmp_path):
    (out / place).rename(tmp_path / "elsewhere")
    (out / place).symlink_to(tmp_path / "elsewhere")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "elsewhere").rglob("*")}
    for specs in (SPECS, [dataclasses.replace(SPECS[0], setting=dataclasses.replace(SETTING, agent=OTHER))]):
        with pytest.raises(ValueError, match=r"is not inside .*: links and '\.\.' are not followed"):
            sweep(specs, out)
    shutil.rmtree(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / f"{ASIDE}kept").write_text("mine")
    with pytest.raises(ValueError, match="is not inside"):
        sweep(SPECS, out)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [f"{ASIDE}kept"]
    assert before


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_the_lock_must_be_a_regular_file(kind, out, tmp_path):
    (out / "lake" / ".lock").unlink()
    if kind == "pipe":
        os.mkfifo(out / "lake" / ".lock")
    else:
        (out / "lake" / ".lock").symlink_to(tmp_path / "made")
    with pytest.raises(ValueError, match=r"lake/\.lock is not a regular file"):
        sweep(SPECS, out)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["../outside.csv", "/tmp/adeu-outside.csv", "traces/../../outside.csv"])
def test_a_path_that_leaves_the_folder_is_rejected(name, tmp_path):
    folder = Folder(tmp_path / "run")
    for use in (folder.read, folder.remove, lambda name: folder.write(name, b"")):
        with pytest.raises(ValueError, match="not inside its run's folder"):
            use(name)
    assert list(tmp_path.iterdir()) == []


class Bomb:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path("exploded"),)


def zipped(compression=zipfile.ZIP_STORED, **files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return buffer.getvalue()


def saved(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def huge(shape):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


CHECKPOINTS = {
    "empty": b"",
    "a pickle": pickle.dumps(Bomb()),
    "a pickle inside": zipped(**{"episode.npy": saved(np.array([Bomb()], object), allow_pickle=True)}),
    "a bare array": saved(np.zeros(3)),
    "no metrics": zipped(**{"episode.npy": saved(np.zeros(3))}),
    "huge": zipped(**{"episode.npy": huge((2**50,)), "metrics.csv.npy": saved(np.zeros(1, np.uint8))}),
    "negative": zipped(**{"episode.npy": huge((-3,)), "metrics.csv.npy": saved(np.zeros(1, np.uint8))}),
    "a bomb": zipped(zipfile.ZIP_DEFLATED, **{"episode.npy": saved(np.zeros(10**6))}),
    "climbing": zipped(
        **{"../../../episode.npy": saved(np.zeros(3)), "metrics.csv.npy": saved(np.zeros(1, np.uint8))}
    ),
    "of another job": zipped(**{"episode.npy": saved(np.array(3)), "metrics.csv.npy": saved(np.zeros(0, np.uint8))}),
}


def test_bad_checkpoints_fail_only_their_runs_and_are_never_unpickled(tmp_path, monkeypatch):
    """One run for each kind, all in one worker."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    bad = CHECKPOINTS | broken(tmp_path / "real")
    *specs, good = (Spec("lake", "adeu", seed, SETTING) for seed in range(len(bad) + 1))
    paths = [tmp_path / "out" / spec.name / CHECKPOINT for spec in specs]
    for spec, path, content in zip(specs, paths, bad.values(), strict=True):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        assert _prepare(spec, tmp_path / "out") is None
    failed = sweep([*specs, good], tmp_path / "out", jobs=1)
    assert list(failed) == specs
    for kind, reason in zip(bad, failed.values(), strict=True):
        assert reason.startswith("UnusableError: checkpoint/state.npz "), kind
        assert "delete it to restart this run" in reason, kind
    assert not list(tmp_path.rglob("exploded"))
    for path in paths:
        path.unlink()
    assert sweep([*specs, good], tmp_path / "out", jobs=1) == {}
    for spec in specs:
        work(Folder(tmp_path / "whole" / spec.name), SETTING.trainer(spec.seed), lambda _: None)
        whole, again = ((tmp_path / name / spec.name / METRICS).read_bytes() for name in ("whole", "out"))
        assert whole == again


def broken(folder):
    """Return a real checkpoint, truncated and with a flipped bit."""
    work(Stopping(folder), SETTING.trainer(0), lambda _: None, checkpoint_seconds=0)
    content = (folder / CHECKPOINT).read_bytes()
    half = len(content) // 2
    return {"truncated": content[:half], "one bit": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]}


class Stopping(Folder):
    """A folder that keeps its checkpoint."""

    def remove(self, name):
        pass


def test_a_real_checkpoint_is_read(tmp_path):
    """Check that the checkpoint which the test above damages is valid."""
    work(Stopping(tmp_path), SETTING.trainer(0), lambda _: None, checkpoint_seconds=0)
    arrays, text = load_checkpoint(Folder(tmp_path))
    assert int(arrays["episode"]) == 600
    assert text == (tmp_path / METRICS).read_text()


def test_files_left_by_a_killed_process_are_removed(out):
    run = first(out)
    (run / "checkpoint").mkdir(exist_ok=True)
    for name in (CHECKPOINT, f"{ASIDE}x", f"checkpoint/{ASIDE}y"):
        (run / name).write_bytes(b"left")
    before = (run / DONE).stat().st_ino
    assert sweep(SPECS, out) == {}
    assert not [path for path in run.rglob("*") if path.is_file() and path.read_bytes() == b"left"]
    assert (run / DONE).stat().st_ino == before


@pytest.mark.parametrize("cut", [1, 1000])
def test_a_worker_ends_if_its_task_cannot_be_read(cut):
    """Otherwise it would keep the lock after its command was killed while sending a task."""
    task = pickle.dumps(("folder", np.zeros(10_000), 5.0))
    command = [sys.executable, "-m", "adeu.runs.engines.worker"]
    for content, code in ((task[:-cut], 1), (b"", 0)):
        worker = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        worker.stderr.close()  # as that of a killed command
        worker.stdin.write(content)
        worker.stdin.close()
        assert worker.wait(timeout=900) == code


@dataclasses.dataclass(frozen=True)
class Odd:
    """A setting whose trainer returns rows of numpy scalars."""

    def trainer(self, seed):
        return OddTrainer()


class OddTrainer:
    unit, total, steps = "pieces", 2, 0

    def __init__(self):
        self.done = 0

    def advance(self):
        self.done += 1
        values = {"return": np.float64(0.1), "loss": np.float32(0.5), "count": np.int64(3), "solved": np.bool_(True)}
        return Piece([{"step": self.done, **values}])

    def arrays(self):
        return {"done": np.array(self.done)}

    def restore(self, arrays):
        self.done = int(arrays["done"])


def test_rows_may_have_numpy_scalars(tmp_path):
    spec = Spec("odd", "numpy", 0, Odd())
    assert sweep([spec], tmp_path) == {}
    text = "step,return,loss,count,solved\n1,0.1,0.5,3,1\n2,0.1,0.5,3,1\n"
    assert (tmp_path / spec.name / METRICS).read_text() == text
    assert to_csv({"x": [np.float64(0.1)], "y": np.array([True])}) == "x,y\n0.1,1\n"


def test_a_trainer_that_workers_cannot_load_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(OddTrainer, "__module__", "not_there")
    monkeypatch.setitem(sys.modules, "not_there", sys.modules[__name__])
    failed = sweep([Spec("odd", "numpy", 0, Odd())], tmp_path)
    assert "No module named 'not_there'" in next(iter(failed.values()))


def test_names_and_errors_are_not_interpreted_as_markup():
    console = Console(record=True, width=200, file=io.StringIO())
    spec = Spec("<b>", "[/red][bold]", 0, SETTING)
    with Display(console, "[/]", 2) as display:
        display(Event(spec, retried="[/red] again"))
        display(Event(spec, failed="[/blue] <script>"))
    assert "<b>/[/red][bold]/seed-0 failed: [/blue] <script>" in console.export_text()


def test_a_second_command_is_rejected_and_the_first_continues(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE_SECONDS", 0.0)
    specs, refused = [dataclasses.replace(spec, experiment="frozen-lake") for spec in SPECS], []

    def watch(event):
        if not refused:
            refused.append(run_here("run", *LAKE, "--out", tmp_path))

    assert sweep(specs, tmp_path, watch=watch) == {}
    assert refused[0].returncode == 1
    assert f"another command is running in {tmp_path / 'frozen-lake'}" in refused[0].stderr
    for mine, theirs in zip(specs, SPECS, strict=True):
        assert (tmp_path / mine.name / METRICS).read_bytes() == (whole / theirs.name / METRICS).read_bytes()


@pytest.fixture
def disk(tmp_path):
    """Return a function that mounts a small disk with the given options."""
    path = tmp_path / "disk"
    path.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
        if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("only root can mount a disk")
        return path

    yield mount
    subprocess.run(["umount", str(path)], capture_output=True)


def test_a_read_only_disk_is_reported_without_a_traceback(disk):
    out = disk("size=1m,ro") / "out"
    run = run_here("run", *LAKE, "--out", out)
    assert run.returncode == 1
    assert "Read-only file system" in run.stderr
    assert "Traceback" not in run.stderr


def test_runs_fail_on_a_full_disk_and_complete_with_more_space(disk, whole, monkeypatch):
    monkeypatch.setenv("ADEU_CHECKPOINT_SECONDS", "0")
    out = disk("size=24k")
    failed = sweep(SPECS, out)
    assert failed.keys() <= set(SPECS)
    assert failed
    assert all("No space left on device" in reason for reason in failed.values())
    assert not list(out.rglob(f"{ASIDE}*"))
    disk("remount,size=10m")
    assert sweep(SPECS, out) == {}
    assert metrics(out) == metrics(whole)
