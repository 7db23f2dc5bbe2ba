"""The folder of a run: `spec.json`, `metrics.csv`, `checkpoint/`, `traces/`, and `done.json` when it is complete.

Files appear whole or not at all, and nothing in a folder is ever unpickled. The checkpoint holds the metrics up to
its own moment, so it is the one file that a run goes on from.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pathlib
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adeu.runs.trainers.trainer import Arrays, Row

CHECKPOINT = "checkpoint/state.npz"
METRICS = "metrics.csv"
DONE = "done.json"
KEPT = "kept.npz"
"""What a run leaves for others to begin from, if anything."""
SPEC = "spec.json"
ASIDE = ".aside-"
"""How the names of files begin that are not yet whole."""


class Store(Protocol):
    """Where the files of one run are kept."""

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class Folder:
    """A store on this machine's disk."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        try:
            return self._inside(name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        write(self._inside(name), content)

    def remove(self, name: str) -> None:
        self._inside(name).unlink(missing_ok=True)

    def tidy(self, done: bool) -> None:
        """Removes what a killed process left: files half written, and the checkpoint of a run that is done."""
        for aside in self.path.rglob(f"{ASIDE}*"):
            aside.unlink()
        if done:
            self.remove(CHECKPOINT)

    def _inside(self, name: str) -> pathlib.Path:
        path = self.path / name
        if not path.parent.resolve().is_relative_to(self.path.resolve()):
            raise ValueError(f"{path} is not inside its run's folder")
        return path


def write(path: pathlib.Path, content: bytes) -> None:
    """Writes aside, then renames: the file is whole, or it is what it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(prefix=ASIDE, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        pathlib.Path(aside).unlink(missing_ok=True)
        raise


def write_json(path: pathlib.Path, value: Any) -> None:
    write(path, to_json(value))


def to_json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def read_json(path: pathlib.Path) -> Any:
    """What the file holds, None if there is none; a file that is no JSON is refused by name."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError, IsADirectoryError) as error:
        raise ValueError(f"{path} is corrupt ({error}); delete its folder to run that seed again") from None


def to_csv(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> str:
    """Columns as text; numbers are written so that reading them gives the same bits."""
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    lines = [",".join(columns)]
    lines += [",".join(map(_number, row)) for row in zip(*lists, strict=True)]
    return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)


class Metrics:
    """The rows of metrics.csv, as text that grows."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            header = ",".join(row) + "\n"
            self.text = self.text or header
            assert self.text.startswith(header), "every row has the same columns"
            self.text += ",".join(map(_number, row.values())) + "\n"


def to_npz(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def from_npz(content: bytes) -> Arrays:
    """What `to_npz` made; anything else is refused, and nothing is unpickled or unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        if any(member.compress_type != zipfile.ZIP_STORED for member in file.infolist()):
            raise ValueError("it is compressed, which a run's file never is")
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def save_checkpoint(store: Store, arrays: Arrays, metrics: str) -> None:
    store.write(CHECKPOINT, to_npz(arrays | {METRICS: np.frombuffer(metrics.encode(), np.uint8)}))


def load_checkpoint(store: Store) -> tuple[Arrays, str] | None:
    content = store.read(CHECKPOINT)
    if content is None:
        return None
    try:
        arrays = from_npz(content)
        return arrays, arrays.pop(METRICS).tobytes().decode()
    except Exception as error:  # each of zip, numpy and text has several
        raise ValueError(f"{CHECKPOINT} is corrupt ({error}); delete it to begin this run again") from None


def done(metrics: str, steps: int, kept: bytes = b"") -> bytes:
    digest = hashlib.sha256(metrics.encode()).hexdigest()
    head = {"rows": max(0, metrics.count("\n") - 1), "steps": steps, "sha256": digest}
    return to_json(head | ({"kept": hashlib.sha256(kept).hexdigest()} if kept else {}))


def check_metrics(folder: pathlib.Path, done: Any) -> None:
    """Refuses metrics, and what a run kept for others, that are not what was written at the end."""
    for name, entry in ((METRICS, "sha256"), (KEPT, "kept")):
        if entry == "kept" and isinstance(done, dict) and entry not in done:
            continue
        try:
            digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except FileNotFoundError:
            digest = ""
        if not isinstance(done, dict) or done.get(entry) != digest:
            raise ValueError(f"{folder / name} is not what the run wrote; delete {folder} to run that seed again")
