"""Runs that depend on data kept by other runs, such as a control that depends on the adaptive run of the same seed.

A `DependsOnRun` setting names the case that its runs start from. Its `trainer(seed, kept)` takes the data kept by the
run of that case and seed.
"""

from __future__ import annotations

import pathlib
import pickle
from collections.abc import Sequence

from adeu.core import files, npz
from adeu.runs.engines.worker_job import WorkerJob
from adeu.runs.folder import DONE, KEPT, UnusableError, is_done
from adeu.runs.identity import stored_digest
from adeu.runs.spec import DependsOnRun, Spec
from adeu.runs.trainers.trainer import Trainer
from adeu.runs.work import checkpoint_seconds


def source_of(spec: Spec) -> str:
    """Returns the name of the run that a run starts from; empty if there is none."""
    source = spec.setting.source if isinstance(spec.setting, DependsOnRun) else ""
    return f"{spec.experiment}/{source}/seed-{spec.seed}" if source else ""


def trainer_of(spec: Spec, out: pathlib.Path) -> Trainer:
    """Returns the trainer of the run, with the data kept by its source."""
    source = source_of(spec)
    if not (source and isinstance(spec.setting, DependsOnRun)):
        return spec.setting.trainer(spec.seed)
    folder = out / source
    try:
        if not is_done(folder, out):
            raise ValueError(f"{folder} is not complete")
        kept = npz.unpack(files.read(folder / KEPT, out, files.largest_arrays()))
    except Exception as error:  # disk, zip and numpy errors have many types
        raise UnusableError(f"it starts from {folder / KEPT}, which cannot be read ({error})") from None
    return spec.setting.trainer(spec.seed, kept)


def job_of(spec: Spec, out: pathlib.Path) -> WorkerJob:
    """Returns the run as data for a worker."""
    trainer = trainer_of(spec, out)
    alone = getattr(trainer, "alone", False)
    return WorkerJob(pickle.dumps(trainer), stored_digest(spec, out), checkpoint_seconds(), alone)


def waves(left: Sequence[Spec], complete: Sequence[Spec], out: pathlib.Path) -> list[list[Spec]]:
    """Groups the remaining runs in waves, those without a source first; rejects a run whose source does not exist."""
    known = {spec.name for spec in (*left, *complete)}
    for spec in left:
        source = source_of(spec)
        if source and source not in known and not files.inside(out, source, DONE):
            first = source.rpartition("/seed-")[0]
            raise ValueError(
                f"{spec.name} starts from {source}, which is not complete; use adeu run {first} first, or run both"
            )
    order = [[spec for spec in left if not source_of(spec)], [spec for spec in left if source_of(spec)]]
    return [wave for wave in order if wave]
