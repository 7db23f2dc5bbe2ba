"""Runs that begin from what other runs kept: a control, from the adaptive run of the same seed.

A setting that is `Following` names the case of its experiment that it begins from, and its `trainer(seed, kept)`
takes what the run of that case and seed kept.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from adeu.runs.folder import DONE, KEPT, check_metrics, from_npz, read_json
from adeu.runs.spec import Following, Spec
from adeu.runs.trainers.trainer import Trainer


def source_of(spec: Spec) -> str:
    """The name of the run that it begins from; empty: of none."""
    source = spec.setting.source if isinstance(spec.setting, Following) else ""
    return f"{spec.experiment}/{source}/seed-{spec.seed}" if source else ""


def trainer_of(spec: Spec, out: pathlib.Path) -> Trainer:
    """What trains the run, with what its source kept."""
    source = source_of(spec)
    if not (source and isinstance(spec.setting, Following)):
        return spec.setting.trainer(spec.seed)
    folder = out / source
    check_metrics(folder, read_json(folder / DONE))
    try:
        kept = from_npz((folder / KEPT).read_bytes())
    except Exception as error:  # each of the disk, zip and numpy has several
        raise ValueError(f"{folder / KEPT} cannot be read ({error}); delete {folder} to run it again") from None
    return spec.setting.trainer(spec.seed, kept)


def waves(left: Sequence[Spec], complete: Sequence[Spec], out: pathlib.Path) -> list[list[Spec]]:
    """The runs that are left, those that need no other first. One whose source is nowhere is refused."""
    there = {spec.name for spec in (*left, *complete)}
    for spec in left:
        source = source_of(spec)
        if source and source not in there and read_json(out / source / DONE) is None:
            first = source.rpartition("/seed-")[0]
            raise ValueError(
                f"{spec.name} begins from what {source} kept, which is not complete: adeu run {first} first, or both"
            )
    order = [[spec for spec in left if not source_of(spec)], [spec for spec in left if source_of(spec)]]
    return [wave for wave in order if wave]
