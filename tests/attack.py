"""Attacks run folders, saved behaviours, the working folder and training loops, and prints what held: `make attack`.

Each attack is tried as often as its seconds allow. A try holds if the file is rejected by name, or if what is read
did not change. Nothing outside of the folder may be read or written, nothing may hang, nothing may be executed. Right
answers of environments are accepted, wrong ones rejected by name; one that ends its worker fails its own run alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import gymnasium
import hypothesis
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import adeu
from adeu.core.files import ASIDE
from adeu.envs import Lake
from adeu.experiments.lib.lake_setting import adeu_counts
from adeu.report import write_report
from adeu.runs.folder import CHECKPOINT, METRICS, Folder, load_checkpoint
from adeu.runs.spec import Spec
from adeu.runs.sweep import sweep
from adeu.runs.work import work
from tests.drawn_envs import Answer, answers
from tests.drawn_envs import held as answer_held
from tests.runs import failing
from tests.runs.keeping import Keeping
from tests.runs.processes import start, wait_until, workers

SECONDS = 20.0
"""For each attack but those that start processes: these are made first, and take what they take."""
LONGEST = 560.0
"""Seconds for all: on a busy machine the last attacks get less than `SECONDS` each."""
SLOWEST = 60
"""Seconds after which something hangs."""
SECRET = "97531.25"
SPECS = [
    *(
        Spec("lake", "adeu", seed, dataclasses.replace(adeu_counts(), lake=Lake(size=12), episodes=600))
        for seed in (0, 1)
    ),
    Spec("lake", "kept", 0, Keeping()),
]
LAKE = ("frozen-lake", "--set", "lake.size=60", "--set", "episodes=20000", "--seeds", "0:2")
ADEU = [sys.executable, "-P", "-c", "from adeu.cli import main; main()"]
Attack = Callable[[pathlib.Path, random.Random], Iterator[bool]]
"""Yields whether it held, try by try, in a folder of its own."""


def hang(*_: object) -> None:
    raise RuntimeError("it hangs")


def rejected_or(attempt: Callable[[], object], unchanged: Callable[[object], bool]) -> bool:
    """Whether an attempt raises an error that a user can read, or has the result that it should have."""
    signal.alarm(SLOWEST)
    try:
        return unchanged(attempt())
    except (ValueError, OSError) as error:
        return bool(str(error))
    except Exception:
        return False
    finally:
        signal.alarm(0)


def damaged(content: bytes, rng: random.Random, cut: bool) -> bytes:
    """The content, cut somewhere or with a bit flipped."""
    place = rng.randrange(len(content))
    return (
        content[:place]
        if cut
        else content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]
    )


class Remaining(Folder):
    """A folder whose checkpoint stays when the run ends."""

    def remove(self, name: str) -> None:
        pass


def checkpoints(folder: pathlib.Path, rng: random.Random, cut: bool) -> Iterator[bool]:
    work(Remaining(folder), SPECS[0].setting.trainer(0), lambda _: None, 0, "digest")
    path, whole = folder / CHECKPOINT, (folder / CHECKPOINT).read_bytes()
    arrays, text = load_checkpoint(Folder(folder), "digest")

    def same(found: object) -> bool:
        return found[1] == text and all(np.array_equal(found[0][name], arrays[name]) for name in arrays)

    while True:
        path.write_bytes(damaged(whole, rng, cut))
        yield rejected_or(lambda: load_checkpoint(Folder(folder), "digest"), same)


def behaviors(folder: pathlib.Path, rng: random.Random, cut: bool) -> Iterator[bool]:
    explorer = adeu.Explorer(f=adeu.Rnd(), g=adeu.Sigmoid(), D=adeu.Bernoulli())
    behavior = adeu.Behavior(explorer, gymnasium.make("CartPole-v1"))
    path = folder / "behavior"
    behavior.save(path)
    whole, again = path.read_bytes(), folder / "again"

    def same(_: object) -> bool:
        behavior.save(again)
        return again.read_bytes() == whole

    while True:
        path.write_bytes(damaged(whole, rng, cut))
        yield rejected_or(lambda: behavior.load(path), same)


def complete(folder: pathlib.Path) -> pathlib.Path:
    """A folder of complete runs, made once."""
    made = folder.parent / "complete"
    if not made.exists():
        assert sweep(SPECS, made, jobs=1) == {}
        write_outside(folder.parent / "outside")
    return shutil.copytree(made, folder / "out")


def write_outside(outside: pathlib.Path) -> None:
    outside.mkdir()
    for name in ("file", f"{ASIDE}kept"):
        (outside / name).write_text(SECRET)


def columns(out: pathlib.Path) -> dict[str, bytes]:
    return {name: np.asarray(column).tobytes() for name, column in adeu.runs.load(out).items()}


def run_files(folder: pathlib.Path, rng: random.Random, cut: bool) -> Iterator[bool]:
    out = complete(folder)
    paths, whole = [path for path in out.rglob("*") if path.suffix in (".json", ".csv", ".npz")], columns(out)
    while True:
        path = rng.choice(paths)
        content = path.read_bytes()
        path.write_bytes(damaged(content, rng, cut))
        yield rejected_or(lambda: columns(out), lambda found: found == whole)
        path.write_bytes(content)


def planted(folder: pathlib.Path, rng: random.Random, kind: str) -> Iterator[bool]:
    """Something else in the place of a file or a folder; then all that reads a folder."""
    out = complete(folder)
    outside, whole = folder.parent / "outside", columns(out)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    places = [path for path in out.rglob("*") if path.name not in (".lock",)]
    while True:
        path = rng.choice([place for place in places if kind == "link" or place.is_file()])
        path.rename(folder / "aside")
        if kind == "link":
            path.symlink_to(rng.choice([outside, outside / "file", pathlib.Path("/dev/zero"), outside / "none"]))
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            with path.open("wb") as file:
                file.truncate(2**41)
        held = all(
            rejected_or(attempt, unchanged)
            for attempt, unchanged in (
                (lambda: sweep(SPECS, out, jobs=1), lambda failed: isinstance(failed, dict)),
                (lambda: columns(out), lambda found: isinstance(found, dict)),
                (lambda: write_report(out).read_text(), lambda page: SECRET not in page),
            )
        )
        held &= {each.name: each.read_bytes() for each in outside.iterdir()} == before
        yield held
        shutil.rmtree(out)
        shutil.copytree(folder.parent / "complete", out)
        remove(folder / "aside")
        assert columns(out) == whole


def remove(path: pathlib.Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def shadows(folder: pathlib.Path, rng: random.Random) -> Iterator[bool]:
    """Modules beside every command, and a configuration of numba that names a cache there."""
    trap = "import pathlib; pathlib.Path(__file__).with_suffix('.sprung').touch()\n"
    for name in ("adeu", "coverage", "json", "numba", "numpy", "queue", "random", "rich", "sitecustomize", "yaml"):
        (folder / f"{name}.py").write_text(trap)
    (folder / ".numba_config.yaml").write_text("cache_dir: kernels\n")
    os.mkfifo(folder / "matplotlibrc")
    small = ["frozen-lake/adeu", "--seeds", "0", "--jobs", "1"]
    sized = ["--set", "lake.size=12", "--set", "episodes=300", "--quiet"]
    for arguments in (["list"], ["run", *small, *sized], ["plot", *small[:3]], ["report", "."]):
        ended = subprocess.run([*ADEU, *arguments], cwd=folder, capture_output=True, timeout=10 * SLOWEST)
        yield ended.returncode == 0 and not list(folder.glob("*.sprung")) and not (folder / "kernels").exists()


def results(out: pathlib.Path) -> dict[str, bytes]:
    found = [path for path in sorted(out.rglob("*.*")) if path.suffix in (".csv", ".json", ".svg")]
    return {str(path.relative_to(out)): path.read_bytes() for path in found if path.name != "spec.json"}


def kills(folder: pathlib.Path, rng: random.Random) -> Iterator[bool]:
    """A command killed again and again: it ends in the bytes of one that nobody killed."""
    assert start(*LAKE, out=folder / "whole").wait() == 0
    whole, out, process = results(folder / "whole"), folder / "out", None
    deadline = time.monotonic() + 2 * SECONDS
    while time.monotonic() < deadline:
        process = start(*LAKE, out=out)
        wait_until(lambda: workers(process) or process.poll() is not None)  # noqa: B023
        time.sleep(rng.uniform(0, 3))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        rows = [path.read_text() for path in out.rglob(METRICS)]
        yield all(text.endswith("\n") for text in rows)
        if list(out.rglob("summary.json")):
            yield results(out) == whole
            shutil.rmtree(out)
    yield start(*LAKE, out=out).wait() == 0 and results(out) == whole and not list(out.rglob(f"{ASIDE}*"))


def full_disk(folder: pathlib.Path, rng: random.Random) -> Iterator[bool]:
    """A disk that is full before the runs are complete; then it grows."""
    out = complete(folder)
    whole, disk = columns(out), folder / "disk"
    disk.mkdir()
    for size in (16, 24, 32, 48):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)]
        if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
            print("full disk: skipped, since only root may mount a disk", file=sys.stderr)
            return
        try:
            held = rejected_or(
                lambda: sweep(SPECS, disk, jobs=1), lambda failed: "No space left" in str(failed) or not failed
            )
            subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
            yield (
                held
                and sweep(SPECS, disk, jobs=1) == {}
                and columns(disk) == whole
                and not list(disk.rglob(f"{ASIDE}*"))
            )
        finally:
            subprocess.run(["umount", str(disk)], check=True)


def bad_environments(folder: pathlib.Path, rng: random.Random) -> Iterator[bool]:
    """What `reset` and `step` return, drawn with hypothesis, in training, in evaluation and for `Behavior`."""
    settings = hypothesis.settings(
        max_examples=50,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    outcomes: list[bool] = []

    def attempt(answer: Answer) -> None:
        signal.alarm(SLOWEST)
        outcomes.append(answer_held(answer))
        signal.alarm(0)
        if not outcomes[-1]:
            print(f"not held: {answer}", file=sys.stderr)

    while True:
        hypothesis.seed(rng.randrange(2**32))(settings(hypothesis.given(answers())(attempt)))()
        yield from outcomes
        outcomes.clear()


def ended_workers(folder: pathlib.Path, rng: random.Random) -> Iterator[bool]:
    """Runs whose steps exit, kill their process or flood its output: each fails, or completes, by itself."""
    lines = {
        failing.GOOD: "",
        failing.RAISES: "RuntimeError: no trainer",
        failing.UNPICKLED: "TypeError: cannot pickle",
        failing.SIGNALLED: "its worker was killed by signal 40",
        failing.EXITS: "SystemExit: 3",
        failing.PRINTS: "",
        failing.UNLOADABLE: "ModuleNotFoundError: not on",
    }
    specs = [Spec("failing", "case", seed, failing.Failing()) for seed in lines]
    failed = sweep(specs, folder / "out", jobs=2)
    for spec in specs:
        line, why = lines[spec.seed], failed.get(spec, "")
        yield why.startswith(line) and bool(why) == bool(line)


ATTACKS: dict[str, Attack] = {
    "modules in the working folder": shadows,
    "a command killed": kills,
    "a full disk": full_disk,
    "environments that end their worker": ended_workers,
    "a bit of a checkpoint flipped": lambda folder, rng: checkpoints(folder, rng, cut=False),
    "a checkpoint cut": lambda folder, rng: checkpoints(folder, rng, cut=True),
    "a bit of a saved behaviour flipped": lambda folder, rng: behaviors(folder, rng, cut=False),
    "a saved behaviour cut": lambda folder, rng: behaviors(folder, rng, cut=True),
    "a bit of a complete run flipped": lambda folder, rng: run_files(folder, rng, cut=False),
    "a file of a complete run cut": lambda folder, rng: run_files(folder, rng, cut=True),
    "links planted": lambda folder, rng: planted(folder, rng, "link"),
    "pipes planted": lambda folder, rng: planted(folder, rng, "pipe"),
    "endless files planted": lambda folder, rng: planted(folder, rng, "endless"),
    "answers of environments": bad_environments,
}


def main() -> int:
    signal.signal(signal.SIGALRM, hang)
    began = time.monotonic()
    rng, lost = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else None), 0
    table = Table("attack", box=box.SIMPLE, header_style="bold")
    table.add_column("tried", justify="right")
    table.add_column("held", justify="right")
    with tempfile.TemporaryDirectory() as root:
        for number, (name, attack) in enumerate(ATTACKS.items()):
            folder = pathlib.Path(root, str(number))
            folder.mkdir()
            seconds = min(SECONDS, (LONGEST - (time.monotonic() - began)) / (len(ATTACKS) - number))
            held, deadline = [], 0.0
            with contextlib.closing(attack(folder, rng)) as tries:
                for outcome in tries:
                    deadline = deadline or time.monotonic() + seconds  # what the first one prepared does not count
                    held.append(outcome)
                    if time.monotonic() > deadline and attack not in (kills, shadows, full_disk, ended_workers):
                        break
            table.add_row(name, f"{len(held):,}", f"{sum(held):,}")
            lost += len(held) - sum(held)
    Console().print(table)
    print(f"{(time.monotonic() - began) / 60:.1f} minutes")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
