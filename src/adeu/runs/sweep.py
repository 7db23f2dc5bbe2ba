"""Executes runs, each in its folder: skips complete runs, resumes interrupted ones, rejects folders of other runs."""

from __future__ import annotations

import contextlib
import functools
import pathlib
from collections.abc import Callable, Generator, Sequence
from typing import Literal

from adeu.core import check, files
from adeu.runs.engines import local
from adeu.runs.engines.event import Event, Watch, without_errors
from adeu.runs.folder import CHECKPOINT, DONE, SPEC, Folder, KeptError, is_done, read_json
from adeu.runs.identity import fill_in, record, spec_data
from adeu.runs.lock import locked
from adeu.runs.sources import source_of, waves
from adeu.runs.spec import Spec, differences
from adeu.runs.work import checkpoint_seconds

Engine = Callable[[Sequence[Spec], pathlib.Path, int | None, tuple[int, ...]], Generator[Event]]
"""Executes runs and yields events; see `engines.local.run`."""


def sweep(
    specs: Sequence[Spec],
    out: str | pathlib.Path,
    jobs: int | None = None,
    watch: Watch = lambda _: None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
) -> dict[Spec, str]:
    """Executes runs, skips complete ones, resumes interrupted ones. Returns the failed runs with their errors.

    Args:
        specs: the runs.
        out: the root folder of all runs; if a run's folder holds another spec or damaged files, nothing is run.
        jobs: the number of parallel runs, which share the cores; the default is one per core.
        watch: called with each event; its errors are logged and do not stop runs.
        engine: "local" for worker processes on this machine, or "ray" for tasks on a Ray cluster.
        address: the Ray cluster, such as "auto", "host:port" or "ray://host:port"; by default one is started here.
    """
    run = _engine(engine, address)
    checkpoint_seconds()
    _check_settings(specs)
    failed, out, watch = dict[Spec, str](), pathlib.Path(out), without_errors(watch)

    def tell(event: Event) -> None:
        if event.failed:
            failed[event.spec] = event.failed
        watch(event)

    with contextlib.ExitStack() as stack:
        folders = sorted({out / spec.experiment for spec in specs})
        locks = tuple(stack.enter_context(locked(folder, out)) for folder in folders)
        events = {spec: _examine(spec, out) for spec in specs}
        complete = [spec for spec, event in events.items() if event and event.finished]
        left = [spec for spec, event in events.items() if event is None]
        order = waves(left, complete, out)
        for spec, event in events.items():
            Folder(out / spec.name, out).tidy(done=spec in complete)
            if event or (event := _prepare(spec, out)):
                tell(event)
        for wave in order:
            play = _play(wave, failed, lambda wave: run(wave, out, jobs, locks))
            for event in stack.enter_context(contextlib.closing(play)):
                tell(event)
    return failed


def _check_settings(specs: Sequence[Spec]) -> None:
    """Rejects, before any run starts, a case whose trainer cannot be created for any of its seeds."""
    made, errors = set[tuple[str, str]](), dict[tuple[str, str], Exception]()
    for spec in specs:
        case = spec.experiment, spec.case
        if case not in made:
            try:
                spec.setting.trainer(spec.seed)
                made.add(case)
            except (ValueError, TypeError) as error:
                errors.setdefault(case, error)
            except Exception:  # not caused by the settings: the run itself will fail, with a traceback
                made.add(case)
    for case in errors.keys() - made:
        raise errors[case]


def _examine(spec: Spec, out: pathlib.Path) -> Event | None:
    """Returns an event if the run is complete or cannot start, else None."""
    try:
        if is_complete(spec, out):
            return Event(spec, finished=True)
    except KeptError as error:
        return Event(spec, failed=str(error))
    if not files.inside(out, spec.name, SPEC):
        for name in (DONE, CHECKPOINT):
            if files.inside(out, spec.name, name):
                why = f"{name} belongs to an unknown run, because {SPEC} is missing; delete it to restart this run"
                return Event(spec, failed=f"{out / spec.name}: {why}")
    return None


def _prepare(spec: Spec, out: pathlib.Path) -> Event | None:
    """Writes the run's spec.json; returns an event if that fails."""
    try:
        record(spec, out)
    except OSError as error:
        return Event(spec, failed=f"{type(error).__name__}: {error}")
    return None


def _play(
    wave: Sequence[Spec], failed: dict[Spec, str], run: Callable[[Sequence[Spec]], Generator[Event]]
) -> Generator[Event]:
    """Executes the runs of a wave and yields their events; skips runs that failed or whose source failed."""
    names = {spec.name for spec in failed}
    blocked = [spec for spec in wave if spec not in failed and source_of(spec) in names]
    for spec in blocked:
        yield Event(spec, failed=f"{source_of(spec)}, which it starts from, failed")
    with contextlib.closing(run([spec for spec in wave if spec not in failed])) as events:
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
        check.refuse("sweep", "address", "None unless the engine is 'ray'", address)
    return local.run


def is_complete(spec: Spec, out: pathlib.Path) -> bool:
    """Returns whether the run is complete; rejects a folder that holds another run or damaged files."""
    folder = out / spec.name
    written = read_json(folder / SPEC, out)
    if written is None:
        return False
    mine = spec_data(spec)
    if not (isinstance(written, dict) and written.keys() >= mine.keys()):
        raise ValueError(f"{folder / SPEC} is not a run spec; choose another --out")
    theirs = {name: written[name] for name in mine}
    theirs["setting"] = fill_in(theirs["setting"], spec.setting)
    if theirs != mine:
        found = sorted(differences(theirs, mine), key=lambda difference: not difference.form)
        what = "a run of another version of adeu, with different setting names" if found[0].form else "another run"
        how = "; ".join(difference.words for difference in found[:3])
        raise ValueError(f"{folder} holds {what}: {how}. Choose another --out, or delete that folder")
    return is_done(folder, out)
