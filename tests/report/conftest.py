"""Session fixtures: real runs and a real browser."""

import fcntl
import os

import pytest

from tests.command import run_here
from tests.report.browser import browser

SEA = ["--seeds", "0", "--set", "sea.size=8", "--set", "steps=4000", "--set", "traced=[5,200]"]
POLE = ["--f", "rnd", "--seeds", "0:2", "--steps", "1000", "--set", "warmup=100", "--set", "evaluate_every=500"]
POLE += ["--set", "evaluate_episodes=1", "--set", "traced=[]"]
SMALL = ["--seeds", "0:2", "--set", "lake.size=30", "--set", "episodes=600"]
LAKE = "-size=30-episodes=600-traced=0.05+0.2+0.5+1"
"""The suffix of the case names of the lake, from its changed settings."""


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Return a folder with four experiments, all with traced episodes, and the output of the first command.

    Test processes share the folder: all but the first skip the complete runs.
    """
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "report-runs"
    out.mkdir(exist_ok=True)
    with (out / ".made").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lake = run_here("run", "frozen-lake", "--out", out, *SMALL, "--set", "traced=[0.05,0.2,0.5,1]")
        safe = run_here("run", "safe-frozen-lake", "--out", out, *SMALL, "--set", "traced=[0.2]")
        sea = run_here("run", "deep-sea-shuffled/10/ez-carried", "--out", out, *SEA)
        pole = run_here("train", "CartPole-v1", "--out", out, *POLE)
    for done in (lake, safe, sea, pole):
        assert done.returncode == 0, done.stderr
    return out, lake.stdout


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """Yield a page of a headless Chromium; skip the test if there is none."""
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened
