"""The folder of a run: `spec.json`, `metrics.csv`, `checkpoint/`, `traces/`, and `done.json` if it is complete.

Files are written atomically, and nothing in a folder is ever unpickled. A checkpoint includes the metrics up to its
step, so that a run resumes from this file alone. The checkpoint and `done.json` contain a digest of the spec.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adeu.core import files, npz
from adeu.core.json_data import Json, parse
from adeu.runs.trainers.trainer import Arrays, Row

CHECKPOINT = "checkpoint/state.npz"
METRICS = "metrics.csv"
DONE = "done.json"
KEPT = "kept.npz"
"""The data that a run keeps for dependent runs, if any."""
SPEC = "spec.json"
IDENTITY = ("experiment", "case", "seed", "setting")
"""The entries of spec.json that identify the run; the others describe the code version."""
RERUN = "delete its folder to run that seed again"


class UnusableError(ValueError):
    """Raised for an unusable file of a run; the message names the file, the reason and a remedy."""


class Store(Protocol):
    """The interface for storing the files of one run."""

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class Folder:
    """A store on this machine's disk.

    Args:
        path: the run's folder.
        out: the root folder of all runs; links below it are not followed. The default is `path`.
    """

    def __init__(self, path: pathlib.Path, out: pathlib.Path | None = None) -> None:
        self.path = path
        self._below = path if out is None else out

    def read(self, name: str) -> bytes | None:
        try:
            return files.read(self._inside(name), self._below, files.largest_arrays())
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        files.write(self._inside(name), content, self._below)

    def remove(self, name: str) -> None:
        files.remove(self._inside(name), self._below)

    def tidy(self, done: bool) -> None:
        """Removes leftovers of a killed process: temporary files, and the checkpoint of a complete run."""
        for folder, _ in files.walk(self.path):
            files.remove_asides(folder)
        if done:
            self.remove(CHECKPOINT)

    def _inside(self, name: str) -> pathlib.Path:
        """Returns the path of a file; rejects a name that leads out of this folder."""
        path = self.path / name
        if not path.is_relative_to(self.path) or ".." in pathlib.PurePath(name).parts:
            raise ValueError(f"{path} is not inside its run's folder")
        return path


def write_json(path: pathlib.Path, value: object) -> None:
    files.write(path, to_json(value))


def to_json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def read_json(path: pathlib.Path, below: pathlib.Path | None = None) -> Json:
    """Reads a JSON file; returns None if it does not exist; raises an error that names an invalid file."""
    try:
        return parse(files.read(path, below))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is corrupt ({error}); {RERUN}") from None


def stored_spec(folder: pathlib.Path, below: pathlib.Path | None = None) -> dict[str, Json] | None:
    """Reads a run's spec.json; returns None if it does not exist; raises an error that names an invalid file."""
    spec = read_json(folder / SPEC, below)
    if spec is None:
        return None
    if not (isinstance(spec, dict) and spec.keys() >= set(IDENTITY)):
        raise ValueError(f"{folder / SPEC} is not a run spec; {RERUN}")
    return spec


def stored_whole(folder: pathlib.Path, name: str) -> int:
    """Reads an integer from the setting in a run's spec.json; raises an error that names a file without it."""
    spec = read_json(folder / SPEC)
    setting = spec.get("setting") if isinstance(spec, dict) else None
    number = setting.get(name) if isinstance(setting, dict) else None
    if type(number) is not int:
        raise ValueError(f"{folder / SPEC} has no whole number {name!r} in its setting; {RERUN}")
    return number


def to_csv(columns: Mapping[str, Sequence[object] | NDArray[np.generic]]) -> str:
    """Returns columns as CSV text; reading the numbers in their original precision restores the same bits."""
    lists = [_values(column) if isinstance(column, np.ndarray) else column for column in columns.values()]
    lines = [",".join(columns)]
    lines += [",".join(map(_number, row)) for row in zip(*lists, strict=True)]
    return "\n".join(lines) + "\n"


