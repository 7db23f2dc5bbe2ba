"""Progress on the screen."""

import io

import pytest
from rich.console import Console

from adeu.runs.display import Display
from adeu.runs.engines.event import Event
from adeu.runs.spec import Spec
from adeu.runs.work import Progress


@pytest.mark.parametrize("width", [60, 80, 200])
def test_bar_percentage_and_remaining_time_are_never_truncated(width):
    screen = Console(width=width, height=20, force_terminal=True, file=io.StringIO())
    display = Display(screen, "train", 20)
    spec = Spec("train", "td3-rollouts-rnd-rho=0.3-c=0.2-with-a-long-name-of-its-own", 12345, None)
    display(Event(spec, Progress(0, 100, 0, {})))
    display(Event(spec, Progress(50, 100, 3_000, {"return": -104_487.0, "spread": 0.123})))
    shown = Console(width=width, file=io.StringIO())
    shown.print(display._progress.make_tasks_table(display._progress.tasks))
    _, line = shown.file.getvalue().splitlines()
    assert len(line) <= width
    assert "━━━━━" in line
    assert " 50%" in line
    assert line.rstrip().endswith("-:--:--")
    assert "seed 1234" in line
