"""The command line in a session of its own, as a terminal would start it, and what runs in that session."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time


def start(*arguments, out, checkpoint_seconds=0.1, sigint="default_int_handler", sigterm="SIG_DFL"):
    """Starts `adeu run`, with these handlers whatever this process inherited; `said` knows what it prints."""
    handlers = f"signal.signal(signal.SIGINT, signal.{sigint}); signal.signal(signal.SIGTERM, signal.{sigterm})"
    script = f"import signal; {handlers}; from adeu.cli import main; main()"
    command = [sys.executable, "-c", script, "run", *arguments, "--out", str(out)]
    environment = os.environ | {"ADEU_CHECKPOINT_SECONDS": str(checkpoint_seconds), "COLUMNS": "200"}
    with open(screen(out), "wb") as file:
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)


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
    signal_workers(process, signal.SIGSTOP)
    wait_until(lambda: set(workers(process).values()) <= {"T"}, process)


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
