"""Many runs, each in its folder: what is complete stays, what is not goes on, what is foreign is refused."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import json
import pathlib
import platform
import subprocess
from collections.abc import Callable, Generator, Sequence
from typing import Any

from adeu.core import check
from adeu.runs.engines import local
from adeu.runs.engines.event import Event
from adeu.runs.folder import DONE, SPEC, Folder, check_metrics, read_json, write_json
from adeu.runs.lock import locked
from adeu.runs.sources import source_of, waves
from adeu.runs.spec import Spec, differences
from adeu.runs.work import checkpoint_seconds

Engine = Callable[[Sequence[Spec], pathlib.Path, int | None, tuple[int, ...]], Generator[Event]]
"""Works on runs and yields what happens to them; see `engines.local.run`."""
PACKAGES = ("adeu-rl", "numpy", "numba", "jax", "gymnasium")


def sweep(
    specs: Sequence[Spec],
    out: str | pathlib.Path,
    jobs: int | None = None,
    watch: Callable[[Event], None] = lambda _: None,
    engine: str = "local",
    address: str | None = None,
) -> dict[Spec, str]:
    """Runs what is not yet complete, and returns the runs that failed, with the reason.

    Args:
        specs: the runs.
        out: the folder of all runs; a folder in it that holds another spec is refused, and nothing is run.
        jobs: how many at once, sharing the cores as threads; None: one per core.
        watch: is told what happens.
        engine: "local", worker processes of this machine, or "ray", tasks of a cluster.
        address: of the Ray cluster, such as "auto", "host:port" or "ray://host:port"; None: one is started here.
    """
    run = _engine(engine, address)
    checkpoint_seconds()
    for spec in {(spec.experiment, spec.case): spec for spec in specs}.values():
        spec.setting.trainer(spec.seed)  # so that bad settings are refused before any work
    failed, out = dict[Spec, str](), pathlib.Path(out)
    with contextlib.ExitStack() as stack:
        folders = sorted({out / spec.experiment for spec in specs})
        locks = tuple(stack.enter_context(locked(folder)) for folder in folders)
        left = [spec for spec in specs if not is_complete(spec, out)]
        for spec in specs:
            Folder(out / spec.name).tidy(done=spec not in left)
            if spec not in left:
                watch(Event(spec, finished=True))
        ordered = waves(left, [spec for spec in specs if spec not in left], out)
        for spec in left:
            write_json(out / spec.name / SPEC, spec.plain() | _provenance())
        for wave in ordered:
            play = _play(wave, failed, lambda wave: run(wave, out, jobs, locks))
            for event in stack.enter_context(contextlib.closing(play)):
                if event.failed:
                    failed[event.spec] = event.failed
                watch(event)
    return failed


def _play(
    wave: Sequence[Spec], failed: dict[Spec, str], run: Callable[[Sequence[Spec]], Generator[Event]]
) -> Generator[Event]:
    """What happens to the runs of a wave; one whose source failed is not begun."""
    lost = {spec.name for spec in failed}
    orphans = [spec for spec in wave if source_of(spec) in lost]
    for spec in orphans:
        yield Event(spec, failed=f"{source_of(spec)}, which it begins from, failed")
    with contextlib.closing(run([spec for spec in wave if spec not in orphans])) as events:
        yield from events


def _engine(name: str, address: str | None) -> Engine:
    if name == "ray":
        try:
            from adeu.runs.engines import ray
        except ModuleNotFoundError as error:
            if error.name != "ray":
                raise
            raise ValueError("the ray engine needs Ray, which is not installed: pip install 'adeu-rl[ray]'") from None
        return functools.partial(ray.run, address=address)
    if name != "local":
        check.refuse("sweep", "engine", "'local' or 'ray'", name)
    if address is not None:
        check.refuse("sweep", "address", "nothing unless the engine is 'ray'", address)
    return local.run


def is_complete(spec: Spec, out: pathlib.Path) -> bool:
    """Whether the folder holds the whole run; rejects a folder that holds another one, or a broken one."""
    folder = out / spec.name
    written = read_json(folder / SPEC)
    if written is None:
        return False
    mine = json.loads(json.dumps(spec.plain()))
    try:
        theirs = {name: written[name] for name in mine}
    except (TypeError, KeyError):
        raise ValueError(f"{folder / SPEC} is no run's spec; choose another --out") from None
    if theirs != mine:
        found = sorted(differences(theirs, mine), key=lambda difference: not difference.form)
        what = "a run of another version of adeu, whose settings differ in form" if found[0].form else "another run"
        how = "; ".join(difference.words for difference in found[:3])
        raise ValueError(f"{folder} holds {what}: {how}. Choose another --out, or delete that folder")
    done = read_json(folder / DONE)
    if done is not None:
        check_metrics(folder, done)
    return done is not None


@functools.cache
def _provenance() -> dict[str, Any]:
    """Which code a run is made with."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    command = ["git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {"versions": versions, "commit": commit}
