"""Start the command line in a new session, as a terminal does, and control its processes."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

from adeu.runs.folder import CHECKPOINT

ROOT = pathlib.Path(__file__).parents[2]
"""The folder from which `tests` can be imported."""
NONE = types.MappingProxyType({})


def start(*arguments, out, command="run", main="adeu.cli", checkpoint_seconds=0.1, **signals):
    """Start `adeu run`, or another command, in a new session; `said` returns its output.

    Args:
        arguments: the arguments of the command.
        out: the folder of all runs.
        command: the name of the command.
        main: the module with the function `main` of the command line.
        checkpoint_seconds: the seconds between two checkpoints of a run.
        signals: the handlers of SIGINT and SIGTERM, which replace inherited ones.
    """
    handlers = {"SIGINT": "default_int_handler", "SIGTERM": "SIG_DFL"} | signals
    handle = "; ".join(f"signal.signal(signal.{name}, signal.{handler})" for name, handler in handlers.items())
    script = f"import signal; {handle}; from {main} import main; main()"
    line = [sys.executable, "-c", script, command, *arguments, "--out", str(out)]
    environment = os.environ | {"ADEU_CHECKPOINT_SECONDS": str(checkpoint_seconds), "COLUMNS": "200"}
    with open(screen(out), "wb") as file:
        return subprocess.Popen(line, cwd=ROOT, env=environment, stdout=file, stderr=file, start_new_session=True)


def screen(out):
    return pathlib.Path(f"{out}.txt")


def said(out):
    return screen(out).read_text()


def members(session):
    """Return the live processes of a session, with their states and command lines."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            stat = pathlib.Path("/proc", name, "stat").read_text()
            state, _, _, own = stat.rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                found[int(name)] = state, pathlib.Path("/proc", name, "cmdline").read_text()
    return found


def workers(process):
    """Return the workers of a command, with their states."""
    found = members(process.pid).items()
    return {pid: state for pid, (state, line) in found if "adeu.runs.engines.worker" in line}


def pause(process):
    """Stop the workers of a command until SIGCONT or SIGKILL."""

    def stopped():
        signal_workers(process, signal.SIGSTOP)  # repeatedly, because a dead worker may be replaced
        return set(workers(process).values()) <= {"T"}

    wait_until(stopped)


def checkpoints(out):
    """Return the checkpoints, each with its inode and time."""
    found = {}
    for path in out.rglob(CHECKPOINT):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_ino, path.stat().st_mtime_ns
    return found


def pause_at_checkpoint(process, out, before=NONE):
    """Stop the workers as soon as there are checkpoints other than those in `before`.

    Returns:
        The new checkpoints; empty if the command ended before there were any.
    """

    def fresh():
        return checkpoints(out).items() - before.items()

    def paused():
        if fresh():
            pause(process)
            if not fresh():
                signal_workers(process, signal.SIGCONT)
        return fresh() or process.poll() is not None

    wait_until(paused)
    return [path for path, _ in fresh()]


def signal_workers(process, number):
    for pid in workers(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_until(condition, process=None):
    """Wait until a condition holds; fail if the process ends before."""
    while not (value := condition()):
        assert process is None or process.poll() is None, "the process ended before the condition held"
        time.sleep(0.05)
    return value
