"""Limit the memory of the test process, and print its peak.

Compiled programs take megabytes each, and most are not called again. Clearing JAX's caches frees them, but the C
library returns the memory to the system only after malloc_trim.
"""

import ctypes
import gc
import os
import pathlib

import jax
import pytest

# With Ray's default niceness of 15, its workers hardly run on a busy machine.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112

GROWTH = 500
"""Megabytes by which the process may grow before its compiled programs are dropped."""
PEAKS = pytest.StashKey[dict[str, int]]()
dropped_at = 0
trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)  # glibc only


def memory(field):
    """Return the megabytes of this process from /proc: VmRSS is the current value, VmHWM the peak."""
    status = pathlib.Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) // 1024 for line in lines if line.startswith(field))


@pytest.fixture(autouse=True)
def _few_programs():
    yield
    if memory("VmRSS") > dropped_at + GROWTH:
        drop_programs()


def drop_programs():
    global dropped_at
    jax.clear_caches()
    gc.collect()
    trim(0)
    dropped_at = memory("VmRSS")


def pytest_configure(config):
    config.stash[PEAKS] = {}


def pytest_collection_finish():
    """Measure growth from here, and exclude imported modules from garbage collection: they are not freed."""
    global dropped_at
    dropped_at = memory("VmRSS")
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.hookimpl(trylast=True)  # after the workers have ended
def pytest_sessionfinish(session):
    peaks = session.config.stash[PEAKS]
    if "PYTEST_XDIST_WORKER" in os.environ:
        session.config.workeroutput["peak"] = memory("VmHWM")
    elif not peaks:
        peaks["this process"] = memory("VmHWM")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[PEAKS][node.gateway.id] = getattr(node, "workeroutput", {}).get("peak", 0)


def pytest_terminal_summary(terminalreporter, config):
    peaks = ", ".join(f"{name} {peak / 1024:.1f} GB" for name, peak in sorted(config.stash[PEAKS].items()))
    terminalreporter.write_line(f"peak memory: {peaks}")
