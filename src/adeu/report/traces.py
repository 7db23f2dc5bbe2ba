"""Episodes written down step by step, and the lakes and seas they happened on, small enough to stand in a page."""

from __future__ import annotations

import pathlib
import re
from typing import Any

from adeu.core.contract import Normalizer
from adeu.core.files import inside
from adeu.envs import Lake, Sea
from adeu.envs.lake import path_cells, unsafe_cells
from adeu.envs.sea import right_actions, sea_cells
from adeu.registry import PARTS
from adeu.report.report_files import read_columns

SEEDS, EPISODES, STEPS = 2, 3, 20_000
"""The most that a page shows of a case: seeds, their longest episodes, and steps of an episode."""
LARGEST = 1e100
LARGEST_LAKE, LARGEST_SEA = 5_000, 500


def read_traces(seed_folders: dict[int, pathlib.Path]) -> list[dict[str, Any]]:
    """The longest traced episodes of the first seeds, in order."""
    traces = []
    for seed, folder in sorted(seed_folders.items())[:SEEDS]:
        found = [(_episode(path), read_columns(path)[1]) for path in _files(folder)]
        usable = [(episode, columns) for episode, columns in found if 0 < len(columns.get("spread", [])) <= STEPS]
        longest = sorted(usable, key=lambda each: (-len(each[1]["spread"]), each[0]))[:EPISODES]
        traces += [
            {"seed": seed, "episode": episode, "traced": len(usable), "columns": _short(columns)}
            for episode, columns in sorted(longest, key=lambda each: each[0])
        ]
    return traces


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    below = inside(folder, "traces")
    found = sorted(below.glob("episode-*.csv")) if below and below.is_dir() else []
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _episode(path: pathlib.Path) -> int:
    digits = re.search(r"\d{1,15}", path.stem)
    return int(digits[0]) if digits else 0


def _short(columns: dict[str, list[float | None]]) -> dict[str, Any]:
    """Digits in a string where each value is one digit; else five digits of each."""
    return {name: _column(values) for name, values in columns.items() if any(values) or name != "cost"}


def _column(values: list[float | None]) -> str | list[float | None]:
    if all(value in range(10) for value in values):
        return "".join(str(int(value or 0)) for value in values)
    return [short(value) for value in values]


def short(value: float | None, digits: int = 5) -> float | None:
    """So many digits of it, and no more text than they need; None if no chart could show it."""
    if value is None or abs(value) > LARGEST:
        return None
    rounded = float(f"{value:.{digits - 1}e}") if abs(value) >= 1e-9 else 0
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def read_map(setting: Any) -> dict[str, Any] | None:
    """The lake or the sea in a spec."""
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


def read_ceiling(setting: Any) -> float | None:
    """The largest spread that the g in a spec gives, if it is one of adeu's."""
    try:
        fields = dict(setting["agent"]["explorer"]["g"])
        g = PARTS[fields.pop("part")](**fields)
    except (TypeError, ValueError, LookupError):
        return None
    return g.ceiling if isinstance(g, Normalizer) else None


def _fits(plain: Any, largest: int) -> bool:
    return isinstance(plain, dict) and plain.get("size", 0) <= largest


def _sea(sea: Sea) -> dict[str, Any]:
    """The action that leads right, for each cell that a diver can come to."""
    right = right_actions(sea).ravel()[sea_cells(sea)]
    return {"size": sea.size, "right": "".join(map(str, right))}


def _lake(lake: Lake) -> dict[str, Any]:
    """The path as an action for each of its cells, and the unsafe cells."""
    cells = path_cells(lake)
    actions = {-lake.size: "0", 1: "1", lake.size: "2", -1: "3"}
    moves = "".join(actions[step] for step in (cells[1:] - cells[:-1]).tolist())
    return {"size": lake.size, "moves": moves, "unsafe": unsafe_cells(lake).tolist()}
