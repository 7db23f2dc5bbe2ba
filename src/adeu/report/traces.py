"""Reads recorded episodes and the maps of their lakes and seas, limited in size for the page."""

from __future__ import annotations

import pathlib
import re
from typing import Any, Literal, NamedTuple

from adeu.core.contract import Normalizer
from adeu.core.files import inside
from adeu.envs import Lake, Sea
from adeu.envs.lake import path_cells, unsafe_cells
from adeu.envs.sea import right_actions, sea_cells
from adeu.registry import PARTS
from adeu.report.report_files import read_columns

SEEDS, LONGEST, PLACES, STEPS = 2, 3, 5, 20_000
"""Limits of a case: seeds; per seed, the longest episodes traced by number, and episodes traced by fraction of
training; steps of an episode."""
NUMBERS = 600_000
"""The maximal count of numbers of an experiment, divided among its cases: about 4 MB of the page."""
LARGEST = 1e100
LARGEST_LAKE, LARGEST_SEA = 5_000, 500


class TrainingLength(NamedTuple):
    """The length of training of a case and its unit; None if its spec does not have them."""

    unit: Literal["step", "episode"] | None
    total: int | None

    def share(self, place: float | None) -> float | None:
        """Return the share of training before a step or an episode."""
        return None if place is None or not self.total else min(place / self.total, 1.0)


def read_training(setting: Any) -> TrainingLength:
    """Read the length of training from a case's spec."""
    counts: dict[str, Literal["step", "episode"]] = {"steps": "step", "episodes": "episode"}
    for name, unit in counts.items():
        total = setting.get(name) if isinstance(setting, dict) else None
        if type(total) is int and total > 0:
            return TrainingLength(unit, total)
    return TrainingLength(None, None)


def read_traces(
    seed_folders: dict[int, pathlib.Path], training: TrainingLength, numbers: int
) -> list[dict[str, Any]]:
    """Read the traced episodes of the first seeds for the page, those of each seed in the order of training.

    Args:
        seed_folders: the run folders of the case, by seed.
        training: the length of training.
        numbers: the maximal count of numbers in all episodes; the first episode is always included.
    """
    traces = list[dict[str, Any]]()
    for seed, folder in sorted(seed_folders.items())[:SEEDS]:
        found = [_trace(path, seed, training) for path in _files(folder)]
        usable = [each for each in found if 0 < len(each["columns"].get("spread", [])) <= STEPS]
        longest = sorted(usable, key=lambda each: (-len(each["columns"]["spread"]), each["episode"] or 0))
        chosen = [each for each in longest if each["episode"] is not None][:LONGEST]
        chosen += sorted((each for each in usable if each["episode"] is None), key=_progress)[:PLACES]
        for each in sorted(chosen, key=_progress):
            size = sum(map(len, each["columns"].values()))
            if not traces or size <= numbers:
                numbers -= size
                traces.append(each | {"columns": _short(each["columns"])})
    return traces


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    below = inside(folder, "traces")
    found = sorted(below.glob("*.csv")) if below and below.is_dir() else []
    named = (path for path in found if re.fullmatch(r"episode-\d{1,15}|at-\d{1,3}(\.\d{1,15})?", path.stem))
    return [path for path in named if path.is_file() and not path.is_symlink()]


def _trace(path: pathlib.Path, seed: int, training: TrainingLength) -> dict[str, Any]:
    """Read an episode that was traced by its number or by its percentage of training."""
    columns = read_columns(path)[1]
    kind, _, number = path.stem.partition("-")
    step = next(iter(columns.pop("step", [])), None)
    episode = int(number) if kind == "episode" else None
    place = step if training.unit == "step" else episode
    progress = min(float(number) / 100, 1.0) if episode is None else training.share(place)
    return {"seed": seed, "episode": episode, "step": short(step), "progress": progress, "columns": columns}


def _progress(trace: dict[str, Any]) -> tuple[float, int]:
    return trace["progress"] or 0.0, trace["episode"] or 0


def read_ceiling(setting: Any) -> float | None:
    """Return the largest spread that the g of a spec can give; None if g is not built in or has no limit."""
    g = setting
    for name in ("agent", "explorer", "g"):
        g = g.get(name) if isinstance(g, dict) else None
    kind = PARTS.get(str(g.get("part"))) if isinstance(g, dict) else None
    if kind is None or not issubclass(kind, Normalizer):
        return None
    try:
        ceiling = kind(**{name: value for name, value in g.items() if name != "part"}).ceiling
    except (TypeError, ValueError, OverflowError):
        return None
    return short(ceiling) if ceiling else None


def _short(columns: dict[str, list[float | None]]) -> dict[str, Any]:
    """Return a column as a string if each value is one digit, else each value with five digits."""
    return {name: _column(values) for name, values in columns.items() if any(values) or name != "cost"}


def _column(values: list[float | None]) -> str | list[float | None]:
    if all(value in range(10) for value in values):
        return "".join(str(int(value or 0)) for value in values)
    return [short(value) for value in values]


def short(value: float | None, digits: int = 5) -> float | None:
    """Round to this many significant digits, to an int if possible; None if the value is too large for a chart."""
    if value is None or abs(value) > LARGEST:
        return None
    rounded = float(f"{value:.{digits - 1}e}") if abs(value) >= 1e-9 else 0
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def read_map(setting: Any) -> dict[str, Any] | None:
    """Return the map of the lake or the sea in a spec."""
    if not isinstance(setting, dict):
        return None
    try:
        if _fits(setting.get("lake"), LARGEST_LAKE):
            return _lake(Lake(**setting["lake"]))
        if _fits(setting.get("sea"), LARGEST_SEA):
            return _sea(Sea(**setting["sea"]))
    except (TypeError, ValueError):
        pass
    return None


def _fits(plain: Any, largest: int) -> bool:
    return isinstance(plain, dict) and plain.get("size", 0) <= largest


def _sea(sea: Sea) -> dict[str, Any]:
    """Return the map of a sea: the action that leads right in each reachable cell."""
    right = right_actions(sea).ravel()[sea_cells(sea)]
    return {"size": sea.size, "right": "".join(map(str, right))}


def _lake(lake: Lake) -> dict[str, Any]:
    """Return the map of a lake: the action at each cell of the path, and the unsafe cells."""
    cells = path_cells(lake)
    actions = {-lake.size: "0", 1: "1", lake.size: "2", -1: "3"}
    moves = "".join(actions[step] for step in (cells[1:] - cells[:-1]).tolist())
    return {"size": lake.size, "moves": moves, "unsafe": unsafe_cells(lake).tolist()}
