"""Attack run folders, saved behaviors, the working folder and training loops, and print the results: `make attack`.

Each attack is repeated for some seconds. A try holds if the error names the file, or if the data that is read
did not change. Nothing outside the folder may be read or written, nothing may hang, nothing may be executed. Valid
return values of environments are accepted, bad ones rejected; an environment that ends its worker fails only its run.
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
"""Seconds for each attack, except those that start processes: these run first and have no limit."""
LONGEST = 560.0
"""Seconds for all attacks: on a busy machine the last ones get less than `SECONDS` each."""
SLOWEST = 60
"""Seconds after which a call counts as hanging."""
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
"""Yield for each try whether it held; an attack gets an empty folder and a random generator."""


def hang(*_: object) -> None:
    raise RuntimeError("it hangs")


def rejected_or(attempt: Callable[[], object], unchanged: Callable[[object], bool]) -> bool:
    """Return whether an attempt raises an error with a message, or returns the right result."""
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
    """Return the content, truncated at a random place or with a random bit flipped."""
    place = rng.randrange(len(content))
    return (
        content[:place]
        if cut
        else content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]
    )


class Remaining(Folder):
    """A folder that keeps the checkpoint when the run ends."""

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
    """Return a copy of a folder of complete runs, which is made once."""
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
    """Replace a file or folder by something else, then call everything that reads a folder."""
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
    """Run commands beside modules that shadow imports, and a numba configuration that sets a cache folder."""
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
    """Kill a command repeatedly: in the end its files equal those of an uninterrupted one."""
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
    """Fill the disk before the runs are complete, then enlarge it."""
    out = complete(folder)
    whole, disk = columns(out), folder / "disk"
    disk.mkdir()
    for size in (16, 24, 32, 48):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)]
        if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
            print("full disk: skipped, because only root can mount a disk", file=sys.stderr)
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
    """Draw return values of `reset` and `step` with hypothesis, for training, evaluation and `Behavior`."""
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
            print(f"did not hold: {answer}", file=sys.stderr)

    while True:
        hypothesis.seed(rng.randrange(2**32))(settings(hypothesis.given(answers())(attempt)))()
        yield from outcomes
        outcomes.clear()


def ended_workers(folder: pathlib.Path, rng: random.Random) -> Iterator[bool]:
    """Run steps that exit, kill their process or flood its output: they do not affect other runs."""
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
    "killed commands": kills,
    "full disk": full_disk,
    "environments that end their worker": ended_workers,
    "checkpoints with a flipped bit": lambda folder, rng: checkpoints(folder, rng, cut=False),
    "truncated checkpoints": lambda folder, rng: checkpoints(folder, rng, cut=True),
    "saved behaviors with a flipped bit": lambda folder, rng: behaviors(folder, rng, cut=False),
    "truncated saved behaviors": lambda folder, rng: behaviors(folder, rng, cut=True),
    "complete runs with a flipped bit": lambda folder, rng: run_files(folder, rng, cut=False),
    "complete runs with a truncated file": lambda folder, rng: run_files(folder, rng, cut=True),
    "planted links": lambda folder, rng: planted(folder, rng, "link"),
    "planted pipes": lambda folder, rng: planted(folder, rng, "pipe"),
    "planted endless files": lambda folder, rng: planted(folder, rng, "endless"),
    "return values of environments": bad_environments,
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
                    deadline = deadline or time.monotonic() + seconds  # after the first try, which prepares
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
