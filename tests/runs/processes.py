"""The command line in a session of its own, as a terminal would start it, and what runs in that session."""

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
"""Where `tests` can be imported."""
NONE = types.MappingProxyType({})


def start(*arguments, out, command="run", main="adeu.cli", checkpoint_seconds=0.1, **signals):
    """Starts `adeu run`, or another command, in a session of its own; `said` knows what it prints.

    Args:
        arguments: of the command.
        out: the folder of all runs.
        command: which command.
        main: the module with the function `main` that reads the command.
        checkpoint_seconds: between two checkpoints of a run.
        signals: the handlers of SIGINT and SIGTERM, whatever this process inherited.
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
    """The processes of a session that have not ended, with their states and command lines."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            stat = pathlib.Path("/proc", name, "stat").read_text()
            state, _, _, own = stat.rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                found[int(name)] = state, pathlib.Path("/proc", name, "cmdline").read_text()
    return found


def workers(process):
    """The workers of a command, with their states."""
    found = members(process.pid).items()
    return {pid: state for pid, (state, line) in found if "adeu.runs.engines.worker" in line}


def pause(process):
    """Stops the workers of a command where they are; only SIGCONT and SIGKILL reach them then."""

    def stopped():
        signal_workers(process, signal.SIGSTOP)  # again: a worker that died may be replaced meanwhile
        return set(workers(process).values()) <= {"T"}

    wait_until(stopped)


def checkpoints(out):
    """The checkpoints, and which file each one is."""
    found = {}
    for path in out.rglob(CHECKPOINT):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_ino, path.stat().st_mtime_ns
    return found


def pause_at_checkpoint(process, out, before=NONE):
    """Stops the workers in a moment when there are checkpoints other than those before.

    Returns:
        those checkpoints; none: the command ended before there were any.
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
    """Waits for what must come about, as long as the process runs."""
    while not (value := condition()):
        assert process is None or process.poll() is None, "it ended before"
        time.sleep(0.05)
    return value
