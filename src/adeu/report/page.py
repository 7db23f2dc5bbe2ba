"""Writes HTML, style, script and data as one file."""

from __future__ import annotations

import json
import pathlib
import re
from importlib import resources
from typing import Any

from adeu.core import files
from adeu.experiments.lib.plots import COLORS
from adeu.report.collect import collect

SCRIPTS = ("dom.js", "table.js", "curves.js", "map.js", "timeline.js", "explore.js", "page.js")


def write_report(runs: str | pathlib.Path, html: str | pathlib.Path | None = None) -> pathlib.Path:
    """Write one page about all experiments in a folder, and return its path.

    Args:
        runs: a folder of runs, or the folder of one experiment in it.
        html: the path of the page. The default is report.html in that folder.
    """
    root = pathlib.Path(runs)
    path = root / "report.html" if html is None else pathlib.Path(html)
    page = render({"colors": COLORS, "experiments": collect(root)})
    files.write(path, page.encode("utf-8", "replace"))
    return path


def render(data: dict[str, Any]) -> str:
    """Return the page; text in the data is escaped, so that it cannot end its script element."""
    room = resources.files("adeu.report")
    page = (room / "page.html").read_text("utf-8")
    script = "\n".join((room / name).read_text("utf-8") for name in SCRIPTS)
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for letter, code in {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}.items():
        text = text.replace(letter, code)
    parts = {"@STYLE@": (room / "page.css").read_text("utf-8"), "@DATA@": text, "@SCRIPT@": script}
    return re.sub("|".join(parts), lambda place: parts[place[0]], page)