def _values(column: NDArray[np.generic]) -> list[object]:
    """Converts a column to Python numbers; float32 values get no more digits than they need."""
    return [float(str(each)) for each in column] if column.dtype == np.float32 else column.tolist()


def _number(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if value is None or value != value:  # NaN
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


class Metrics:
    """The rows of metrics.csv, collected as text."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            header = ",".join(row) + "\n"
            self.text = self.text or header
            assert self.text.startswith(header), "every row has the same columns"
            self.text += ",".join(map(_number, row.values())) + "\n"


def digest(spec: Mapping[str, Json]) -> str:
    """Returns the digest of the run that a spec.json describes, independent of the code version."""
    text = json.dumps({name: spec[name] for name in IDENTITY}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def save_checkpoint(store: Store, arrays: Arrays, metrics: str, spec: str = "") -> None:
    """Saves the arrays and the metrics so far; `spec` is the digest of the run's spec."""
    own = {METRICS: np.frombuffer(metrics.encode(), np.uint8), SPEC: np.frombuffer(spec.encode(), np.uint8)}
    store.write(CHECKPOINT, npz.pack(arrays | own))


def load_checkpoint(store: Store, spec: str = "") -> tuple[Arrays, str] | None:
    """Loads the arrays and metrics of a checkpoint, None if there is none; rejects the checkpoint of another spec."""
    again = "delete it to restart this run"
    try:
        content = store.read(CHECKPOINT)
        if content is None:
            return None
        arrays = npz.unpack(content)
        metrics = arrays.pop(METRICS).tobytes().decode()
        found = arrays.pop(SPEC, np.zeros(0)).tobytes().decode()
    except OSError:
        raise
    except Exception as error:  # zip, numpy and decoding errors have many types
        raise UnusableError(f"{CHECKPOINT} is corrupt ({error}); {again}") from None
    if found != spec:
        raise UnusableError(f"{CHECKPOINT} does not belong to this run (it has another spec); {again}")
    return arrays, metrics


def done(metrics: str, steps: int, kept: bytes = b"", spec: str = "") -> bytes:
    """Returns the content of done.json, with digests of the run's files and of its spec."""
    head = {"rows": max(0, metrics.count("\n") - 1), "steps": steps, "sha256": _sha256(metrics.encode())}
    return to_json(head | ({"kept": _sha256(kept)} if kept else {}) | ({"spec": spec} if spec else {}))


def is_done(folder: pathlib.Path, below: pathlib.Path | None = None) -> bool:
    """Returns whether a run is complete; raises an error that names a missing or changed file.

    Args:
        folder: the run's folder.
        below: the root folder; links below it are not followed. The default is `folder`.
    """
    below = folder if below is None else below
    done = read_json(folder / DONE, below)
    if done is None:
        return False
    spec = stored_spec(folder, below)
    if spec is None:
        raise ValueError(f"{folder / SPEC} is missing; {RERUN}")
    if not isinstance(done, dict):
        raise ValueError(f"{folder / DONE} is corrupt (not a JSON object); {RERUN}")
    if done.get("spec", digest(spec)) != digest(spec):  # early versions wrote no digest
        raise ValueError(f"{folder / DONE} does not belong to the run in {SPEC}; {RERUN}")
    limits = {METRICS: files.LARGEST_TEXT} | ({KEPT: files.largest_arrays()} if "kept" in done else {})
    for name, limit in limits.items():
        try:
            found = _sha256(files.read(folder / name, below, limit))
        except FileNotFoundError:
            found = ""
        if found != done.get("kept" if name == KEPT else "sha256"):
            error = KeptError if name == KEPT else ValueError
            raise error(f"{folder / name} is missing or was changed after the run; {RERUN}")
    return True


class KeptError(UnusableError):
    """Raised if the data kept for dependent runs is unusable; the metrics of the run are still usable."""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
